//! Opening models and other files, and what a new model means for the prompt and the opened run.

use std::path::PathBuf;
use std::sync::Arc;

use super::{
    AppState, Command, Effect, HubRow, JobRun, ModelStatus, ModelsCommand, ModelsTab, Notice, Page,
    PaneModelCommand, PaneStatus, PathPurpose, ReadyModel, RunCommand, SecondModel,
};
use crate::generation::{Generation, Piece, Step, change_turns};
use crate::state::folders::try_folder;
use crate::state::models::open::Inspected;
use crate::worker::{BesideUpdate, ComputeChoice, DeviceChoice, ModelSource, Request};

impl AppState {
    pub(super) fn apply_to_models(&mut self, command: ModelsCommand) -> Vec<Effect> {
        match command {
            ModelsCommand::Open(path) => self.open_model(path),
            ModelsCommand::OpenAnyway => {
                let opening = self.models.opening.take();
                opening.map_or_else(Vec::new, |opening| {
                    self.load_model(ModelSource::Path(opening.path))
                })
            }
            ModelsCommand::Dropped(mut paths) => match (paths.pop(), paths.len()) {
                (Some(path), 0) => vec![Effect::CheckDroppedPath(path)],
                (Some(_), _) => self.notify(Notice::error(
                    "The dropped items were not opened",
                    "Drop one file or one folder at a time. A split GGUF opens from any of its \
                     parts.",
                )),
                (None, _) => Vec::new(),
            },
            ModelsCommand::DropRejected(reason) => {
                self.notify(Notice::error("The dropped item was not opened", reason))
            }
            ModelsCommand::Unload if self.models.main.ready().is_none() => Vec::new(),
            ModelsCommand::Unload => {
                let mut effects = vec![Effect::Send(Request::UnloadModel)];
                effects.extend(self.runs.drop_trial(&self.models));
                effects
            }
            ModelsCommand::LoadOnCpu(source) => {
                let mut effects = self.models.compute_with(ComputeChoice {
                    device: DeviceChoice::Cpu,
                    ..self.models.compute
                });
                effects.extend(self.load_model(source));
                effects
            }
            command => self.models.apply(command),
        }
    }

    /// Returns the models on this computer that panes, hidden ones included, and running experiments
    /// use besides the main one.
    pub(super) fn wanted_pane_models(&self) -> Vec<ModelSource> {
        let hidden = self.hidden().map(|hidden| hidden.texts().0);
        let hidden = hidden.into_iter().flatten();
        let mut wanted = self.models.wanted_by(self.panes.iter().chain(hidden));
        for source in self.lab.runs().flat_map(JobRun::models_of_panes) {
            if !wanted.contains(source) {
                wanted.push(source.clone());
            }
        }
        wanted
    }

    pub(super) fn apply_to_pane_models(&mut self, command: PaneModelCommand) -> Vec<Effect> {
        match &command {
            PaneModelCommand::OpenMenu(_) => self.page = Page::Write,
            PaneModelCommand::Load(source) if !self.wanted_pane_models().contains(source) => {
                return Vec::new();
            }
            _ => {}
        }
        self.models.apply_to_panes(command, &mut self.panes)
    }

    pub(super) fn use_path(&mut self, purpose: PathPurpose, path: PathBuf) -> Vec<Effect> {
        self.dialogs.path_field = None;
        if let Some(folder) = path.parent() {
            self.dialogs.last_folder = Some(folder.to_owned());
        }
        match purpose {
            PathPurpose::ModelFile | PathPurpose::ModelFolder => {
                self.apply_to_models(ModelsCommand::Open(path))
            }
            PathPurpose::SecondModel => self.models.second.open(path, false),
            PathPurpose::SecondModelToVerify => self.models.second.open(path, true),
            PathPurpose::PaneModel(pane) | PathPurpose::PaneModelFolder(pane) => {
                let source = Some(ModelSource::Path(path).into());
                self.apply_to_pane_models(PaneModelCommand::Choose(pane, source))
            }
            PathPurpose::Lab(tab) => {
                (self.page, self.lab.tab) = (Page::Lab, tab);
                self.lab.use_path(tab, path);
                Vec::new()
            }
            PathPurpose::Presets => vec![Effect::ReadPresets(path)],
            PathPurpose::Run => self.apply_to_runs(RunCommand::Open(path)),
            PathPurpose::Text => vec![Effect::ReadText(path)],
            PathPurpose::Grammar(pane) => vec![Effect::ReadGrammar(pane, path)],
            PathPurpose::Lesson => vec![Effect::ReadLesson(path)],
            PathPurpose::ExportRun => self.apply_to_runs(RunCommand::Export(path)),
            PathPurpose::Folder(kind) => try_folder(kind, path, &mut self.notices),
            PathPurpose::Save(document) => vec![Effect::Save(document, path)],
        }
    }

    /// Opens the first model of a new window: this one, or the built-in one until the model of the
    /// last session has opened again.
    pub(super) fn open_first(&mut self, source: ModelSource, last: Option<PathBuf>) -> Vec<Effect> {
        match source {
            ModelSource::Embedded => {
                let mut effects = self.load_model(source);
                effects.extend(last.into_iter().flat_map(|path| self.models.reopen(path)));
                effects
            }
            ModelSource::Path(path) => self.open_model(path),
        }
    }

    fn open_model(&mut self, path: PathBuf) -> Vec<Effect> {
        if self.models.main == ModelStatus::Lost {
            return self.load_model(ModelSource::Path(path));
        }
        // Its row on that tab shows the progress.
        self.models.hub.tab = ModelsTab::OnThisComputer;
        self.models.inspect(path)
    }

    pub(super) fn on_inspected(&mut self, inspected: Inspected) -> Vec<Effect> {
        let n_tokens = self.longest_text();
        let n_panes = self.panes.len();
        let models = &mut self.models;
        let mut effects = models.on_inspected_for_panes(&inspected, &self.panes, n_tokens);
        let (load, notice) = models.on_reopening_inspected(&inspected, n_panes, n_tokens);
        effects.extend(load);
        if let Some(notice) = notice {
            self.notices.notify(notice);
        }
        let models = &mut self.models;
        match models.on_opening_inspected(&inspected, n_panes, n_tokens) {
            None => {}
            Some(Ok(None)) => effects.extend(self.load_model(inspected.source)),
            Some(Ok(Some(_))) => {
                self.models.hub.tab = ModelsTab::OnThisComputer;
                if !self.models.dialog_open {
                    effects.extend(self.models.show());
                }
            }
            Some(Err(error)) => self.refuse_model(Some(inspected.source), error),
        }
        effects
    }

    /// Returns the rows of a few small models to start with.
    pub fn recommended_rows(&self) -> Vec<HubRow> {
        let (cache, n_tokens) = (self.models.compute.cache, self.longest_text());
        let hub = &self.models.hub;
        hub.recommended_rows(cache, self.panes.len(), n_tokens)
    }

    /// Returns the maximum number of tokens in a text: the prompt plus the token limit.
    pub(super) fn longest_text(&self) -> usize {
        let n_prompt = self.prompt.tokens().map_or(0, |tokens| tokens.len());
        n_prompt.saturating_add(self.limits.max_new_tokens)
    }

    pub(super) fn load_model(&mut self, source: ModelSource) -> Vec<Effect> {
        if self.models.main == ModelStatus::Lost {
            self.models.refusal = None;
            self.models.opening = None;
            self.models.source = source;
            return self.restart_engine();
        }
        let mut effects = self.models.stop_loading();
        effects.extend(self.runs.drop_trial(&self.models));
        effects.push(self.models.load(source));
        effects
    }

    pub(super) fn restart_engine(&mut self) -> Vec<Effect> {
        self.notices.dismiss_offers(&Command::RestartEngine);
        let load = self.models.reload();
        let mut effects = vec![Effect::RestartWorker];
        effects.extend(self.models.compute_request());
        effects.extend(self.memory.first_cache_limit());
        effects.extend(self.pace.first_request());
        effects.push(load);
        effects
    }

    /// Follows the model that opens again.
    pub(super) fn on_beside(&mut self, update: BesideUpdate) {
        if let Some(notice) = self.models.on_beside(update) {
            self.notify(notice);
        }
    }

    pub(super) fn on_loaded(&mut self, model: ReadyModel) -> Vec<Effect> {
        if let Some(warning) = model.load_warning.clone() {
            let title = "The model was loaded with a warning";
            self.notify(Notice::error(title, warning));
        }
        let is_same = self.models.on_loaded(model);
        self.prompt.reading = None;
        self.complete_vocabularies();
        let mut effects = self.read_again();
        if is_same {
            effects.extend(self.models.second.reload());
        } else {
            self.models.second = SecondModel::default();
        }
        let (runs, mut context) = self.runs_in_context();
        effects.extend(runs.begin_trial(&mut context));
        effects
    }

    /// Gives restored texts the vocabulary of the loaded model, if it wrote them: a file has only the
    /// tokens that occur, which can't spell what is typed.
    pub(super) fn complete_vocabularies(&mut self) {
        let Some(model) = self.models.main.ready() else {
            return;
        };
        let panes = self.panes.iter_mut();
        let texts = panes.filter_map(|pane| match &mut pane.status {
            PaneStatus::Finished(text) => Some(text),
            _ => None,
        });
        let mut texts: Vec<&mut Generation> = texts.collect();
        change_turns(&mut texts, |_, turn| complete_vocabulary(turn, model));
        for text in texts {
            complete_vocabulary(text, model);
        }
    }

    pub(super) fn on_load_failed(&mut self, error: String) -> Vec<Effect> {
        let source = self.models.pending.pop_front();
        self.refuse_model(source, error.clone());
        self.restore_model(ModelStatus::Failed { error })
    }

    /// Shows why a model was not loaded: in its row if that is visible, otherwise in a notice.
    fn refuse_model(&mut self, source: Option<ModelSource>, error: String) {
        if let Some(notice) = self.models.refuse(source, error) {
            self.notify(notice);
        }
    }

    pub(super) fn on_loading_cancelled(&mut self) -> Vec<Effect> {
        self.models.pending.pop_front();
        self.restore_model(ModelStatus::Absent)
    }

    /// Returns to the previous model after a load failed or was cancelled, unless another load is
    /// pending.
    fn restore_model(&mut self, otherwise: ModelStatus) -> Vec<Effect> {
        if !self.models.restore(otherwise) {
            return Vec::new();
        }
        let mut effects = self.read_again();
        effects.extend(self.runs.drop_trial(&self.models));
        effects
    }

    pub(super) fn on_unloaded(&mut self) {
        self.models.on_unloaded();
        self.parse_pasted();
        self.prompt.reading = None;
    }

    /// Reads pasted settings and the prompt with the current model. The prompt may have changed
    /// while it was loaded.
    fn read_again(&mut self) -> Vec<Effect> {
        self.parse_pasted();
        self.prompt.tokenize(&self.models.main)
    }

    fn parse_pasted(&mut self) {
        if let Some(paste) = &mut self.dialogs.paste {
            paste.parse(&self.panes, &self.models);
        }
    }
}

/// Gives a text the whole vocabulary of the model that wrote it, if it has only part of it.
fn complete_vocabulary(text: &mut Generation, model: &ReadyModel) {
    let full = &model.vocabulary;
    let agrees = |step: &Step| full.agrees(step.token, &step.piece) == Some(true);
    let is_part = text.vocabulary.n_tokens() < full.n_tokens()
        || text
            .vocabulary
            .iter()
            .any(|(token, piece)| *piece == Piece::unnamed(token));
    if is_part && text.model.has_weights_of(&model.info) && text.steps.iter().all(agrees) {
        text.vocabulary = Arc::clone(full);
    }
}

//! Opening and replacing the main model, and what follows for the prompt and the opened run.

use std::path::PathBuf;

use super::{
    AppState, Command, Effect, HubRow, ModelStatus, ModelsCommand, ModelsTab, Notice, ReadyModel,
    SecondModel,
};
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

//! Opening, replacing and letting go of models.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::generation::{MemoryNeed, ModelOutline};
use crate::state::models::Opening;
use crate::state::{
    AppState, Command, Effect, ModelStatus, ModelsTab, Notice, NoticeAction, PathPurpose,
    ReadyModel, capital,
};
use crate::worker::{ComputeChoice, DownloadRequest, ModelSource, Request, memory_with_cache};

/// What is asked of the models.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelsCommand {
    /// Show which there are.
    ShowDialog,
    /// Enough of that.
    CloseDialog,
    /// Open this one, if there is memory for it.
    Open(PathBuf),
    /// Open it although memory is short.
    OpenAllTheSame,
    /// Leave the one that was to be opened.
    LeaveOpening,
    /// These were dropped onto the window.
    Dropped(Vec<PathBuf>),
    /// What was dropped is no model.
    DropRefused(String),
    /// Leave the one that is being loaded.
    CancelLoading,
    /// Let go of the one that is open.
    Unload,
    /// Load models to compute like this from now on.
    ComputeWith(ComputeChoice),
    /// Take this one off the list.
    Forget(PathBuf),
    /// The sizes of these in bytes, or why they can't be opened.
    Seen(BTreeMap<PathBuf, Result<u64, String>>),
}

impl AppState {
    pub(in crate::state) fn apply_to_models(&mut self, command: ModelsCommand) -> Vec<Effect> {
        match command {
            ModelsCommand::ShowDialog => self.show_models(),
            ModelsCommand::CloseDialog => {
                self.models.dialog_open = false;
                self.models.refusal = None;
                self.models.opening = self.models.opening.take().filter(|o| o.warning.is_none());
                Vec::new()
            }
            ModelsCommand::Open(path) => self.open_model(path),
            ModelsCommand::OpenAllTheSame => {
                let opening = self.models.opening.take();
                opening.map_or_else(Vec::new, |opening| {
                    self.load_model(ModelSource::Path(opening.path))
                })
            }
            ModelsCommand::LeaveOpening => {
                self.models.opening = None;
                Vec::new()
            }
            ModelsCommand::Dropped(paths) => self.take_dropped(paths),
            ModelsCommand::DropRefused(reason) => {
                self.notify(Notice::error("This was not opened", reason))
            }
            ModelsCommand::CancelLoading => self.cancel_loading(),
            ModelsCommand::Unload => self.unload_model(),
            ModelsCommand::ComputeWith(choice) => self.compute_with(choice),
            ModelsCommand::Forget(path) => {
                self.models.forget(&path);
                Vec::new()
            }
            ModelsCommand::Seen(seen) => {
                self.models.seen.extend(seen);
                Vec::new()
            }
        }
    }

    fn show_models(&mut self) -> Vec<Effect> {
        self.models.dialog_open = true;
        let recent = self.models.recent.iter();
        let paths: Vec<PathBuf> = recent.map(|recent| recent.path.clone()).collect();
        let mut effects = Vec::new();
        if !paths.is_empty() {
            effects.push(Effect::LookAt(paths));
        }
        effects.push(Effect::Hub(DownloadRequest::Cached));
        effects.extend(self.list_devices());
        effects
    }

    /// Asks which devices there are, unless that is known.
    fn list_devices(&self) -> Option<Effect> {
        let is_unknown = self.models.devices.is_none();
        is_unknown.then_some(Effect::Send(Request::ListDevices))
    }

    /// Opens the first model of a new window.
    pub(in crate::state) fn open_first(&mut self, source: ModelSource) -> Vec<Effect> {
        match source {
            ModelSource::Embedded => self.load_model(source),
            ModelSource::Path(path) => self.open_model(path),
        }
    }

    /// Asks first what it takes; a loading that is under way ends, since this one is wanted now.
    fn open_model(&mut self, path: PathBuf) -> Vec<Effect> {
        if self.model == ModelStatus::Lost {
            return self.load_model(ModelSource::Path(path));
        }
        // What becomes of it stands in its row there.
        self.hub.tab = ModelsTab::OnThisComputer;
        self.models.refusal = None;
        self.models.opening = Some(Opening {
            path: path.clone(),
            warning: None,
        });
        let mut effects = self.cancel_loading();
        // Whether it needs the machine's memory depends on them.
        effects.extend(self.list_devices());
        effects.push(Effect::Send(Request::Inspect(path)));
        effects
    }

    pub(in crate::state) fn on_inspected(
        &mut self,
        path: PathBuf,
        found: Result<ModelOutline, String>,
        n_free_bytes: u64,
    ) -> Vec<Effect> {
        let opening = self.models.opening.as_ref();
        // Another one may be wanted by now, or none.
        if opening.is_none_or(|opening| opening.path != path || opening.warning.is_some()) {
            return Vec::new();
        }
        self.models.opening = None;
        match found.map(|outline| self.shortage(&outline, n_free_bytes)) {
            Err(error) => {
                self.refuse_model(Some(ModelSource::Path(path)), error);
                Vec::new()
            }
            Ok(None) => self.load_model(ModelSource::Path(path)),
            Ok(warning) => {
                self.models.opening = Some(Opening { path, warning });
                self.hub.tab = ModelsTab::OnThisComputer;
                if self.models.dialog_open {
                    Vec::new()
                } else {
                    self.show_models()
                }
            }
        }
    }

    /// The warning that a model with all panes needs more memory than is free; none where it fits, or
    /// where a graphics processor has memory of its own.
    fn shortage(&self, outline: &ModelOutline, n_free_bytes: u64) -> Option<String> {
        if self.has_memory_elsewhere() {
            return None;
        }
        let n_prompt = self.prompt_tokens().map_or(0, |tokens| tokens.len());
        let n_tokens = n_prompt.saturating_add(self.limits.max_new_tokens);
        let n_tokens = n_tokens.min(outline.n_context);
        let memory = memory_with_cache(outline, self.models.compute.cache);
        let n_needed = memory.n_bytes(self.panes.len(), n_tokens);
        MemoryNeed::shortage(n_needed, n_free_bytes)
    }

    fn take_dropped(&mut self, mut paths: Vec<PathBuf>) -> Vec<Effect> {
        match (paths.pop(), paths.len()) {
            (Some(path), 0) => vec![Effect::LookAtDropped(path)],
            (Some(_), _) => self.notify(Notice::error(
                "This was not opened",
                "One model at a time: drop one file, or one folder. Of a model in several files, the \
                 first is enough.",
            )),
            (None, _) => Vec::new(),
        }
    }

    pub(in crate::state) fn load_model(&mut self, source: ModelSource) -> Vec<Effect> {
        self.models.refusal = None;
        self.models.opening = None;
        if self.model == ModelStatus::Lost {
            self.model_source = source;
            return self.restart_engine();
        }
        let mut effects = self.cancel_loading();
        self.model.begin_loading();
        self.asked_sources.push_back(source.clone());
        effects.push(Effect::Send(Request::LoadModel(source)));
        effects
    }

    pub(in crate::state) fn restart_engine(&mut self) -> Vec<Effect> {
        self.model.begin_loading();
        let restarts = |action: &NoticeAction| action.command == Command::RestartEngine;
        self.notices
            .retain(|notice| !notice.actions.iter().any(restarts));
        let source = self.model_source.clone();
        self.asked_sources = [source.clone()].into();
        let mut effects = vec![Effect::RestartWorker];
        effects.extend(self.compute_request());
        effects.push(Effect::Send(Request::LoadModel(source)));
        effects
    }

    fn cancel_loading(&self) -> Vec<Effect> {
        if matches!(self.model, ModelStatus::Loading { .. }) {
            vec![Effect::Send(Request::CancelLoading)]
        } else {
            Vec::new()
        }
    }

    fn unload_model(&self) -> Vec<Effect> {
        if self.model.ready().is_some() {
            vec![Effect::Send(Request::UnloadModel)]
        } else {
            Vec::new()
        }
    }

    pub(in crate::state) fn on_loading(&mut self, now: f32) {
        if let ModelStatus::Loading { fraction, .. } = &mut self.model {
            *fraction = now;
        }
    }

    pub(in crate::state) fn on_loaded(&mut self, model: ReadyModel) -> Vec<Effect> {
        if let Some(source) = self.asked_sources.pop_front() {
            self.models.remember(&source, &model.info, now_secs());
            self.model_source = source;
        }
        self.model = ModelStatus::Ready(model);
        self.prompt_reading = None;
        if self.asked_sources.is_empty() {
            self.models.dialog_open = false;
        } else {
            self.model.begin_loading();
        }
        self.read_pasted();
        self.read_prompt()
    }

    pub(in crate::state) fn on_load_failed(&mut self, error: String) -> Vec<Effect> {
        let source = self.asked_sources.pop_front();
        self.refuse_model(source, error.clone());
        self.go_back_to_model(ModelStatus::Failed { error })
    }

    /// Says why a model was not loaded: in its row, if that is on the screen.
    fn refuse_model(&mut self, source: Option<ModelSource>, error: String) {
        // The row of the model that writes says that it does.
        let writes = self.model.writer().is_some() && source.as_ref() == Some(&self.model_source);
        let on_screen = self.models.dialog_open && self.hub.tab == ModelsTab::OnThisComputer;
        let shown = on_screen && source.is_some() && !writes;
        self.models.refusal = source.map(|source| (source, capital(&error)));
        if !shown {
            let ask = Command::AskPath(PathPurpose::ModelFile);
            let notice = Notice::error("The model was not loaded", error);
            self.notify(notice.with_action("Open another…", ask));
        }
    }

    pub(in crate::state) fn on_loading_cancelled(&mut self) -> Vec<Effect> {
        self.asked_sources.pop_front();
        self.go_back_to_model(ModelStatus::Absent)
    }

    /// The model before the one that did not come is there again, unless yet another is on its way. It
    /// was not asked about the prompt meanwhile.
    fn go_back_to_model(&mut self, otherwise: ModelStatus) -> Vec<Effect> {
        if !self.asked_sources.is_empty() {
            return Vec::new();
        }
        self.model = match std::mem::replace(&mut self.model, ModelStatus::Lost) {
            ModelStatus::Loading {
                before: Some(model),
                ..
            }
            | ModelStatus::Ready(model) => ModelStatus::Ready(model),
            _ => otherwise,
        };
        self.read_pasted();
        self.read_prompt()
    }

    pub(in crate::state) fn on_unloaded(&mut self) {
        match &mut self.model {
            ModelStatus::Loading { before, .. } => *before = None,
            status => *status = ModelStatus::Absent,
        }
        self.read_pasted();
        self.prompt_reading = None;
    }
}

/// Seconds since 1970.
pub(crate) fn now_secs() -> u64 {
    // A clock that stands before 1970 knows no better.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

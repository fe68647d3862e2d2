//! Opening, replacing and unloading models.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::generation::{MemoryNeed, ModelOutline};
use crate::state::models::Opening;
use crate::state::{
    AppState, Command, Effect, ModelStatus, ModelsTab, Notice, NoticeAction, PathPurpose,
    ReadyModel, SecondModel, capitalize,
};
use crate::worker::{
    ComputeChoice, DeviceChoice, DownloadRequest, ModelSource, Request, memory_with_cache,
};

/// A user action on models, or the result of checking files.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelsCommand {
    ShowDialog,
    CloseDialog,
    /// Open this model, after confirmation if memory is short.
    Open(PathBuf),
    /// Open the model despite the warning.
    OpenAnyway,
    /// Don't open the model that is being inspected or awaits confirmation.
    CancelOpening,
    /// Files or folders were dropped onto the window.
    Dropped(Vec<PathBuf>),
    /// The dropped path is not a model, with the reason.
    DropRejected(String),
    /// Cancel the load in progress; the previous model stays.
    CancelLoading,
    /// Unload the current model.
    Unload,
    /// Load this model on the CPU, and later ones too.
    LoadOnCpu(ModelSource),
    /// Choose how models compute, from the next load on.
    SetCompute(ComputeChoice),
    /// Remove this model from the recent ones.
    Forget(PathBuf),
    /// The sizes of these models in bytes, or why they can't be opened.
    FilesChecked(BTreeMap<PathBuf, Result<u64, String>>),
}

impl AppState {
    pub(in crate::state) fn apply_to_models(&mut self, command: ModelsCommand) -> Vec<Effect> {
        match command {
            ModelsCommand::ShowDialog => self.show_models(),
            ModelsCommand::CloseDialog => {
                self.models.dialog_open = false;
                self.models.refusal = None;
                let opening = self.models.opening.take();
                self.models.opening = opening.filter(|opening| opening.warning.is_none());
                Vec::new()
            }
            ModelsCommand::Open(path) => self.open_model(path),
            ModelsCommand::OpenAnyway => {
                let opening = self.models.opening.take();
                opening.map_or_else(Vec::new, |opening| {
                    self.load_model(ModelSource::Path(opening.path))
                })
            }
            ModelsCommand::CancelOpening => {
                self.models.opening = None;
                Vec::new()
            }
            ModelsCommand::Dropped(paths) => self.take_dropped(paths),
            ModelsCommand::DropRejected(reason) => {
                self.notify(Notice::error("The dropped item was not opened", reason))
            }
            ModelsCommand::CancelLoading => self.cancel_loading(),
            ModelsCommand::Unload => self.unload_model(),
            ModelsCommand::LoadOnCpu(source) => self.load_on_cpu(source),
            ModelsCommand::SetCompute(choice) => self.compute_with(choice),
            ModelsCommand::Forget(path) => {
                self.models.forget(&path);
                Vec::new()
            }
            ModelsCommand::FilesChecked(checked) => {
                self.models.checked.extend(checked);
                Vec::new()
            }
        }
    }

    pub(in crate::state) fn show_models(&mut self) -> Vec<Effect> {
        self.models.dialog_open = true;
        let recent = self.models.recent.iter();
        let paths: Vec<PathBuf> = recent.map(|recent| recent.path.clone()).collect();
        let mut effects = Vec::new();
        if !paths.is_empty() {
            effects.push(Effect::CheckModelFiles(paths));
        }
        effects.push(Effect::Hub(DownloadRequest::Cached));
        effects.extend(self.list_devices());
        effects
    }

    /// Returns the request for the list of devices, unless it is known.
    pub(in crate::state) fn list_devices(&self) -> Option<Effect> {
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

    /// Inspects a model before loading it. A load in progress is cancelled, since this model is
    /// wanted now.
    fn open_model(&mut self, path: PathBuf) -> Vec<Effect> {
        if self.model == ModelStatus::Lost {
            return self.load_model(ModelSource::Path(path));
        }
        // Its row on that tab shows the progress.
        self.hub.tab = ModelsTab::OnThisComputer;
        self.models.refusal = None;
        self.models.opening = Some(Opening {
            path: path.clone(),
            warning: None,
        });
        let mut effects = self.cancel_loading();
        // The devices decide whether the model uses the machine's memory.
        effects.extend(self.list_devices());
        let source = ModelSource::Path(path);
        effects.push(Effect::Send(Request::Inspect(source)));
        effects
    }

    pub(in crate::state) fn on_inspected(
        &mut self,
        source: ModelSource,
        found: Result<ModelOutline, String>,
        n_free_bytes: u64,
    ) -> Vec<Effect> {
        let mut effects = self.on_pane_model_inspected(&source, &found, n_free_bytes);
        if let ModelSource::Path(path) = source {
            effects.extend(self.on_opening_inspected(path, found, n_free_bytes));
        }
        effects
    }

    fn on_opening_inspected(
        &mut self,
        path: PathBuf,
        found: Result<ModelOutline, String>,
        n_free_bytes: u64,
    ) -> Vec<Effect> {
        let opening = self.models.opening.as_ref();
        // The user may have chosen another model since, or cancelled.
        if opening.is_none_or(|opening| opening.path != path || opening.warning.is_some()) {
            return Vec::new();
        }
        self.models.opening = None;
        match found.map(|outline| self.memory_warning(&outline, n_free_bytes)) {
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

    /// Returns the warning that a model with all panes needs more memory than is free, or `None` if
    /// it fits or is loaded into GPU memory.
    fn memory_warning(&self, outline: &ModelOutline, n_free_bytes: u64) -> Option<String> {
        if self.uses_gpu_memory() {
            return None;
        }
        let n_tokens = self.longest_text().min(outline.n_context);
        let memory = memory_with_cache(outline, self.models.compute.cache);
        let n_needed = memory.n_bytes(self.panes.len(), n_tokens);
        let shortage = MemoryNeed::shortage(n_needed, n_free_bytes)?;
        Some(outline.with_costs(shortage))
    }

    /// Returns the maximum number of tokens in a text: the prompt plus the token limit.
    pub(in crate::state) fn longest_text(&self) -> usize {
        let n_prompt = self.prompt_tokens().map_or(0, |tokens| tokens.len());
        n_prompt.saturating_add(self.limits.max_new_tokens)
    }

    fn take_dropped(&mut self, mut paths: Vec<PathBuf>) -> Vec<Effect> {
        match (paths.pop(), paths.len()) {
            (Some(path), 0) => vec![Effect::CheckDroppedPath(path)],
            (Some(_), _) => self.notify(Notice::error(
                "The dropped items were not opened",
                "Drop one file or one folder at a time. A split GGUF opens from any of its parts.",
            )),
            (None, _) => Vec::new(),
        }
    }

    fn load_on_cpu(&mut self, source: ModelSource) -> Vec<Effect> {
        let choice = ComputeChoice {
            device: DeviceChoice::Cpu,
            ..self.models.compute
        };
        let mut effects = self.compute_with(choice);
        effects.extend(self.load_model(source));
        effects
    }

    pub(in crate::state) fn load_model(&mut self, source: ModelSource) -> Vec<Effect> {
        self.models.refusal = None;
        self.models.opening = None;
        if self.model == ModelStatus::Lost {
            self.model_source = source;
            return self.restart_engine();
        }
        let mut effects = self.cancel_loading();
        effects.extend(self.cancel_second());
        effects.extend(self.drop_trial());
        self.model.begin_loading();
        self.pending_sources.push_back(source.clone());
        effects.push(Effect::Send(Request::LoadModel(source)));
        effects
    }

    pub(in crate::state) fn restart_engine(&mut self) -> Vec<Effect> {
        self.model.begin_loading();
        let restarts = |action: &NoticeAction| action.command == Command::RestartEngine;
        self.notices
            .retain(|notice| !notice.actions.iter().any(restarts));
        let source = self.model_source.clone();
        self.pending_sources = [source.clone()].into();
        self.second_model.forget_pending();
        let mut effects = vec![Effect::RestartWorker];
        effects.extend(self.compute_request());
        effects.extend(self.cache_limit_request());
        effects.extend(self.pace_request());
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

    fn unload_model(&mut self) -> Vec<Effect> {
        if self.model.ready().is_some() {
            let mut effects = vec![Effect::Send(Request::UnloadModel)];
            effects.extend(self.drop_trial());
            effects
        } else {
            Vec::new()
        }
    }

    pub(in crate::state) fn on_loading(&mut self, new_fraction: f32) {
        if let ModelStatus::Loading { fraction, .. } = &mut self.model {
            *fraction = new_fraction;
        }
    }

    pub(in crate::state) fn on_loaded(&mut self, model: ReadyModel) -> Vec<Effect> {
        let mut is_same = false;
        if let Some(source) = self.pending_sources.pop_front() {
            self.models.remember(&source, &model.info, unix_time_secs());
            is_same = source == self.model_source;
            self.model_source = source;
        }
        self.model = ModelStatus::Ready(model);
        self.prompt_reading = None;
        if self.pending_sources.is_empty() {
            self.models.dialog_open = false;
        } else {
            self.model.begin_loading();
        }
        self.parse_pasted();
        let mut effects = self.tokenize_prompt();
        if is_same {
            effects.extend(self.reload_second());
        } else {
            self.second_model = SecondModel::default();
        }
        effects.extend(self.begin_trial());
        effects
    }

    pub(in crate::state) fn on_load_failed(&mut self, error: String) -> Vec<Effect> {
        let source = self.pending_sources.pop_front();
        self.refuse_model(source, error.clone());
        self.restore_model(ModelStatus::Failed { error })
    }

    /// Shows why a model was not loaded: in its row if that is visible, otherwise in a notice.
    fn refuse_model(&mut self, source: Option<ModelSource>, error: String) {
        // The row of the model in use shows "In use" instead.
        let in_use = self.model.in_use().is_some() && source.as_ref() == Some(&self.model_source);
        let list_visible = self.models.dialog_open && self.hub.tab == ModelsTab::OnThisComputer;
        let shown_in_row = list_visible && source.is_some() && !in_use;
        let failed = source.clone();
        self.models.refusal = source.map(|source| (source, capitalize(&error)));
        if !shown_in_row {
            let ask = Command::AskPath(PathPurpose::ModelFile);
            let notice = Notice::error("The model was not loaded", error);
            let mut notice = notice.with_action("Open another…", ask);
            if let Some(source) = failed.clone().filter(|_| self.uses_gpu()) {
                let load = Command::Models(ModelsCommand::LoadOnCpu(source));
                notice = notice.with_action("Use the CPU", load);
            }
            let embedded_fails = failed == Some(ModelSource::Embedded);
            let embedded_in_use =
                self.model.in_use().is_some() && self.model_source == ModelSource::Embedded;
            if !embedded_fails && !embedded_in_use {
                let load = Command::LoadEmbeddedModel;
                notice = notice.with_action("Use the built-in model", load);
            }
            self.notify(notice);
        }
    }

    pub(in crate::state) fn on_loading_cancelled(&mut self) -> Vec<Effect> {
        self.pending_sources.pop_front();
        self.restore_model(ModelStatus::Absent)
    }

    /// Returns to the previous model after a load failed or was cancelled, unless another load is
    /// pending. Tokenizes the prompt again, since it may have changed in the meantime.
    fn restore_model(&mut self, otherwise: ModelStatus) -> Vec<Effect> {
        if !self.pending_sources.is_empty() {
            return Vec::new();
        }
        self.model = match std::mem::replace(&mut self.model, ModelStatus::Lost) {
            ModelStatus::Loading {
                previous: Some(model),
                ..
            }
            | ModelStatus::Ready(model) => ModelStatus::Ready(model),
            _ => otherwise,
        };
        self.parse_pasted();
        let mut effects = self.tokenize_prompt();
        effects.extend(self.drop_trial());
        effects
    }

    pub(in crate::state) fn on_unloaded(&mut self) {
        match &mut self.model {
            ModelStatus::Loading { previous, .. } => *previous = None,
            status => *status = ModelStatus::Absent,
        }
        self.second_model = SecondModel::default();
        self.parse_pasted();
        self.prompt_reading = None;
    }
}

/// Returns the current Unix time in seconds.
pub(crate) fn unix_time_secs() -> u64 {
    // A clock before 1970 is wrong anyway, so it counts as 1970.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

//! Opening, replacing and unloading models.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::generation::{MemoryNeed, ModelOutline};
use crate::state::models::Opening;
use crate::state::{
    Command, Effect, ModelStatus, Models, ModelsTab, Notice, PathPurpose, ReadyModel, SecondModel,
    capitalize,
};
use crate::worker::{
    ComputeChoice, DownloadRequest, LocalModels, ModelSource, Request, memory_with_cache,
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
    /// The models that programs keep on this computer.
    Found(LocalModels),
}

/// What the engine found out about a model before loading it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Inspected {
    pub source: ModelSource,
    pub found: Result<Box<ModelOutline>, String>,
    pub n_free_bytes: u64,
}

impl Models {
    /// Applies a command that needs nothing but the models.
    pub(in crate::state) fn apply(&mut self, command: ModelsCommand) -> Vec<Effect> {
        match command {
            ModelsCommand::ShowDialog => return self.show(),
            ModelsCommand::CloseDialog => {
                self.dialog_open = false;
                self.refusal = None;
                self.opening.take_if(|opening| opening.warning.is_some());
            }
            ModelsCommand::CancelOpening => self.opening = None,
            ModelsCommand::CancelLoading => return self.cancel_loading().into_iter().collect(),
            ModelsCommand::SetCompute(choice) => return self.compute_with(choice),
            ModelsCommand::Forget(path) => self.forget(&path),
            ModelsCommand::FilesChecked(checked) => self.checked.extend(checked),
            ModelsCommand::Found(found) => self.on_found(found),
            ModelsCommand::Open(_)
            | ModelsCommand::OpenAnyway
            | ModelsCommand::Dropped(_)
            | ModelsCommand::DropRejected(_)
            | ModelsCommand::Unload
            | ModelsCommand::LoadOnCpu(_) => {}
        }
        Vec::new()
    }

    /// Opens the dialog, and checks what it lists.
    pub(in crate::state) fn show(&mut self) -> Vec<Effect> {
        self.dialog_open = true;
        let recent = self.recent.iter();
        let paths: Vec<PathBuf> = recent.map(|recent| recent.path.clone()).collect();
        let mut effects = Vec::new();
        if !paths.is_empty() {
            effects.push(Effect::CheckModelFiles(paths));
        }
        effects.push(Effect::Hub(DownloadRequest::Cached));
        effects.push(Effect::FindModels);
        effects.extend(self.list_devices());
        effects
    }

    /// Returns the request for the list of devices, unless it is known.
    pub(in crate::state) fn list_devices(&self) -> Option<Effect> {
        let is_unknown = self.devices.is_none();
        is_unknown.then_some(Effect::Send(Request::ListDevices))
    }

    /// Returns the memory that a model needs with the chosen KV cache.
    pub(in crate::state) fn memory_of(&self, outline: &ModelOutline) -> MemoryNeed {
        memory_with_cache(outline, self.compute.cache)
    }

    /// Inspects a model before loading it. A load in progress is cancelled, since this model is
    /// wanted now.
    pub(in crate::state) fn inspect(&mut self, path: PathBuf) -> Vec<Effect> {
        self.refusal = None;
        self.opening = Some(Opening {
            path: path.clone(),
            warning: None,
        });
        let mut effects: Vec<Effect> = self.cancel_loading().into_iter().collect();
        // The devices decide whether the model uses the machine's memory.
        effects.extend(self.list_devices());
        let source = ModelSource::Path(path);
        effects.push(Effect::Send(Request::Inspect(source)));
        effects
    }

    /// Notes what was found in the model that is being opened. Returns the warning that the user
    /// must confirm before it is loaded, if there is one, or why it can't be loaded; `None` if the
    /// user has chosen another model since, or cancelled.
    pub(in crate::state) fn on_opening_inspected(
        &mut self,
        inspected: &Inspected,
        n_panes: usize,
        n_tokens: usize,
    ) -> Option<Result<Option<String>, String>> {
        let path = inspected.source.path()?;
        self.opening
            .take_if(|opening| opening.path == path && opening.warning.is_none())?;
        let outline = match &inspected.found {
            Ok(outline) => outline,
            Err(error) => return Some(Err(error.clone())),
        };
        let warning = self.memory_warning(outline, inspected.n_free_bytes, n_panes, n_tokens);
        if warning.is_some() {
            self.opening = Some(Opening {
                path: path.to_owned(),
                warning: warning.clone(),
            });
        }
        Some(Ok(warning))
    }

    /// Returns the warning that a model with all panes needs more memory than is free, or `None` if
    /// it fits or is loaded into GPU memory.
    pub(super) fn memory_warning(
        &self,
        outline: &ModelOutline,
        n_free_bytes: u64,
        n_panes: usize,
        n_tokens: usize,
    ) -> Option<String> {
        if self.uses_gpu_memory() {
            return None;
        }
        let n_tokens = n_tokens.min(outline.n_context);
        let n_needed = self.memory_of(outline).n_bytes(n_panes, n_tokens);
        let shortage = MemoryNeed::shortage(n_needed, n_free_bytes)?;
        Some(outline.with_costs(shortage))
    }

    /// Begins to load a model in place of the main one.
    pub(in crate::state) fn load(&mut self, source: ModelSource) -> Effect {
        self.refusal = None;
        self.opening = None;
        self.main.begin_loading();
        self.pending.push_back(source.clone());
        Effect::Send(Request::LoadModel(source))
    }

    /// Begins to load the main model into a new engine.
    pub(in crate::state) fn reload(&mut self) -> Effect {
        self.main.begin_loading();
        self.reopening = None;
        self.reopened = None;
        self.pending = [self.source.clone()].into();
        self.second.forget_pending();
        Effect::Send(Request::LoadModel(self.source.clone()))
    }

    /// Stops all loads in progress.
    pub(in crate::state) fn stop_loading(&self) -> Vec<Effect> {
        let main = self.cancel_loading().into_iter();
        main.chain(self.second.cancel()).collect()
    }

    /// Stops loading the main model, or the one that opens again.
    pub(in crate::state) fn cancel_loading(&self) -> Option<Effect> {
        let is_loading = matches!(self.main, ModelStatus::Loading { .. });
        let reopens = self.reopening.is_some();
        (is_loading || reopens).then_some(Effect::Send(Request::CancelLoading))
    }

    pub(in crate::state) fn on_loading(&mut self, new_fraction: f32) {
        if let ModelStatus::Loading { fraction, .. } = &mut self.main {
            *fraction = new_fraction;
        }
    }

    /// Notes that a model was loaded. Returns whether it is from the same source as the one before.
    pub(in crate::state) fn on_loaded(&mut self, model: ReadyModel) -> bool {
        let mut is_same = false;
        let reopened = self.reopened.take();
        let has_reopened = reopened.is_some();
        if let Some(source) = reopened.or_else(|| self.pending.pop_front()) {
            self.remember(&source, &model.info, unix_time_secs());
            is_same = source == self.source;
            // Until the model of the last session has opened, the built-in one stands in for it.
            if self.reopening.is_none() {
                self.remembered = source.path().map(Path::to_owned);
            }
            self.source = source;
        }
        self.main = ModelStatus::Ready(model);
        if self.pending.is_empty() {
            self.dialog_open &= has_reopened;
        } else {
            self.main.begin_loading();
        }
        is_same
    }

    pub(in crate::state) fn on_unloaded(&mut self) {
        match &mut self.main {
            ModelStatus::Loading { previous, .. } => *previous = None,
            status => *status = ModelStatus::Absent,
        }
        self.second = SecondModel::default();
    }

    /// Returns to the previous model after a load failed or was cancelled, unless another load is
    /// pending. Returns whether it did.
    pub(in crate::state) fn restore(&mut self, otherwise: ModelStatus) -> bool {
        if !self.pending.is_empty() {
            return false;
        }
        self.main = match std::mem::replace(&mut self.main, ModelStatus::Lost) {
            ModelStatus::Loading {
                previous: Some(model),
                ..
            }
            | ModelStatus::Ready(model) => ModelStatus::Ready(model),
            _ => otherwise,
        };
        true
    }

    /// Notes why a model was not loaded, for its row in the dialog. Returns the notice that says so
    /// if the row is not visible.
    pub(in crate::state) fn refuse(
        &mut self,
        source: Option<ModelSource>,
        error: String,
    ) -> Option<Notice> {
        // The row of the model in use shows "In use" instead.
        let has_model = self.main.in_use().is_some();
        let in_use = has_model && source.as_ref() == Some(&self.source);
        let list_visible = self.dialog_open && self.hub.tab == ModelsTab::OnThisComputer;
        let shown_in_row = list_visible && source.is_some() && !in_use;
        let failed = source.clone();
        self.refusal = source.map(|source| (source, capitalize(&error)));
        if shown_in_row {
            return None;
        }
        let ask = Command::AskPath(PathPurpose::ModelFile);
        let notice = Notice::error("The model was not loaded", error);
        let mut notice = notice.with_action("Open another…", ask);
        if let Some(source) = failed.clone().filter(|_| self.uses_gpu()) {
            let load = Command::Models(ModelsCommand::LoadOnCpu(source));
            notice = notice.with_action("Use the CPU", load);
        }
        let embedded_fails = failed == Some(ModelSource::Embedded);
        let embedded_in_use = has_model && self.source == ModelSource::Embedded;
        if !embedded_fails && !embedded_in_use {
            notice = notice.with_action("Use the built-in model", Command::LoadEmbeddedModel);
        }
        Some(notice)
    }
}

/// Returns the current Unix time in seconds.
pub(crate) fn unix_time_secs() -> u64 {
    // A clock before 1970 is wrong anyway, so it counts as 1970.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

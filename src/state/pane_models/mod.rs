//! A model per pane: what panes use instead of the main model, what that takes, and what is loaded
//! for it.
//!
//! The settings of the panes say which models are wanted. After each command and event,
//! [`AppState::follow_pane_models`] asks the engine to load those that are missing and to free those
//! that no pane uses any more.

mod entries;
mod rows;

use crate::generation::{
    ByteSize, ChatSupport, MemoryNeed, ModelInfo, ModelOutline, ModelSource, PaneSettings,
};
use crate::state::{
    AppState, Effect, ModelStatus, Notice, Page, Pane, PaneId, PromptMode, ReadyModel, capitalize,
    unix_time_secs,
};
use crate::worker::{PaneModelUpdate, Request, memory_with_cache};

pub use self::entries::{PaneModelStatus, PaneModels};
pub use self::rows::PaneModelRow;

/// What the user can do with the models of panes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaneModelCommand {
    /// Open the menu of a pane's models.
    OpenMenu(PaneId),
    /// Let a pane use a model, or the main one. A model that is not loaded is offered first, with
    /// the memory that it needs.
    Choose(PaneId, Option<ModelSource>),
    /// Load a model that was offered.
    Load(ModelSource),
    /// Let all panes use the main model instead of this one.
    Decline(ModelSource),
}

/// The model of a request, if it is not the main one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OwnModel {
    pub source: ModelSource,
    /// `None` if it is not loaded, so that the engine will refuse the request.
    pub ready: Option<ReadyModel>,
}

impl OwnModel {
    /// Returns what a request names.
    pub(super) fn named(own: Option<&Self>) -> Option<ModelSource> {
        own.map(|own| own.source.clone())
    }
}

impl AppState {
    pub(super) fn apply_to_pane_models(&mut self, command: PaneModelCommand) -> Vec<Effect> {
        match command {
            PaneModelCommand::OpenMenu(id) => {
                self.page = Page::Write;
                self.pane_models.menu_to_open = Some(id);
                Vec::new()
            }
            PaneModelCommand::Choose(id, source) => self.choose_pane_model(id, source),
            PaneModelCommand::Load(source) => {
                let is_wanted = self.wanted_pane_models().contains(&source);
                if is_wanted {
                    self.load_pane_model(&source)
                } else {
                    Vec::new()
                }
            }
            PaneModelCommand::Decline(source) => {
                for pane in &mut self.panes {
                    pane.settings.model.take_if(|model| *model == source);
                }
                Vec::new()
            }
        }
    }

    fn choose_pane_model(&mut self, id: PaneId, source: Option<ModelSource>) -> Vec<Effect> {
        let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id) else {
            return Vec::new();
        };
        pane.settings.model.clone_from(&source);
        let Some(source) = self.own_source(id) else {
            return Vec::new();
        };
        match self.pane_models.status(&source) {
            None | Some(PaneModelStatus::Failed { .. }) => self.inspect_pane_model(&source, true),
            Some(_) => Vec::new(),
        }
    }

    /// Returns the source of a pane's model, if it is not the main one.
    fn own_source(&self, id: PaneId) -> Option<ModelSource> {
        let pane = self.pane(id)?;
        self.own_model_source(&pane.settings).cloned()
    }

    /// Returns where the model of these settings comes from, if it is not the main one.
    pub fn own_model_source<'a>(&self, settings: &'a PaneSettings) -> Option<&'a ModelSource> {
        let own = settings.model.as_ref();
        own.filter(|source| **source != self.model_source)
    }

    /// Returns the model of a pane, if it can generate now.
    pub fn model_of(&self, pane: &Pane) -> Option<&ReadyModel> {
        match self.own_model_source(&pane.settings) {
            None => self.model.ready(),
            Some(source) => self.pane_models.ready(source),
        }
    }

    /// Returns a pane's own model, to be named in a request; `None` for the main one.
    pub(super) fn own_model(&self, pane: &Pane) -> Option<OwnModel> {
        let source = self.own_model_source(&pane.settings)?;
        Some(OwnModel {
            source: source.clone(),
            ready: self.pane_models.ready(source).cloned(),
        })
    }

    /// Returns why a pane's own model can't generate now, or `None` if it can or if the pane uses the
    /// main model.
    pub fn own_model_blocking_reason(&self, pane: &Pane) -> Option<String> {
        let source = self.own_model_source(&pane.settings)?;
        let model = match self.pane_models.status(source) {
            Some(PaneModelStatus::Ready(model)) => model,
            Some(PaneModelStatus::Loading { .. }) => {
                return Some("Its model is still loading".to_owned());
            }
            Some(PaneModelStatus::Failed { .. }) => {
                return Some("Its model could not be loaded".to_owned());
            }
            Some(PaneModelStatus::Inspecting { .. } | PaneModelStatus::Offered { .. }) | None => {
                return Some("Its model is not loaded yet".to_owned());
            }
        };
        if pane.settings.chain.needs_second_model() {
            let reason = "The second model works with the main model only";
            return Some(reason.to_owned());
        }
        match &model.chat {
            _ if self.prompt_mode == PromptMode::Raw => None,
            ChatSupport::Ready => None,
            ChatSupport::Missing => Some("Its model has no chat template".to_owned()),
            ChatSupport::Broken { error } => Some(capitalize(error)),
        }
    }

    /// Returns the models that panes use besides the main one, hidden panes included.
    fn wanted_pane_models(&self) -> Vec<ModelSource> {
        let hidden = self.hidden().map(|hidden| hidden.texts().0);
        let panes = self.panes.iter().chain(hidden.into_iter().flatten());
        let mut wanted: Vec<ModelSource> = Vec::new();
        for pane in panes {
            let running = pane.running_model.as_ref();
            let running = running.filter(|_| pane.status.running().is_some());
            let own = self.own_model_source(&pane.settings);
            for source in own.into_iter().chain(running) {
                if !wanted.contains(source) {
                    wanted.push(source.clone());
                }
            }
        }
        wanted
    }

    /// Asks for the models that panes use and that are not loaded, and frees the others.
    pub(super) fn follow_pane_models(&mut self) -> Vec<Effect> {
        if self.model == ModelStatus::Lost {
            self.pane_models.forget_all();
            return Vec::new();
        }
        let wanted = self.wanted_pane_models();
        let freed = self.pane_models.release(|source| wanted.contains(source));
        let freed = freed.into_iter().map(Request::UnloadPaneModel);
        let mut effects: Vec<Effect> = freed.map(Effect::Send).collect();
        for source in wanted {
            if self.pane_models.status(&source).is_none() {
                effects.extend(self.inspect_pane_model(&source, false));
            }
        }
        effects
    }

    /// Asks how much memory a model needs, before it is loaded.
    fn inspect_pane_model(&mut self, source: &ModelSource, ask: bool) -> Vec<Effect> {
        let status = PaneModelStatus::Inspecting { ask };
        self.pane_models.set(source, status);
        // The devices decide whether the model uses the machine's memory.
        let mut effects: Vec<Effect> = self.list_devices().into_iter().collect();
        effects.push(Effect::Send(Request::Inspect(source.clone())));
        effects
    }

    fn load_pane_model(&mut self, source: &ModelSource) -> Vec<Effect> {
        self.pane_models.begin_loading(source);
        vec![Effect::Send(Request::LoadPaneModel(source.clone()))]
    }

    /// Offers a model that was inspected, or loads it if there is no need to ask.
    pub(super) fn on_pane_model_inspected(
        &mut self,
        source: &ModelSource,
        found: &Result<ModelOutline, String>,
        n_free_bytes: u64,
    ) -> Vec<Effect> {
        let Some(PaneModelStatus::Inspecting { ask }) = self.pane_models.status(source) else {
            return Vec::new();
        };
        let ask = *ask;
        let status = match found {
            Err(error) => PaneModelStatus::Failed {
                error: capitalize(error),
            },
            Ok(outline) => {
                let (words, is_short) = self.memory_words(source, outline, n_free_bytes);
                if !ask && !is_short {
                    return self.load_pane_model(source);
                }
                PaneModelStatus::Offered { words, is_short }
            }
        };
        self.pane_models.set(source, status);
        Vec::new()
    }

    /// Says how much memory a model needs for the panes that use it, and how much is free. Also
    /// returns whether that is too little.
    fn memory_words(
        &self,
        source: &ModelSource,
        outline: &ModelOutline,
        n_free_bytes: u64,
    ) -> (String, bool) {
        let uses_it = |pane: &&Pane| pane.settings.model.as_ref() == Some(source);
        let n_panes = self.panes.iter().filter(uses_it).count().max(1);
        let n_tokens = self.longest_text().min(outline.n_context);
        let memory = memory_with_cache(outline, self.models.compute.cache);
        let n_needed = memory.n_bytes(n_panes, n_tokens);
        let model = format!("{}, {}", outline.name, outline.quantization);
        let needed = ByteSize(n_needed);
        let on_gpu = *source != ModelSource::Embedded && self.uses_gpu_memory();
        if on_gpu {
            return (format!("{model}, needs {needed} of GPU memory"), false);
        }
        let free = ByteSize(n_free_bytes);
        let is_short = MemoryNeed::shortage(n_needed, n_free_bytes).is_some();
        let free = if is_short {
            format!("only {free} is free")
        } else {
            format!("{free} is free")
        };
        (
            format!("{model}, needs {needed} of memory; {free}"),
            is_short,
        )
    }

    /// Takes in what the engine says about the model of panes.
    pub(super) fn on_pane_model(
        &mut self,
        source: &ModelSource,
        update: PaneModelUpdate,
    ) -> Vec<Effect> {
        if let PaneModelUpdate::Loaded { info, .. } = &update {
            self.models.remember(source, info, unix_time_secs());
        }
        let update = match update {
            PaneModelUpdate::Failed { error } => PaneModelUpdate::Failed {
                error: capitalize(&error),
            },
            update => update,
        };
        if let Some(warning) = self.pane_models.note(source, update) {
            let title = "The model was loaded with a warning";
            self.notify(Notice::error(title, warning));
        }
        Vec::new()
    }

    /// Returns where a loaded model comes from that is the same as a recorded one, if it is not the
    /// main model.
    pub(super) fn loaded_source_of(&self, recorded: &ModelInfo) -> Option<ModelSource> {
        let is_it = |model: &ReadyModel| model.info.sha256 == recorded.sha256;
        if self.model.ready().is_some_and(is_it) {
            return None;
        }
        let mut loaded = self.pane_models.all_ready();
        let found = loaded.find(|(_, model)| is_it(model));
        found.map(|(source, _)| source.clone())
    }

    /// Returns whether several models write, so that each pane should name its own.
    pub fn uses_several_models(&self) -> bool {
        let mut panes = self.panes.iter();
        panes.any(|pane| self.own_model_source(&pane.settings).is_some())
    }
}

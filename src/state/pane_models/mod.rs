//! A model per pane: the models that panes use instead of the main one, the memory that they need,
//! and whether they are loaded.
//!
//! The settings of the panes say which models are wanted. After each command and event,
//! [`AppState::follow_pane_models`] asks the engine to load those that are missing and to unload
//! those that no pane uses any more.

mod authorship;
mod entries;
mod rows;

use crate::generation::formatting::pane_letter;
use crate::generation::hosts::OWN_MODEL;
use crate::generation::{
    ByteSize, ChatSupport, MemoryNeed, ModelInfo, ModelOutline, ModelSource, PaneModel,
    PaneSettings,
};
use crate::state::{
    AppState, Effect, ModelStatus, Notice, Page, Pane, PaneId, PromptMode, ReadyModel, capitalize,
    unix_time_secs,
};
use crate::worker::{PaneModelUpdate, Request, memory_with_cache};

pub use self::authorship::{Authorship, Writer};
pub use self::entries::{PaneModelStatus, PaneModels};
pub use self::rows::PaneModelRow;

/// What the user can do with the models of panes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaneModelCommand {
    /// Open the menu of a pane's models.
    OpenMenu(PaneId),
    /// Let a pane use a model, or the main one. A model that is not loaded is offered first, with
    /// the memory that it needs.
    Choose(PaneId, Option<PaneModel>),
    /// Load a model that was offered.
    Load(ModelSource),
    /// Let all panes use the main model instead of this one.
    Decline(PaneModel),
}

/// The model of a request, if it is not the main one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OwnModel {
    pub model: PaneModel,
    /// `None` if it is not loaded, so that the engine will refuse the request, or if its server has
    /// not answered yet.
    pub ready: Option<ReadyModel>,
}

impl OwnModel {
    /// Returns the model that a request names; `None` for the main one.
    pub(super) fn named(own: Option<&Self>) -> Option<PaneModel> {
        own.map(|own| own.model.clone())
    }

    /// Returns the source that a request to the engine names; `None` for the main model.
    pub(super) fn local(own: Option<&Self>) -> Option<ModelSource> {
        own.and_then(|own| own.model.local()).cloned()
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
            PaneModelCommand::Choose(id, Some(PaneModel::Server(served))) => {
                self.choose_server(id, &served)
            }
            PaneModelCommand::Choose(id, Some(PaneModel::Local(source))) => {
                self.choose_pane_model(id, &source)
            }
            PaneModelCommand::Choose(id, None) => {
                if let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id) {
                    pane.settings.model = None;
                }
                Vec::new()
            }
            PaneModelCommand::Load(source) => {
                let is_wanted = self.wanted_pane_models().contains(&source);
                if is_wanted {
                    self.load_pane_model(&source)
                } else {
                    Vec::new()
                }
            }
            PaneModelCommand::Decline(declined) => {
                for pane in &mut self.panes {
                    pane.settings.model.take_if(|model| *model == declined);
                }
                Vec::new()
            }
        }
    }

    fn choose_pane_model(&mut self, id: PaneId, source: &ModelSource) -> Vec<Effect> {
        let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id) else {
            return Vec::new();
        };
        pane.settings.model = Some(source.clone().into());
        if *source == self.model_source {
            return Vec::new();
        }
        match self.pane_models.status(source) {
            None | Some(PaneModelStatus::Failed { .. }) => self.inspect_pane_model(source, true),
            Some(_) => Vec::new(),
        }
    }

    /// Returns the model that these settings choose, if it is not the main one.
    pub fn chosen_model<'a>(&self, settings: &'a PaneSettings) -> Option<&'a PaneModel> {
        let own = settings.model.as_ref();
        own.filter(|model| model.local() != Some(&self.model_source))
    }

    /// Returns the model of a pane, if it can generate now.
    pub fn model_of(&self, pane: &Pane) -> Option<&ReadyModel> {
        match self.chosen_model(&pane.settings) {
            None => self.model.ready(),
            Some(model) => self.ready_model(model),
        }
    }

    fn ready_model(&self, model: &PaneModel) -> Option<&ReadyModel> {
        match model {
            PaneModel::Local(source) => self.pane_models.ready(source),
            PaneModel::Server(served) => {
                let ready = self.servers.connections.ready(served);
                ready.map(|ready| &ready.model)
            }
        }
    }

    /// Returns a pane's own model, to be named in a request; `None` for the main one.
    pub(super) fn own_model(&self, pane: &Pane) -> Option<OwnModel> {
        let model = self.chosen_model(&pane.settings)?;
        Some(OwnModel {
            model: model.clone(),
            ready: self.ready_model(model).cloned(),
        })
    }

    /// Returns why a pane's own model can't generate now, or `None` if it can or if the pane uses
    /// the main model.
    pub fn own_model_blocking_reason(&self, pane: &Pane) -> Option<String> {
        let source = match self.chosen_model(&pane.settings)? {
            PaneModel::Local(source) => source,
            PaneModel::Server(served) => {
                // It is contacted when the pane generates, even after a failure.
                let server = self.servers.connections.ready(served)?;
                return self.chat_blocking_reason(&server.model.chat);
            }
        };
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
        if let Err(refusal) = OWN_MODEL.check(&pane.settings.chain) {
            return Some(capitalize(&refusal.to_string()));
        }
        self.chat_blocking_reason(&model.chat)
    }

    fn chat_blocking_reason(&self, chat: &ChatSupport) -> Option<String> {
        match chat {
            _ if self.prompt_mode == PromptMode::Raw => None,
            ChatSupport::Ready => None,
            ChatSupport::Missing => Some("Its model has no chat template".to_owned()),
            ChatSupport::Broken { error } => Some(capitalize(error)),
        }
    }

    /// Returns the models on this computer that panes use besides the main one, hidden panes
    /// included.
    fn wanted_pane_models(&self) -> Vec<ModelSource> {
        let hidden = self.hidden().map(|hidden| hidden.texts().0);
        let panes = self.panes.iter().chain(hidden.into_iter().flatten());
        let mut wanted: Vec<ModelSource> = Vec::new();
        for pane in panes {
            let running = pane.running_model.as_ref();
            let running = running.filter(|_| pane.status.running().is_some());
            let own = self.chosen_model(&pane.settings);
            let models = own.into_iter().chain(running);
            for source in models.filter_map(PaneModel::local) {
                if !wanted.contains(source) {
                    wanted.push(source.clone());
                }
            }
        }
        wanted
    }

    /// Requests the models that panes use but that are not loaded, and unloads the others.
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
        let uses_it = |pane: &&Pane| {
            let model = pane.settings.model.as_ref();
            model.and_then(PaneModel::local) == Some(source)
        };
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
        let words = format!("{model}, needs {needed} of memory; {free}");
        (outline.with_conversion(words), is_short)
    }

    /// Applies an update from the engine about a model of panes.
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

    /// Returns the model that a pane must choose to use the recorded one, if it is loaded or on a
    /// server that answered, and if it is not the main one.
    pub(super) fn loaded_model_of(&self, recorded: &ModelInfo) -> Option<PaneModel> {
        let is_it = |model: &ReadyModel| model.info.has_weights_of(recorded);
        if self.model.ready().is_some_and(is_it) {
            return None;
        }
        let mut loaded = self.pane_models.all_ready();
        let loaded = loaded.find(|(_, model)| is_it(model));
        let loaded = loaded.map(|(source, _)| source.clone().into());
        loaded.or_else(|| {
            let mut servers = self.servers.connections.all_ready();
            let server = servers.find(|(_, server)| is_it(&server.model));
            server.map(|(served, _)| PaneModel::Server(served.clone()))
        })
    }

    /// Returns why the main model can't stand in for these panes, if one of them has another model.
    pub(crate) fn several_models_reason<'a>(
        &self,
        panes: impl IntoIterator<Item = &'a Pane>,
    ) -> Option<String> {
        let mut panes = panes.into_iter();
        let own = panes.find(|pane| self.chosen_model(&pane.settings).is_some())?;
        let letter = self.place_of(own.id).map(pane_letter).unwrap_or_default();
        Some(format!(
            "This runs with the main model only, but {letter} uses another model"
        ))
    }

    /// Returns whether panes use several models, so that each pane should name its own.
    pub fn uses_several_models(&self) -> bool {
        let mut panes = self.panes.iter();
        panes.any(|pane| self.chosen_model(&pane.settings).is_some())
    }
}

//! A model per pane: the models that panes use instead of the main one, the memory that they need,
//! and whether they are loaded.
//!
//! The settings of the panes say which models are wanted. After each command and event,
//! [`Models::follow_panes`] asks the engine to load those that are missing and to unload
//! those that no pane uses any more.

mod authorship;
mod entries;
mod rows;

use crate::generation::hosts::OWN_MODEL;
use crate::generation::{
    ByteSize, ChatSupport, MemoryNeed, ModelInfo, ModelOutline, ModelSource, PaneModel,
    PaneSettings, ServedModel,
};
use crate::state::models::open::Inspected;
use crate::state::{
    Effect, ModelStatus, Models, Notice, Pane, PaneId, Panes, PromptMode, ReadyModel, capitalize,
    unix_time_secs,
};
use crate::worker::{PaneModelUpdate, Request};

pub use self::authorship::{Authorship, Writer};
pub(super) use self::authorship::{common_writer_words, written_with_words};
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

/// Of the free memory, a model may take one in this many parts without a question.
const SMALL_PART: u64 = 4;

impl OwnModel {
    /// Returns the model that a request names; `None` for the main one.
    pub(super) fn named(own: Option<&Self>) -> Option<PaneModel> {
        own.map(|own| own.model.clone())
    }

    /// Returns the server that a request goes to, or the source that a request to the engine names;
    /// neither for the main model.
    pub(super) fn address(own: Option<&Self>) -> (Option<ServedModel>, Option<ModelSource>) {
        let served = own.and_then(|own| own.model.served()).cloned();
        (served, Self::local(own))
    }

    /// Returns the source that a request to the engine names; `None` for the main model.
    pub(super) fn local(own: Option<&Self>) -> Option<ModelSource> {
        own.and_then(|own| own.model.local()).cloned()
    }
}

impl Models {
    /// Applies a command about the models of panes, except for opening their menu.
    pub(super) fn apply_to_panes(
        &mut self,
        command: PaneModelCommand,
        panes: &mut Panes,
    ) -> Vec<Effect> {
        match command {
            PaneModelCommand::Choose(id, Some(PaneModel::Server(served))) => {
                self.servers.choose(id, &served, panes)
            }
            PaneModelCommand::Choose(id, Some(PaneModel::Local(source))) => {
                self.choose_for_pane(id, &source, panes)
            }
            PaneModelCommand::Choose(id, None) => {
                if let Some(pane) = panes.pane_mut(id) {
                    pane.settings.model = None;
                }
                Vec::new()
            }
            PaneModelCommand::Load(source) => self.load_for_panes(&source),
            PaneModelCommand::Decline(declined) => {
                for pane in panes {
                    pane.settings.model.take_if(|model| *model == declined);
                }
                Vec::new()
            }
            PaneModelCommand::OpenMenu(id) => {
                self.of_panes.menu_to_open = Some(id);
                Vec::new()
            }
        }
    }

    fn choose_for_pane(
        &mut self,
        id: PaneId,
        source: &ModelSource,
        panes: &mut Panes,
    ) -> Vec<Effect> {
        let Some(pane) = panes.pane_mut(id) else {
            return Vec::new();
        };
        pane.settings.model = Some(source.clone().into());
        if *source == self.source {
            return Vec::new();
        }
        match self.of_panes.status(source) {
            None | Some(PaneModelStatus::Failed { .. }) => self.inspect_for_panes(source, true),
            Some(_) => Vec::new(),
        }
    }

    /// Returns the model that these settings choose, if it is not the main one.
    pub fn chosen<'a>(&self, settings: &'a PaneSettings) -> Option<&'a PaneModel> {
        let own = settings.model.as_ref();
        own.filter(|model| model.local() != Some(&self.source))
    }

    /// Returns the model of a pane, if it can generate now.
    pub fn of(&self, pane: &Pane) -> Option<&ReadyModel> {
        match self.chosen(&pane.settings) {
            None => self.main.ready(),
            Some(model) => self.ready(model),
        }
    }

    fn ready(&self, model: &PaneModel) -> Option<&ReadyModel> {
        match model {
            PaneModel::Local(source) => self.of_panes.ready(source),
            PaneModel::Server(served) => {
                let ready = self.servers.connections.ready(served);
                ready.map(|ready| &ready.model)
            }
        }
    }

    /// Returns a pane's own model, to be named in a request; `None` for the main one.
    pub(super) fn own(&self, pane: &Pane) -> Option<OwnModel> {
        let model = self.chosen(&pane.settings)?;
        Some(OwnModel {
            model: model.clone(),
            ready: self.ready(model).cloned(),
        })
    }

    /// Returns why a pane's own model can't generate from a prompt in this mode now, or `None` if
    /// it can or if the pane uses the main model.
    pub fn own_blocking_reason(&self, pane: &Pane, mode: PromptMode) -> Option<String> {
        let source = match self.chosen(&pane.settings)? {
            PaneModel::Local(source) => source,
            PaneModel::Server(served) => {
                // It is contacted when the pane generates, even after a failure.
                let server = self.servers.connections.ready(served)?;
                return chat_blocking_reason(&server.model.chat, mode);
            }
        };
        let model = match self.of_panes.status(source) {
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
        chat_blocking_reason(&model.chat, mode)
    }

    /// Returns whether a pane's own model is not loaded yet, but can be.
    pub(in crate::state) fn is_awaited_by(&self, pane: &Pane) -> bool {
        let source = self.chosen(&pane.settings).and_then(PaneModel::local);
        source.is_some_and(|source| match self.of_panes.status(source) {
            Some(PaneModelStatus::Ready(_) | PaneModelStatus::Failed { .. }) => false,
            Some(
                PaneModelStatus::Inspecting { .. }
                | PaneModelStatus::Offered { .. }
                | PaneModelStatus::Loading { .. },
            )
            | None => true,
        })
    }

    /// Returns the models on this computer that these panes use besides the main one.
    pub(super) fn wanted_by<'a>(
        &self,
        panes: impl IntoIterator<Item = &'a Pane>,
    ) -> Vec<ModelSource> {
        let mut wanted: Vec<ModelSource> = Vec::new();
        for pane in panes {
            let running = pane.running_model.as_ref();
            let running = running.filter(|_| pane.status.running().is_some());
            let own = self.chosen(&pane.settings);
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
    pub(super) fn follow_panes(&mut self, wanted: Vec<ModelSource>) -> Vec<Effect> {
        if self.main == ModelStatus::Lost {
            self.of_panes.forget_all();
            return Vec::new();
        }
        let freed = self.of_panes.release(|source| wanted.contains(source));
        let freed = freed.into_iter().map(Request::UnloadPaneModel);
        let mut effects: Vec<Effect> = freed.map(Effect::Send).collect();
        for source in wanted {
            if self.of_panes.status(&source).is_none() {
                effects.extend(self.inspect_for_panes(&source, false));
            }
        }
        effects
    }

    /// Asks how much memory a model needs, before it is loaded.
    fn inspect_for_panes(&mut self, source: &ModelSource, ask: bool) -> Vec<Effect> {
        let status = PaneModelStatus::Inspecting { ask };
        self.of_panes.set(source, status);
        // The devices decide whether the model uses the machine's memory.
        let mut effects: Vec<Effect> = self.list_devices().into_iter().collect();
        effects.push(Effect::Send(Request::Inspect(source.clone())));
        effects
    }

    fn load_for_panes(&mut self, source: &ModelSource) -> Vec<Effect> {
        self.of_panes.begin_loading(source);
        vec![Effect::Send(Request::LoadPaneModel(source.clone()))]
    }

    /// Offers a model of panes that was inspected, or loads it if there is no need to ask. Texts
    /// have at most `n_tokens`.
    pub(super) fn on_inspected_for_panes(
        &mut self,
        inspected: &Inspected,
        panes: &Panes,
        n_tokens: usize,
    ) -> Vec<Effect> {
        let source = &inspected.source;
        let Some(PaneModelStatus::Inspecting { ask }) = self.of_panes.status(source) else {
            return Vec::new();
        };
        let ask = *ask;
        let status = match &inspected.found {
            Err(error) => PaneModelStatus::Failed {
                error: capitalize(error),
            },
            Ok(outline) => {
                let uses_it = |pane: &&Pane| {
                    let model = pane.settings.model.as_ref();
                    model.and_then(PaneModel::local) == Some(source)
                };
                let n_panes = panes.iter().filter(uses_it).count().max(1);
                let n_tokens = n_tokens.min(outline.n_context);
                let n_needed = self.memory_of(outline).n_bytes(n_panes, n_tokens);
                let n_free = inspected.n_free_bytes;
                let (words, is_short) = self.memory_words(source, outline, n_needed, n_free);
                // Nothing needs to be decided about a small part of the free memory.
                let is_small = n_needed <= n_free / SMALL_PART && !self.is_on_gpu(source);
                if (!ask || is_small) && !is_short {
                    return self.load_for_panes(source);
                }
                PaneModelStatus::Offered { words, is_short }
            }
        };
        self.of_panes.set(source, status);
        Vec::new()
    }

    /// Returns whether a model would take GPU memory, of which it is not known how much is free.
    fn is_on_gpu(&self, source: &ModelSource) -> bool {
        *source != ModelSource::Embedded && self.uses_gpu_memory()
    }

    /// Says how much memory a model needs for the panes that use it, and how much is free. Also
    /// returns whether that is too little.
    fn memory_words(
        &self,
        source: &ModelSource,
        outline: &ModelOutline,
        n_needed: u64,
        n_free: u64,
    ) -> (String, bool) {
        let model = format!("{}, {}", outline.name, outline.quantization);
        let needed = ByteSize(n_needed);
        if self.is_on_gpu(source) {
            return (format!("{model}, needs {needed} of GPU memory"), false);
        }
        let free = ByteSize(n_free);
        let is_short = MemoryNeed::shortage(n_needed, n_free).is_some();
        let free = if is_short {
            format!("only {free} is free")
        } else {
            format!("{free} is free")
        };
        let words = format!("{model}, needs {needed} of memory; {free}");
        (outline.with_costs(words), is_short)
    }

    /// Applies an update from the engine about a model of panes. Returns the warning of a model
    /// that was loaded.
    pub(super) fn on_pane_model(
        &mut self,
        source: &ModelSource,
        update: PaneModelUpdate,
    ) -> Option<Notice> {
        if let PaneModelUpdate::Loaded { info, .. } = &update {
            self.remember(source, info, unix_time_secs());
        }
        let update = match update {
            PaneModelUpdate::Failed { error } => PaneModelUpdate::Failed {
                error: capitalize(&error),
            },
            update => update,
        };
        let warning = self.of_panes.note(source, update)?;
        Some(Notice::error(
            "The model was loaded with a warning",
            warning,
        ))
    }

    /// Returns the model that a pane must choose to use the recorded one, if it is loaded or on a
    /// server that answered, and if it is not the main one.
    pub(super) fn loaded_as(&self, recorded: &ModelInfo) -> Option<PaneModel> {
        let is_it = |model: &ReadyModel| model.info.has_weights_of(recorded);
        if self.main.ready().is_some_and(is_it) {
            return None;
        }
        let mut loaded = self.of_panes.all_ready();
        let loaded = loaded.find(|(_, model)| is_it(model));
        let loaded = loaded.map(|(source, _)| source.clone().into());
        loaded.or_else(|| {
            let mut servers = self.servers.connections.all_ready();
            let server = servers.find(|(_, server)| is_it(&server.model));
            server.map(|(served, _)| PaneModel::Server(served.clone()))
        })
    }

    /// Returns the first of these panes that does not use the main model.
    pub(super) fn first_with_own<'a>(
        &self,
        panes: impl IntoIterator<Item = &'a Pane>,
    ) -> Option<&'a Pane> {
        let mut panes = panes.into_iter();
        panes.find(|pane| self.chosen(&pane.settings).is_some())
    }
}

pub(super) fn chat_blocking_reason(chat: &ChatSupport, mode: PromptMode) -> Option<String> {
    match chat {
        _ if mode == PromptMode::Raw => None,
        ChatSupport::Ready { .. } => None,
        ChatSupport::Missing => Some("Its model has no chat template".to_owned()),
        ChatSupport::Broken { error } => Some(capitalize(error)),
    }
}

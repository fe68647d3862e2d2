//! Servers that run models: those that the user added, what is known about them, and the requests
//! of the panes that use them.
//!
//! Nothing is contacted until the user adds a server, or a pane that uses one generates.

mod added;
mod connections;
mod events;
mod form;
mod requests;
mod rows;

use crate::generation::{GenerationId, PaneModel, ServedModel};
use crate::state::{Effect, PaneId, Panes};
use crate::worker::ServerRequest;

pub use crate::worker::ServerKind;

pub use self::added::AddedServer;
pub use self::connections::{ReadyServer, ServerStatus};
pub use self::form::ServerForm;
pub(in crate::state) use self::requests::{Addressed, grouped};
pub use self::rows::{ServerRow, ServerUse};

use self::connections::Connections;
use self::form::TypedKeys;

/// The servers, as far as the window knows them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Servers {
    /// In the order in which they were added.
    pub added: Vec<AddedServer>,
    pub form: ServerForm,
    pub(in crate::state) typed_keys: TypedKeys,
    pub(in crate::state) connections: Connections,
    /// The lists of prompts that servers are answering.
    lists: Vec<(GenerationId, ServedModel)>,
}

/// What the user can do with servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerCommand {
    /// Show the servers in the models dialog.
    Show,
    /// Add the server that the form describes, and contact it.
    Add,
    /// Contact it again.
    Reconnect(AddedServer),
    /// Put it back into the form.
    Edit(AddedServer),
    /// Forget it. Panes that use it go back to the main model.
    Remove(AddedServer),
    /// Hide how its sampler deviates from a pane's settings.
    HideNotes(PaneId),
    /// Let a pane use it.
    UseIn(PaneId, ServedModel),
}

impl Servers {
    /// Creates the state at startup; nothing has been contacted.
    pub(in crate::state) fn new(added: Vec<AddedServer>) -> Self {
        Self {
            added,
            ..Self::default()
        }
    }

    /// Applies a command, except for opening the list.
    pub(in crate::state) fn apply(
        &mut self,
        command: ServerCommand,
        panes: &mut Panes,
    ) -> Vec<Effect> {
        match command {
            ServerCommand::Show => Vec::new(),
            ServerCommand::Add => self.add(panes),
            ServerCommand::Reconnect(added) => self.connect(&added.served(false), panes),
            ServerCommand::Edit(added) => {
                let key = self.typed_keys.of(&added);
                self.form = ServerForm::of(&added, key);
                self.forget(&added)
            }
            ServerCommand::Remove(added) => {
                let effects = self.forget(&added);
                for pane in panes {
                    let model = &mut pane.settings.model;
                    model.take_if(|model| model.served().is_some_and(|it| added.serves(it)));
                }
                effects
            }
            ServerCommand::HideNotes(id) => {
                if let Some(pane) = panes.pane_mut(id) {
                    pane.server_notes.clear();
                }
                Vec::new()
            }
            ServerCommand::UseIn(pane, served) => self.choose(pane, &served, panes),
        }
    }

    fn add(&mut self, panes: &Panes) -> Vec<Effect> {
        let form = std::mem::take(&mut self.form);
        let added = match form.server() {
            Ok(added) => added,
            Err(error) => {
                self.form = ServerForm {
                    error: Some(error),
                    ..form
                };
                return Vec::new();
            }
        };
        self.typed_keys.keep(&added, form.typed_key());
        let mut effects = self.forget_connections(&added);
        let served = added.served(false);
        self.added.retain(|other| !other.serves(&served));
        self.added.push(added);
        effects.extend(self.connect(&served, panes));
        effects
    }

    /// Contacts a server, even if that failed before.
    fn connect(&mut self, served: &ServedModel, panes: &Panes) -> Vec<Effect> {
        let mut effects = self.connections.end(served);
        effects.extend(self.start(served, panes));
        effects.push(Effect::Server(served.clone(), ServerRequest::Connect));
        effects
    }

    /// Lets a pane use a model on a server, which is contacted unless it is known to answer.
    pub(in crate::state) fn choose(
        &mut self,
        pane: PaneId,
        served: &ServedModel,
        panes: &mut Panes,
    ) -> Vec<Effect> {
        let Some(pane) = panes.pane_mut(pane) else {
            return Vec::new();
        };
        pane.settings.model = Some(PaneModel::Server(served.clone()));
        match self.connections.status(served) {
            Some(ServerStatus::Connecting | ServerStatus::Ready(_)) => Vec::new(),
            Some(ServerStatus::Failed { .. }) | None => self.connect(served, panes),
        }
    }

    /// Removes a server from the list, and closes its connections.
    fn forget(&mut self, added: &AddedServer) -> Vec<Effect> {
        self.added.retain(|other| other != added);
        self.forget_connections(added)
    }

    fn forget_connections(&mut self, added: &AddedServer) -> Vec<Effect> {
        let of_server = [added.served(false), added.served(true)];
        let ended = of_server.iter();
        ended
            .flat_map(|served| self.connections.end(served))
            .collect()
    }
}

//! What is known about the servers that were contacted.

use std::sync::Arc;

use crate::generation::ServedModel;
use crate::state::{Effect, ReadyModel};
use crate::worker::ServerInfo;

/// Whether a server can be used.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerStatus {
    /// It was asked what it serves, or the next request will ask.
    Connecting,
    Ready(ReadyServer),
    /// It can't be used.
    Failed {
        /// A sentence.
        error: String,
    },
}

/// A server that has answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyServer {
    pub model: ReadyModel,
    pub server: Arc<ServerInfo>,
    /// How many log-probabilities it is asked for at each token.
    pub n_probs: usize,
}

/// The servers that have been contacted, and what is known about them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct Connections {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    served: ServedModel,
    status: ServerStatus,
    /// Whether a text from it failed, so that the next request must connect again.
    is_stale: bool,
}

impl Connections {
    /// Returns what is known about a server, or `None` if it has not been contacted.
    pub(in crate::state) fn status(&self, served: &ServedModel) -> Option<&ServerStatus> {
        let mut entries = self.entries.iter();
        let entry = entries.find(|entry| entry.served == *served)?;
        Some(&entry.status)
    }

    /// Returns a server that has answered.
    pub(in crate::state) fn ready(&self, served: &ServedModel) -> Option<&ReadyServer> {
        match self.status(served) {
            Some(ServerStatus::Ready(server)) => Some(server),
            _ => None,
        }
    }

    /// Returns the servers that have answered.
    pub(in crate::state) fn all_ready(&self) -> impl Iterator<Item = (&ServedModel, &ReadyServer)> {
        self.entries.iter().filter_map(|entry| match &entry.status {
            ServerStatus::Ready(server) => Some((&entry.served, server)),
            _ => None,
        })
    }

    /// Returns a server that has answered, to change what is known about it.
    pub(super) fn ready_mut(&mut self, served: &ServedModel) -> Option<&mut ReadyServer> {
        match &mut self.entry(served)?.status {
            ServerStatus::Ready(server) => Some(server),
            _ => None,
        }
    }

    /// Returns whether its threads must be started, or restarted after a failure, before a request.
    pub(super) fn must_start(&self, served: &ServedModel) -> bool {
        let mut entries = self.entries.iter();
        let entry = entries.find(|entry| entry.served == *served);
        entry.is_none_or(|entry| {
            entry.is_stale || matches!(entry.status, ServerStatus::Failed { .. })
        })
    }

    /// Notes that its threads were started.
    pub(super) fn begin(&mut self, served: &ServedModel) {
        self.entries.push(Entry {
            served: served.clone(),
            status: ServerStatus::Connecting,
            is_stale: false,
        });
    }

    /// Sets what is known about a server that was contacted.
    pub(super) fn set(&mut self, served: &ServedModel, status: ServerStatus) {
        if let Some(entry) = self.entry(served) {
            entry.status = status;
            entry.is_stale = false;
        }
    }

    /// Notes that a text from this server failed.
    pub(in crate::state) fn distrust(&mut self, served: &ServedModel) {
        if let Some(entry) = self.entry(served) {
            entry.is_stale = true;
        }
    }

    /// Forgets a server. Returns the effect that ends its threads, if it has any.
    pub(super) fn end(&mut self, served: &ServedModel) -> Vec<Effect> {
        let n_before = self.entries.len();
        self.entries.retain(|entry| entry.served != *served);
        if self.entries.len() < n_before {
            vec![Effect::EndServer(served.clone())]
        } else {
            Vec::new()
        }
    }

    fn entry(&mut self, served: &ServedModel) -> Option<&mut Entry> {
        let mut entries = self.entries.iter_mut();
        entries.find(|entry| entry.served == *served)
    }
}

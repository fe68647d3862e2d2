//! Sends the requests of panes to the engine or to the servers that they use.

use std::sync::Arc;

use super::Servers;
use crate::generation::{GenerationId, ServedModel};
use crate::state::{Effect, Panes};
use crate::worker::{
    JobUpdate, ListPlan, PaneRequest, Request, SampledBy, ServerConfig, ServerRequest,
};

/// A request, and the server that it goes to; `None` for the engine.
pub(in crate::state) type Addressed = (Option<ServedModel>, PaneRequest);

/// Groups values by their keys, in the order in which the keys first occur.
pub(in crate::state) fn grouped<K: PartialEq, V>(pairs: Vec<(K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

impl Servers {
    /// Sends requests that share a prompt: one message to the engine, and one to each server.
    pub(in crate::state) fn send(
        &mut self,
        panes: &Panes,
        requests: Vec<Addressed>,
        to_engine: impl Fn(Vec<PaneRequest>) -> Request,
        to_server: impl Fn(Vec<PaneRequest>) -> ServerRequest,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (served, requests) in grouped(requests) {
            if let Some(served) = served {
                effects.extend(self.start(&served, panes));
                effects.push(Effect::Server(served, to_server(requests)));
            } else {
                effects.push(Effect::Send(to_engine(requests)));
            }
        }
        effects
    }

    /// Lets a server answer a list of prompts.
    pub(in crate::state) fn answer_list(
        &mut self,
        served: &ServedModel,
        (id, plan): (GenerationId, Arc<ListPlan>),
        panes: &Panes,
    ) -> Vec<Effect> {
        let mut effects = self.start(served, panes);
        self.lists.push((id, served.clone()));
        let request = ServerRequest::AnswerList { id, plan };
        effects.push(Effect::Server(served.clone(), request));
        effects
    }

    /// Notes that a list has advanced.
    pub(in crate::state) fn on_list(
        &mut self,
        served: &ServedModel,
        id: GenerationId,
        update: &JobUpdate,
    ) {
        if update.is_end() {
            self.lists.retain(|(other, _)| *other != id);
        }
        if matches!(update, JobUpdate::Failed { .. }) {
            self.connections.distrust(served);
        }
    }

    /// Forgets the lists of a server whose threads end.
    pub(in crate::state) fn forget_lists(&mut self, served: &ServedModel) {
        self.lists.retain(|(_, other)| other != served);
    }

    /// Starts the threads of a server that has none, or whose last request failed.
    pub(super) fn start(&mut self, served: &ServedModel, panes: &Panes) -> Vec<Effect> {
        let is_busy = panes
            .iter()
            .any(|pane| pane.status.is_writing() && pane.server() == Some(served));
        let has_lists = self.lists.iter().any(|(_, other)| other == served);
        if !self.connections.must_start(served) || is_busy || has_lists {
            return Vec::new();
        }
        let mut effects = self.connections.end(served);
        self.connections.begin(served);
        let config = Box::new(self.config_of(served));
        effects.push(Effect::StartServer(served.clone(), config));
        effects
    }

    fn config_of(&self, served: &ServedModel) -> ServerConfig {
        let mut added = self.added.iter();
        let added = added.find(|added| added.serves(served));
        ServerConfig {
            model: served.model.clone(),
            sampled_by: if served.own_sampler {
                SampledBy::Server
            } else {
                SampledBy::Chain
            },
            kind: added.and_then(|added| added.kind),
            key: added.and_then(|added| self.typed_keys.of(added)),
            n_probs: added.and_then(|added| added.n_probs),
            ..ServerConfig::at(served.address.clone())
        }
    }
}

//! Sends the requests of panes to the engine or to the servers that they use.

use crate::generation::ServedModel;
use crate::state::{AppState, Effect, Pane};
use crate::worker::{PaneRequest, Request, SampledBy, ServerConfig, ServerRequest};

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

impl AppState {
    /// Sends requests that share a prompt: one message to the engine, and one to each server.
    pub(in crate::state) fn send(
        &mut self,
        requests: Vec<Addressed>,
        to_engine: impl Fn(Vec<PaneRequest>) -> Request,
        to_server: impl Fn(Vec<PaneRequest>) -> ServerRequest,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (served, panes) in grouped(requests) {
            if let Some(served) = served {
                effects.extend(self.start_server(&served));
                effects.push(Effect::Server(served, to_server(panes)));
            } else {
                effects.push(Effect::Send(to_engine(panes)));
            }
        }
        effects
    }

    /// Starts the threads of a server that has none, or whose last request failed.
    pub(super) fn start_server(&mut self, served: &ServedModel) -> Vec<Effect> {
        let is_busy = self
            .panes
            .iter()
            .any(|pane| pane.status.is_writing() && pane.server() == Some(served));
        if !self.servers.connections.must_start(served) || is_busy {
            return Vec::new();
        }
        let mut effects = self.servers.connections.end(served);
        self.servers.connections.begin(served);
        let config = Box::new(self.server_config(served));
        effects.push(Effect::StartServer(served.clone(), config));
        effects
    }

    fn server_config(&self, served: &ServedModel) -> ServerConfig {
        let mut added = self.servers.added.iter();
        let added = added.find(|added| added.serves(served));
        ServerConfig {
            model: served.model.clone(),
            sampled_by: if served.own_sampler {
                SampledBy::Server
            } else {
                SampledBy::Chain
            },
            kind: added.and_then(|added| added.kind),
            key: added.and_then(|added| self.servers.typed_keys.of(added)),
            n_probs: added.and_then(|added| added.n_probs),
            ..ServerConfig::at(served.address.clone())
        }
    }

    /// Returns the effect that stops the text of a pane, if one is being written.
    pub(in crate::state) fn stop_effect(pane: &Pane) -> Option<Effect> {
        let id = pane.status.running()?;
        Some(match pane.server() {
            Some(served) => Effect::Server(served.clone(), ServerRequest::Stop(id)),
            None => Effect::Send(Request::Stop(id)),
        })
    }

    /// Returns the effects that stop all texts.
    pub(in crate::state) fn stop_all_effects(&self) -> Vec<Effect> {
        let mut effects: Vec<Effect> = Vec::new();
        let running = self.panes.iter();
        for pane in running.filter(|pane| pane.status.running().is_some()) {
            let effect = match pane.server() {
                Some(served) => Effect::Server(served.clone(), ServerRequest::StopAll),
                None => Effect::Send(Request::StopAll),
            };
            if !effects.contains(&effect) {
                effects.push(effect);
            }
        }
        effects
    }
}

//! Applies what the threads of servers report.

use std::sync::Arc;

use super::{ReadyServer, ServerStatus, Servers};
use crate::generation::{ChatSupport, FinishReason, ServedModel, Vocabulary};
use crate::state::{Effect, Pane, PaneStatus, Panes, ReadyModel, capitalize};
use crate::worker::{Recorder, ServerEvent};

impl Servers {
    /// Applies an event of a server, except for the progress of its texts.
    pub(in crate::state) fn on_event(
        &mut self,
        served: &ServedModel,
        event: ServerEvent,
        panes: &mut Panes,
    ) -> Vec<Effect> {
        match event {
            ServerEvent::Connected {
                server,
                model: info,
                n_probs,
            } => {
                let chat = if server.renders_chat() {
                    ChatSupport::ready()
                } else {
                    ChatSupport::Missing
                };
                let model = ReadyModel {
                    info,
                    vocabulary: Arc::default(),
                    recommended_sampling: None,
                    chat,
                    load_warning: None,
                };
                let ready = ReadyServer {
                    model,
                    server,
                    n_probs,
                };
                self.on_connected(served, ready, panes);
            }
            ServerEvent::ConnectFailed { error } => {
                let error = capitalize(&error);
                let failed = ServerStatus::Failed { error };
                self.connections.set(served, failed);
            }
            ServerEvent::Progress(_) | ServerEvent::Job { .. } => {}
            ServerEvent::Vocabulary(vocabulary) => self.on_more_tokens(served, &vocabulary, panes),
            ServerEvent::Noted {
                id,
                notes,
                not_applied,
            } => {
                if let Some(pane) = panes.running(id) {
                    pane.server_notes = notes;
                    if let PaneStatus::Writing(recorder) = &mut pane.status {
                        recorder.text.not_applied = not_applied;
                    }
                }
            }
            ServerEvent::Panicked { message } => {
                let error = format!("Quartet failed unexpectedly: {message}");
                for pane in panes.iter_mut().filter(|pane| pane.uses(served)) {
                    let error = error.clone();
                    pane.finish_run(FinishReason::Failed { error });
                }
                return self.connections.end(served);
            }
        }
        Vec::new()
    }

    fn on_connected(&mut self, served: &ServedModel, ready: ReadyServer, panes: &mut Panes) {
        for pane in panes.iter_mut().filter(|pane| pane.uses(served)) {
            if let PaneStatus::Waiting { pending } = &mut pane.status
                && let Some(own) = &mut pending.own_model
            {
                own.ready = Some(ready.model.clone());
            }
        }
        self.connections.set(served, ServerStatus::Ready(ready));
    }

    /// Passes the tokens that a server has named since to its texts.
    fn on_more_tokens(
        &mut self,
        served: &ServedModel,
        vocabulary: &Arc<Vocabulary>,
        panes: &mut Panes,
    ) {
        if let Some(server) = self.connections.ready_mut(served) {
            server.model.vocabulary = Arc::clone(vocabulary);
        }
        for pane in panes.iter_mut().filter(|pane| pane.uses(served)) {
            if let PaneStatus::Writing(Recorder { text, .. }) | PaneStatus::Finished(text) =
                &mut pane.status
            {
                text.vocabulary = Arc::clone(vocabulary);
            }
        }
    }
}

impl Pane {
    /// Returns the server that writes its text, or wrote it last.
    pub(in crate::state) fn server(&self) -> Option<&ServedModel> {
        self.running_model.as_ref()?.served()
    }

    fn uses(&self, served: &ServedModel) -> bool {
        self.server() == Some(served)
    }
}

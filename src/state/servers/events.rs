//! Applies what the threads of servers report.

use std::sync::Arc;

use super::{ReadyServer, ServerStatus};
use crate::generation::{ChatSupport, FinishReason, ModelInfo, ServedModel, Vocabulary};
use crate::state::{AppState, Effect, Pane, PaneStatus, ReadyModel, capitalize};
use crate::worker::{Progress, Recorder, ServerEvent, ServerInfo};

impl AppState {
    /// Applies an event from a server and returns the effects to run outside.
    pub fn on_server_event(&mut self, served: &ServedModel, event: ServerEvent) -> Vec<Effect> {
        let mut effects = self.take_server_event(served, event);
        effects.extend(self.follow_lesson());
        effects.extend(self.follow_pane_models());
        effects.extend(self.follow_readers());
        effects
    }

    fn take_server_event(&mut self, served: &ServedModel, event: ServerEvent) -> Vec<Effect> {
        match event {
            ServerEvent::Connected {
                server,
                model,
                n_probs,
            } => self.on_connected(served, server, model, n_probs),
            ServerEvent::ConnectFailed { error } => {
                let error = capitalize(&error);
                let failed = ServerStatus::Failed { error };
                self.servers.connections.set(served, failed);
            }
            ServerEvent::Progress(progress) => {
                let has_failed = matches!(
                    &progress,
                    Progress::Finished {
                        reason: FinishReason::Failed { .. },
                        ..
                    }
                );
                let effects = self.on_progress(&progress);
                if has_failed {
                    self.servers.connections.distrust(served);
                }
                return effects;
            }
            ServerEvent::Vocabulary(vocabulary) => self.on_more_tokens(served, &vocabulary),
            ServerEvent::Noted {
                id,
                notes,
                not_applied,
            } => {
                if let Some(pane) = self.running_pane(id) {
                    pane.server_notes = notes;
                    if let PaneStatus::Writing(recorder) = &mut pane.status {
                        recorder.text.not_applied = not_applied;
                    }
                }
            }
            ServerEvent::Panicked { message } => return self.on_server_panicked(served, &message),
        }
        Vec::new()
    }

    fn on_connected(
        &mut self,
        served: &ServedModel,
        server: Arc<ServerInfo>,
        info: Arc<ModelInfo>,
        n_probs: usize,
    ) {
        let chat = if server.renders_chat() {
            ChatSupport::Ready
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
        for pane in self.panes.iter_mut().filter(|pane| pane.uses(served)) {
            if let PaneStatus::Waiting { pending } = &mut pane.status
                && let Some(own) = &mut pending.own_model
            {
                own.ready = Some(model.clone());
            }
        }
        let ready = ReadyServer {
            model,
            server,
            n_probs,
        };
        let ready = ServerStatus::Ready(ready);
        self.servers.connections.set(served, ready);
    }

    /// Passes the tokens that a server has named since to its texts.
    fn on_more_tokens(&mut self, served: &ServedModel, vocabulary: &Arc<Vocabulary>) {
        if let Some(server) = self.servers.connections.ready_mut(served) {
            server.model.vocabulary = Arc::clone(vocabulary);
        }
        for pane in self.panes.iter_mut().filter(|pane| pane.uses(served)) {
            if let PaneStatus::Writing(Recorder { text, .. }) | PaneStatus::Finished(text) =
                &mut pane.status
            {
                text.vocabulary = Arc::clone(vocabulary);
            }
        }
    }

    fn on_server_panicked(&mut self, served: &ServedModel, message: &str) -> Vec<Effect> {
        let was_running = self.is_running();
        let error = format!("Quartet failed unexpectedly: {message}");
        for pane in self.panes.iter_mut().filter(|pane| pane.uses(served)) {
            let error = error.clone();
            pane.finish_run(FinishReason::Failed { error });
        }
        let mut effects = self.servers.connections.end(served);
        if was_running {
            effects.extend(self.end_run());
        }
        effects
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

//! What the engine's thread reports, as it changes the state.

use std::sync::Arc;

use super::{AppState, Command, Effect, ModelStatus, Notice, Pane, PaneStatus, ReadyModel};
use crate::generation::{FinishReason, Generation, PromptRecord, Step};
use crate::worker::{Event, GenerationId, Progress};

impl AppState {
    /// Takes in what happened, and says what must be done outside.
    ///
    /// Events of a generation that no pane waits for any more are passed over.
    pub fn on_event(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::ModelLoading { fraction } => self.on_loading(fraction),
            Event::ModelLoaded {
                info,
                vocabulary,
                recommended_sampling,
                chat,
                unread,
            } => {
                if let Some(unread) = unread {
                    let title = "The model was loaded without one of its files";
                    self.notify(Notice::error(title, unread));
                }
                return self.on_loaded(ReadyModel {
                    info,
                    vocabulary,
                    recommended_sampling,
                    chat,
                });
            }
            Event::ModelFailed { error } => return self.on_load_failed(error),
            Event::Inspected {
                path,
                found,
                n_free_bytes,
            } => return self.on_inspected(path, found, n_free_bytes),
            Event::DevicesListed(devices) => self.models.devices = Some(devices),
            Event::DeviceMissing { name, reason } => self.on_device_missing(&name, &reason),
            Event::LoadingCancelled => return self.on_loading_cancelled(),
            Event::ModelUnloaded => self.on_unloaded(),
            Event::Tokenized { prompt, tokens } => self.on_tokenized(prompt, tokens),
            Event::Progress(progress) => self.on_progress(progress),
            Event::Panicked { message } => self.on_panicked(&message),
        }
        Vec::new()
    }

    fn on_progress(&mut self, progress: Progress) {
        match progress {
            Progress::Prefilling {
                ids,
                n_read,
                n_tokens,
            } => self.on_reading(&ids, n_read, n_tokens),
            Progress::Started { ids, prompt } => self.on_started(&ids, &prompt),
            Progress::Stepped { id, step } => self.on_stepped(id, *step),
            Progress::Finished { id, reason } => {
                if let Some(pane) = self.running_pane(id) {
                    pane.status.finish(reason);
                }
            }
        }
    }

    fn running_pane(&mut self, id: GenerationId) -> Option<&mut Pane> {
        self.panes
            .iter_mut()
            .find(|pane| pane.status.running() == Some(id))
    }

    fn on_reading(&mut self, ids: &[GenerationId], read: usize, total: usize) {
        for id in ids {
            let Some(pane) = self.running_pane(*id) else {
                continue;
            };
            pane.status = match std::mem::replace(&mut pane.status, PaneStatus::Ready) {
                PaneStatus::Waiting { asked } | PaneStatus::Reading { asked, .. } => {
                    PaneStatus::Reading {
                        asked,
                        n_read: read,
                        n_tokens: total,
                    }
                }
                later => later,
            };
        }
    }

    fn on_started(&mut self, ids: &[GenerationId], prompt: &Arc<PromptRecord>) {
        let Some(model) = self.model.writer().cloned() else {
            return;
        };
        for id in ids {
            let Some(pane) = self.running_pane(*id) else {
                continue;
            };
            let pane_id = pane.id;
            pane.status = match std::mem::replace(&mut pane.status, PaneStatus::Ready) {
                PaneStatus::Waiting { asked } | PaneStatus::Reading { asked, .. } => {
                    PaneStatus::Writing {
                        id: asked.id,
                        generation: Generation {
                            name: asked.name,
                            config: asked.config,
                            model: Arc::clone(&model.info),
                            vocabulary: Arc::clone(&model.vocabulary),
                            prompt: Arc::clone(prompt),
                            steps: Vec::new(),
                            finish: None,
                        },
                    }
                }
                later => later,
            };
            // The pinned token is gone with the text that held it.
            self.pin = self.pin.filter(|pin| pin.pane != pane_id);
        }
    }

    fn on_stepped(&mut self, id: GenerationId, step: Step) {
        if let Some(pane) = self.running_pane(id)
            && let PaneStatus::Writing { generation, .. } = &mut pane.status
        {
            generation.steps.push(step);
        }
    }

    fn on_panicked(&mut self, message: &str) {
        for pane in &mut self.panes {
            pane.status.finish(FinishReason::Failed {
                error: "the engine stopped unexpectedly".to_owned(),
            });
        }
        self.model = ModelStatus::Lost;
        self.asked_sources.clear();
        self.models.opening = None;
        let notice = Notice::error(
            "The engine stopped unexpectedly",
            format!("Your texts are safe. It said: {message}"),
        )
        .with_action("Start it again", Command::RestartEngine);
        self.notify(notice);
    }
}

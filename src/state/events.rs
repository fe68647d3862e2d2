//! Applies the events of the engine thread to the state.

use std::sync::Arc;

use super::{AppState, Command, Effect, ModelStatus, Notice, Pane, PaneStatus, ReadyModel};
use crate::generation::{FinishReason, Generation, Lineage, PromptRecord, TextModels};
use crate::state::panes::pane::PendingGeneration;
use crate::worker::{Event, GenerationId, Progress, Recorder};

impl AppState {
    /// Applies an event and returns the effects to run outside.
    ///
    /// Events of an abandoned generation are ignored.
    pub fn on_event(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = self.take_event(event);
        effects.extend(self.follow_lesson());
        effects.extend(self.follow_pane_models());
        effects.extend(self.follow_readers());
        effects
    }

    fn take_event(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::ModelLoading { fraction } => self.on_loading(fraction),
            Event::ModelLoaded {
                info,
                vocabulary,
                recommended_sampling,
                chat,
                load_warning,
                second,
            } => {
                if let Some(load_warning) = load_warning.clone() {
                    let title = "The model was loaded with a warning";
                    self.notify(Notice::error(title, load_warning));
                }
                let effects = self.on_loaded(ReadyModel {
                    info,
                    vocabulary,
                    recommended_sampling,
                    chat,
                    load_warning,
                });
                self.second_model.on_first_loaded(second);
                return effects;
            }
            Event::ModelFailed { error } => return self.on_load_failed(error),
            Event::Inspected {
                source,
                found,
                n_free_bytes,
            } => return self.on_inspected(source, found, n_free_bytes),
            Event::DevicesListed(devices) => self.models.devices = Some(devices),
            Event::DeviceUnavailable { name, reason } => self.on_device_missing(&name, &reason),
            Event::LoadingCancelled => return self.on_loading_cancelled(),
            Event::ModelUnloaded => self.on_unloaded(),
            Event::PaneModel { source, update } => return self.on_pane_model(&source, update),
            Event::SecondModelLoading { fraction } => self.second_model.on_loading(fraction),
            Event::SecondModel(loaded) => return self.on_second_model(loaded),
            Event::SecondModelCancelled => return self.on_second_cancelled(),
            Event::Tokenized {
                prompt,
                model,
                tokens,
            } => {
                self.on_text_counted(&prompt, model.as_ref(), &tokens);
                if model.is_none() {
                    self.on_watermark_tokenized(&prompt, &tokens);
                    self.on_tokenized(prompt, tokens);
                }
            }
            Event::PromptChecked {
                prompt,
                model,
                check,
            } => self.on_prompt_checked(&prompt, model.as_ref(), &check),
            Event::CachedCounted { n_tokens, n_cached } => {
                self.on_cached_counted(n_tokens, n_cached);
            }
            Event::Progress(progress) => return self.on_progress(&progress),
            Event::Job { id, update } => return self.on_job(id, update),
            Event::Panicked { message } => return self.on_panicked(&message),
        }
        Vec::new()
    }

    pub(super) fn on_progress(&mut self, progress: &Progress) -> Vec<Effect> {
        if let Some(effects) = self.note_verification(progress) {
            return effects;
        }
        match progress {
            Progress::Prefilling {
                ids,
                n_read,
                n_tokens,
            } => self.on_prefill_progress(ids, *n_read, *n_tokens),
            Progress::Started { ids, prompt } => self.on_started(ids, prompt),
            Progress::Stepped { id, .. } | Progress::Compared { id, .. } => {
                if let Some(pane) = self.running_pane(*id) {
                    pane.note(progress);
                }
            }
            Progress::Finished { id, reason } => {
                self.note_refused_reading(*id, reason);
                if let Some(pane) = self.running_pane(*id) {
                    pane.finish_run(reason.clone());
                    return self.end_run();
                }
            }
        }
        Vec::new()
    }

    pub(super) fn running_pane(&mut self, id: GenerationId) -> Option<&mut Pane> {
        self.panes
            .iter_mut()
            .find(|pane| pane.status.running() == Some(id))
    }

    fn on_prefill_progress(&mut self, ids: &[GenerationId], n_read: usize, n_tokens: usize) {
        for id in ids {
            let Some(pane) = self.running_pane(*id) else {
                continue;
            };
            pane.status = match std::mem::replace(&mut pane.status, PaneStatus::Ready) {
                PaneStatus::Waiting { pending } | PaneStatus::Reading { pending, .. } => {
                    PaneStatus::Reading {
                        pending,
                        n_read,
                        n_tokens,
                    }
                }
                later => later,
            };
        }
    }

    fn on_started(&mut self, ids: &[GenerationId], prompt: &Arc<PromptRecord>) {
        let main = self.model.in_use().cloned();
        let second = self.second_model.clone();
        for id in ids {
            let Some(pane) = self.running_pane(*id) else {
                continue;
            };
            let pane_id = pane.id;
            let pending = match std::mem::replace(&mut pane.status, PaneStatus::Ready) {
                PaneStatus::Waiting { pending } | PaneStatus::Reading { pending, .. } => pending,
                later => {
                    pane.status = later;
                    continue;
                }
            };
            let PendingGeneration {
                id,
                name,
                config,
                previous,
                kept,
                own_model,
            } = pending;
            let is_main = own_model.is_none();
            let model = own_model.map_or_else(|| main.clone(), |own| own.ready);
            let Some(model) = model else {
                continue;
            };
            // The tokens that stay keep their pins.
            let continued = kept.is_some();
            let replaces = kept.as_ref().is_none_or(|kept| kept.replaces);
            let models = TextModels {
                model: model.info,
                second_model: None,
                vocabulary: model.vocabulary,
            };
            let mut text = match kept {
                // The vocabulary of a text from a file has only the tokens that occur in it.
                Some(kept) => Generation {
                    vocabulary: models.vocabulary,
                    beams: Arc::default(),
                    ..kept.text
                },
                None => Generation {
                    lineage: Lineage { id, origin: None },
                    ..Generation::begin(name, config, Arc::clone(prompt), models)
                },
            };
            let second = is_main.then(|| second.used_by(&text.config.chain));
            text.second_model = second.flatten();
            pane.status = PaneStatus::Writing(Recorder { id, text });
            match previous {
                Some(previous) if continued && replaces => self.keep_text(pane_id, previous),
                Some(previous) if replaces => self.keep_replaced(pane_id, previous),
                _ => {}
            }
            // The pinned token disappeared with the previous text.
            self.pin = self.pin.filter(|pin| continued || pin.pane != pane_id);
        }
    }

    fn on_panicked(&mut self, message: &str) -> Vec<Effect> {
        let was_running = self.is_running();
        self.verification = None;
        self.format_trial = None;
        for pane in self.panes.iter_mut().filter(|pane| pane.server().is_none()) {
            pane.status.finish(FinishReason::Failed {
                error: "the engine stopped unexpectedly".to_owned(),
            });
        }
        self.fail_runs("the engine stopped unexpectedly");
        self.model = ModelStatus::Lost;
        self.pending_sources.clear();
        self.models.opening = None;
        let notice = Notice::error(
            "The engine stopped unexpectedly",
            format!("Your texts are safe. The error was: {message}"),
        )
        .with_action("Restart", Command::RestartEngine);
        let mut effects = self.notify(notice);
        if was_running {
            effects.extend(self.keep_run());
        }
        effects
    }
}

//! Applies the events of the engine thread to the state.

use std::sync::Arc;

use super::{
    AppState, Command, Effect, ModelStatus, Notice, PaneStatus, ReadyModel, Runs, unix_time_secs,
};
use crate::generation::{
    FinishReason, ModelInfo, PromptRecord, PromptText, PromptToken, ServedModel,
};
use crate::state::listening;
use crate::state::models::open::Inspected;
use crate::state::panes::pane::{Begun, Start};
use crate::state::runs::RunContext;
use crate::worker::{Event, GenerationId, ModelSource, Progress, Recorder, ServerEvent};

impl AppState {
    /// Applies an event and returns the effects to run outside.
    ///
    /// Events of an abandoned generation are ignored.
    pub fn on_event(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = self.take_event(event);
        effects.extend(self.follow());
        effects
    }

    /// Applies an event from a server and returns the effects to run outside.
    pub fn on_server_event(&mut self, served: &ServedModel, event: ServerEvent) -> Vec<Effect> {
        let mut effects = if let ServerEvent::Progress(progress) = &event {
            let effects = self.on_progress(progress);
            if let Progress::Finished { reason, .. } = progress
                && matches!(reason, FinishReason::Failed { .. })
            {
                self.models.servers.connections.distrust(served);
            }
            effects
        } else if let ServerEvent::Job { id, update } = event {
            self.models.servers.on_list(served, id, &update);
            self.on_job(id, update)
        } else {
            let was_running = self.is_running();
            let servers = &mut self.models.servers;
            let ended = servers.on_event(served, event, &mut self.panes);
            let mut effects = self.end_lost_lists(ended);
            if was_running {
                effects.extend(self.end_run());
            }
            effects
        };
        effects.extend(self.follow());
        effects
    }

    fn take_event(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::ModelLoading { fraction } => self.models.on_loading(fraction),
            Event::ModelLoaded {
                info,
                vocabulary,
                recommended_sampling,
                chat,
                load_warning,
                second,
            } => {
                let effects = self.on_loaded(ReadyModel {
                    info,
                    vocabulary,
                    recommended_sampling,
                    chat,
                    load_warning,
                });
                self.models.second.on_first_loaded(second);
                return effects;
            }
            Event::ModelFailed { error } => return self.on_load_failed(error),
            Event::Inspected {
                source,
                found,
                n_free_bytes,
            } => {
                return self.on_inspected(Inspected {
                    source,
                    found,
                    n_free_bytes,
                });
            }
            Event::DevicesListed(devices) => self.models.devices = Some(devices),
            Event::DeviceUnavailable { name, reason } => {
                self.models.on_device_missing(&name, &reason);
            }
            Event::LoadingCancelled => return self.on_loading_cancelled(),
            Event::Beside(update) => self.on_beside(update),
            Event::ModelUnloaded => self.on_unloaded(),
            Event::PaneModel { source, update } => {
                if let Some(warning) = self.models.on_pane_model(&source, update) {
                    self.notify(warning);
                }
            }
            Event::SecondModelLoading { fraction } => self.models.second.on_loading(fraction),
            Event::SecondModel(loaded) => return self.on_second_model(loaded),
            Event::SecondModelCancelled => {
                self.models.second.on_cancelled();
                let (runs, mut context) = self.runs_in_context();
                return runs.begin_trial(&mut context);
            }
            Event::Tokenized {
                prompt,
                model,
                tokens,
            } => {
                self.on_tokenized(prompt, model.as_ref(), tokens);
            }
            Event::PromptChecked {
                prompt,
                model,
                check,
            } => {
                if let Some(verification) = &mut self.runs.verification {
                    verification.note_prompt(&prompt, model.as_ref(), &check);
                }
            }
            Event::CachedCounted { n_tokens, n_cached } => {
                self.branches.on_cached_counted(n_tokens, n_cached);
            }
            Event::Progress(progress) => return self.on_progress(&progress),
            Event::Job { id, update } => return self.on_job(id, update),
            Event::Panicked { message } => return self.on_panicked(&message),
        }
        Vec::new()
    }

    /// Counts the tokens of a prompt, or of a text in a dialog.
    fn on_tokenized(
        &mut self,
        prompt: PromptText,
        model: Option<&ModelSource>,
        tokens: Result<Vec<PromptToken>, String>,
    ) {
        if let Some(dialog) = &mut self.dialogs.score
            && dialog.local_model(&self.panes, &self.models).as_ref() == model
        {
            let n_tokens = tokens.as_ref().map(Vec::len).map_err(Clone::clone);
            dialog.on_counted(&prompt, n_tokens);
        }
        self.panes.on_next_prompt(&prompt, model, &tokens);
        if model.is_none() {
            if let Some(dialog) = &mut self.dialogs.watermark {
                dialog.on_tokenized(&prompt, &tokens, self.models.main.n_vocab());
            }
            self.prompt.on_tokenized(prompt, tokens);
        }
    }

    fn on_second_model(&mut self, loaded: Result<Option<Arc<ModelInfo>>, String>) -> Vec<Effect> {
        match self.models.second.on_loaded(loaded) {
            None => Vec::new(),
            Some(Ok(verifies)) => {
                let (runs, mut context) = self.runs_in_context();
                let mut effects = runs.begin_trial(&mut context);
                if verifies {
                    effects.extend(runs.verify(&mut context));
                }
                effects
            }
            Some(Err(error)) => self.notify(Notice::error("This run can’t be verified", error)),
        }
    }

    pub(super) fn on_progress(&mut self, progress: &Progress) -> Vec<Effect> {
        if let Some(effects) = listening::note(self, progress) {
            return effects;
        }
        let has_branches = !self.branches.kept.texts().is_empty();
        let (runs, mut context) = self.runs_in_context();
        if let Some(effects) = runs.note_verification(progress, has_branches, &mut context) {
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
                if let Some(pane) = self.panes.running(*id) {
                    pane.note(progress);
                }
            }
            Progress::Finished { id, reason } => {
                self.panes.note_refused_reading(*id, reason);
                if let Some(pane) = self.panes.running(*id) {
                    let refused = pane.asked_edit();
                    pane.finish_run(reason.clone());
                    let id = pane.id;
                    let given = std::mem::take(&mut pane.given);
                    if *reason == FinishReason::Scored && given.n_answers() > 0 {
                        pane.given = given;
                        let before = pane.latest().cloned();
                        return self.score_next_answer(id, before).into_iter().collect();
                    }
                    // What was typed must not be lost.
                    self.branches.message = self.branches.message.take().or(refused);
                    return self.end_run();
                }
            }
        }
        Vec::new()
    }

    fn on_prefill_progress(&mut self, ids: &[GenerationId], n_read: usize, n_tokens: usize) {
        for id in ids {
            let Some(pane) = self.panes.running(*id) else {
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
        let main = self.models.main.in_use().cloned();
        let second = self.models.second.clone();
        if self.panes.shown_turn().is_some() {
            // The views go to what is being written.
            self.pin = None;
            self.panes.show_turn(None);
        }
        self.take_message(prompt);
        for id in ids {
            let Some(pane) = self.panes.running(*id) else {
                continue;
            };
            let pane_id = pane.id;
            let mut pending = match std::mem::replace(&mut pane.status, PaneStatus::Ready) {
                PaneStatus::Waiting { pending } | PaneStatus::Reading { pending, .. } => pending,
                later => {
                    pane.status = later;
                    continue;
                }
            };
            let own_model = pending.own_model.take();
            let is_main = own_model.is_none();
            let model = own_model.map_or_else(|| main.clone(), |own| own.ready);
            let Some(model) = model else {
                continue;
            };
            // The tokens that stay keep their pins.
            let continued = matches!(pending.start, Start::Text(_));
            let id = pending.id;
            let Begun { mut text, replaced } = pending.begin(prompt, &model);
            let second = is_main.then(|| second.used_by(&text.config.chain));
            text.second_model = second.flatten();
            pane.status = PaneStatus::Writing(Recorder { id, text });
            match replaced {
                Some(replaced) if continued => {
                    self.branches.keep(pane_id, replaced, self.memory);
                }
                Some(replaced) => {
                    self.branches
                        .keep_replaced(pane_id, replaced, &self.panes, self.memory);
                }
                None => {}
            }
            // The pinned token disappeared with the previous text.
            self.pin = self.pin.filter(|pin| continued || pin.pane != pane_id);
        }
    }

    /// Returns the runs, and what verifying one needs besides.
    pub(super) fn runs_in_context(&mut self) -> (&mut Runs, RunContext<'_>) {
        let context = RunContext {
            panes: &self.panes,
            models: &mut self.models,
            view: &mut self.view,
            notices: &mut self.notices,
            last_id: &mut self.last_id,
        };
        (&mut self.runs, context)
    }

    /// Ends the run and keeps it in the history. Call it when a text has ended; it does nothing while
    /// another one is being generated.
    pub(super) fn end_run(&mut self) -> Vec<Effect> {
        if self.is_running() {
            return Vec::new();
        }
        self.branches.drop_repeated(&self.panes);
        self.runs.end(&self.panes);
        // In step mode, the shown token is the newest one, unless the user pins another.
        if !self.is_step_mode() {
            self.pin = self.pin.or_else(|| self.panes.fork(&self.divergence()));
        }
        self.runs.finished_at = Some(unix_time_secs());
        self.keep_run().into_iter().collect()
    }

    fn on_panicked(&mut self, message: &str) -> Vec<Effect> {
        let was_running = self.is_running();
        self.runs.verification = None;
        self.runs.format_trial = None;
        listening::stop_asking(self);
        for pane in self.panes.iter_mut().filter(|pane| pane.server().is_none()) {
            pane.status.finish(FinishReason::Failed {
                error: "the engine stopped unexpectedly".to_owned(),
            });
        }
        let mut effects = self.fail_runs(None, "the engine stopped unexpectedly");
        self.models.main = ModelStatus::Lost;
        self.models.pending.clear();
        self.models.opening = None;
        self.models.reopening = None;
        let notice = Notice::error(
            "The engine stopped unexpectedly",
            format!("Your texts are safe. The error was: {message}"),
        )
        .with_action("Restart", Command::RestartEngine);
        effects.extend(self.notify(notice));
        if was_running {
            self.runs.finished_at = Some(unix_time_secs());
            effects.extend(self.keep_run());
        }
        effects
    }
}

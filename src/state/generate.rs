//! The requests that generate, continue and score texts.

use std::sync::Arc;

use super::{
    AppState, BranchTarget, Effect, Page, Pane, PaneId, PaneStatus, ScoreDialog, ScoreReadiness,
};
use crate::analysis::{GivenAnswer, GivenConversation};
use crate::generation::{Continuation, Generation, GenerationConfig, Limits, Lineage, Origin};
use crate::state::branches::{ContinueRequest, Extension, Upcoming};
use crate::state::conversation::Ask;
use crate::state::pane_models::OwnModel;
use crate::state::panes::pane::{Kept, NewText, Start};
use crate::state::servers::grouped;
use crate::worker::{GenerationId, PaneRequest, Request, ServerRequest};

impl AppState {
    /// Remembers the texts that a run of all panes is about to replace.
    fn begin_run(&mut self) {
        let is_rerun = !self.output_is_stale();
        self.runs.begin(&self.panes, is_rerun);
    }

    /// Returns the request to keep the texts on screen, if they are a finished run.
    pub(super) fn keep_run(&self) -> Option<Effect> {
        self.runs
            .keep(&self.panes)
            .filter(|_| self.hidden().is_none())
    }

    pub(super) fn generate_all(&mut self) -> Vec<Effect> {
        if self.is_running() || self.blocking_reason().is_some() {
            return Vec::new();
        }
        self.begin_run();
        let places = self.valid_places();
        self.request_generation(&places, None)
    }

    /// Continues the prompt in these panes. In step mode, pauses after `pause_after` tokens.
    pub(super) fn generate_in(
        &mut self,
        places: &[usize],
        pause_after: Option<usize>,
    ) -> Vec<Effect> {
        if self.blocking_reason().is_some() {
            return Vec::new();
        }
        self.begin_run();
        self.request_generation(places, pause_after)
    }

    /// Returns the places of the panes whose settings are valid, except those that keep a given
    /// text.
    pub(super) fn valid_places(&self) -> Vec<usize> {
        let is_valid = |place: &usize| {
            let pane = self.panes.get(*place);
            pane.is_some_and(|pane| {
                let is_blocked =
                    self.uses_several_models() && self.blocking_reason_of(pane).is_some();
                let is_valid = pane.settings.chain.validate().is_ok();
                let is_left_out = pane.is_left_out && self.is_replying();
                is_valid && !is_blocked && !is_left_out && !self.panes.keeps_given_text(pane)
            })
        };
        self.panes.places().filter(is_valid).collect()
    }

    pub(crate) fn generate_one(&mut self, id: PaneId) -> Vec<Effect> {
        let Some(place) = self.place_of(id) else {
            return Vec::new();
        };
        if let Some(effects) = self.answer_one(id) {
            return effects;
        }
        let possible = self
            .pane(id)
            .is_some_and(|pane| self.blocking_reason_of(pane).is_none());
        if !possible {
            return Vec::new();
        }
        let mut effects: Vec<Effect> = self.panes.stop(id).into_iter().collect();
        effects.extend(self.request_generation(&[place], None));
        effects
    }

    /// Requests the next text of each of these panes. Those that continue the same prompt decode
    /// together.
    fn request_generation(&mut self, places: &[usize], pause_after: Option<usize>) -> Vec<Effect> {
        let panes = places.iter().filter_map(|place| self.panes.get(*place));
        let asks: Vec<Ask> = panes.map(|pane| self.next_turn(pane)).collect();
        if asks.iter().all(|ask| ask.new.previous_turn.is_none()) {
            self.runs.number += 1;
        } else if self.panes.n_turns() == 1 {
            // The second turn needs the space. A pressed token opens the dock again.
            self.view.dock_open = Some(false);
        }
        for pane in &mut self.panes {
            if places.contains(&pane.place) {
                pane.n_to_leave_out = 0;
            }
        }
        self.request_texts(asks, pause_after)
    }

    /// Requests these texts. In step mode, pauses after `pause_after` tokens.
    pub(in crate::state) fn request_texts(
        &mut self,
        asks: Vec<Ask>,
        pause_after: Option<usize>,
    ) -> Vec<Effect> {
        let asked = asks.iter().filter_map(|ask| self.place_of(ask.pane));
        let places: Vec<usize> = asked.collect();
        let n_detail_bytes =
            self.memory
                .detail_bytes_per_step(&places, &self.panes, self.max_steps());
        let mut requests = Vec::new();
        for Ask { pane, prompt, new } in asks {
            let Some(pane) = self.panes.pane(pane) else {
                continue;
            };
            let (id_of_pane, config) = (pane.id, self.config_of(pane));
            let own = self.models.own(pane);
            let (served, model) = OwnModel::address(own.as_ref());
            self.last_id += 1;
            let id = GenerationId(self.last_id);
            if let Some(pane) = self.panes.pane_mut(id_of_pane) {
                pane.wait_for(id, config.clone(), own, Start::Prompt(new));
                // The last token before the pause is only previewed.
                pane.upcoming = pause_after
                    .map(|n_tokens| Upcoming::expected(id, n_tokens - 1, config.clone()));
                let request = PaneRequest {
                    id,
                    config,
                    model,
                    continuation: Continuation {
                        pause_after,
                        ..Continuation::default()
                    },
                };
                requests.push((prompt, (served, request)));
            }
        }
        let mut effects = Vec::new();
        for (prompt, requests) in grouped(requests) {
            let to_engine = |panes| Request::Generate {
                prompt: prompt.clone(),
                panes,
                n_detail_bytes,
            };
            let to_server = |panes| ServerRequest::Generate {
                prompt: prompt.clone(),
                panes,
            };
            effects.extend(
                self.models
                    .servers
                    .send(&self.panes, requests, to_engine, to_server),
            );
        }
        effects
    }

    /// Runs all panes with the next seed.
    pub(super) fn try_another_seed(&mut self) -> Vec<Effect> {
        if self.is_replying() && self.prompt.text.is_empty() {
            return self.answer_again_in_all();
        }
        if self.is_running() || self.blocking_reason().is_some() {
            return Vec::new();
        }
        self.seed = self.seed.wrapping_add(1);
        self.generate_all()
    }

    pub(super) fn score_text(&mut self) -> Vec<Effect> {
        let Some(dialog) = self.dialogs.score.clone() else {
            return Vec::new();
        };
        let n_tokens = match dialog.readiness(&self.panes, &self.models) {
            // Only its answers count.
            ScoreReadiness::Answers { .. } => None,
            ScoreReadiness::Fits { n_tokens } => Some(n_tokens),
            ScoreReadiness::TooLong { n_max, .. } => Some(n_max),
            _ => return Vec::new(),
        };
        let Some(place) = self.score_place(&dialog) else {
            return Vec::new();
        };
        self.dialogs.score = None;
        match (n_tokens, dialog.conversation(), self.panes.get(place)) {
            (Some(n_tokens), ..) => self.score_in(place, dialog.text, n_tokens),
            (None, Some(given), Some(pane)) => self.score_conversation(pane.id, given.clone()),
            (None, ..) => Vec::new(),
        }
    }

    /// Scores at most `n_tokens` tokens of a text in the pane at `place`.
    pub(super) fn score_in(&mut self, place: usize, text: String, n_tokens: usize) -> Vec<Effect> {
        let Some(pane) = self.panes.get(place).map(|pane| pane.id) else {
            return Vec::new();
        };
        let mut effects: Vec<Effect> = self.panes.stop(pane).into_iter().collect();
        let limits = Limits {
            max_new_tokens: n_tokens.saturating_sub(1),
            ..self.limits.clone()
        };
        let request = self.score_request(pane, limits, NewText::default());
        effects.extend(request.map(|(pane, n_detail_bytes)| {
            Effect::Send(Request::Score {
                text,
                n_first: Some(n_tokens),
                panes: vec![pane],
                n_detail_bytes,
            })
        }));
        effects
    }

    /// Scores the answers of a conversation in a pane, under its settings.
    fn score_conversation(&mut self, id: PaneId, given: GivenConversation) -> Vec<Effect> {
        let mut effects: Vec<Effect> = self.panes.stop(id).into_iter().collect();
        if let Some(pane) = self.panes.pane_mut(id) {
            pane.given = given;
        }
        effects.extend(self.score_next_answer(id, None));
        effects
    }

    /// Scores the next answer of the conversation that was given to a pane, if there is one.
    pub(super) fn score_next_answer(
        &mut self,
        id: PaneId,
        before: Option<Generation>,
    ) -> Option<Effect> {
        let given = &mut self.panes.pane_mut(id)?.given;
        let GivenAnswer { prompt, answer } = given.take_next(before.as_ref())?;
        let new = NewText {
            message: Some(prompt.text.clone()),
            previous_turn: before.map(Arc::new),
            origin: None,
        };
        let (pane, n_detail_bytes) = self.score_request(id, self.limits.clone(), new)?;
        Some(Effect::Send(Request::ScoreAnswer {
            prompt,
            answer,
            panes: vec![pane],
            n_detail_bytes,
        }))
    }

    /// Lets a pane wait for a text that is scored under its settings. Returns what the engine is asked
    /// for it, and how much memory a step may use.
    fn score_request(
        &mut self,
        pane: PaneId,
        limits: Limits,
        new: NewText,
    ) -> Option<(PaneRequest, usize)> {
        let (place, max_steps) = (self.place_of(pane)?, self.max_steps());
        let memory = self.memory;
        let n_detail_bytes = memory.detail_bytes_per_step(&[place], &self.panes, max_steps);
        let shown = self.pane(pane)?;
        let (config, own) = (self.config_of(shown), self.models.own(shown));
        let config = GenerationConfig { limits, ..config };
        let model = OwnModel::local(own.as_ref());
        self.last_id += 1;
        let id = GenerationId(self.last_id);
        let waiting = self.panes.pane_mut(pane)?;
        waiting.wait_for(id, config.clone(), own, Start::Prompt(new));
        let request = PaneRequest {
            id,
            config,
            model,
            continuation: Continuation::default(),
        };
        Some((request, n_detail_bytes))
    }

    /// Returns the place of the pane that shows the scored text, which may be a new one.
    fn score_place(&mut self, dialog: &ScoreDialog) -> Option<usize> {
        let place = self.place_of(dialog.pane)?;
        if dialog.target == BranchTarget::InPlace || !self.panes.has_room() {
            return Some(place);
        }
        let mut settings = self.panes.get(place)?.settings.clone();
        "Text".clone_into(&mut settings.name);
        let id = self.next_pane_id();
        self.panes.push(Pane::new(id, settings));
        self.place_of(id)
    }

    pub(super) fn continue_text(&mut self, id: PaneId) -> Vec<Effect> {
        let request = self.continuation_request(id);
        self.send_continuations(request.into_iter().collect())
    }

    /// Continues a text, possibly in another pane.
    pub(super) fn request_branch(
        &mut self,
        pane: PaneId,
        text: Generation,
        extension: Extension,
    ) -> Vec<Effect> {
        let request = self.extension_request(pane, text, extension);
        self.send_continuations(request.into_iter().collect())
    }

    pub(super) fn continuation_request(&mut self, id: PaneId) -> Option<ContinueRequest> {
        let pane = self.pane(id).filter(|pane| self.can_continue(pane))?;
        let text = pane.latest()?.clone();
        let extension = Extension {
            n_kept: text.steps.len(),
            ..Extension::default()
        };
        self.extension_request(id, text, extension)
    }

    pub(in crate::state) fn extension_request(
        &mut self,
        id: PaneId,
        mut text: Generation,
        extension: Extension,
    ) -> Option<ContinueRequest> {
        let pane = self.pane(id)?;
        let (mut config, own) = (self.config_of(pane), self.models.own(pane));
        let (served, model) = OwnModel::address(own.as_ref());
        let n_given = extension.n_kept + extension.by_hand.len();
        if n_given >= config.limits.max_new_tokens {
            // A text that has reached the limit may grow by as many tokens again.
            config.limits.max_new_tokens += n_given;
        }
        self.last_id += 1;
        let generation_id = GenerationId(self.last_id);
        let pane = self.panes.pane_mut(id)?;
        text.go_on(extension.n_kept, config.clone());
        text.finish = None;
        text.grammar_complete = None;
        if let Some(change) = extension.branches_by {
            text.lineage = Lineage {
                id: generation_id,
                origin: Some(Origin {
                    parent: text.lineage.id,
                    position: extension.n_kept,
                    change,
                }),
            };
        }
        let upcoming = extension
            .n_shown
            .map(|n_shown| Upcoming::expected(text.lineage.id, n_shown, config.clone()));
        let last = text.steps.last();
        let continuation = Continuation {
            kept: text.steps.iter().map(|step| step.token).collect(),
            selector_state: last
                .map(|step| step.trace.selector_state)
                .unwrap_or_default(),
            at_secs: last.map_or(0.0, |step| step.time.at_secs),
            by_hand: extension.by_hand,
            repeated: Vec::new(),
            reads: extension.reads,
            pause_after: extension.pause_after,
        };
        let prompt = Arc::clone(&text.prompt);
        let kept = Kept {
            text,
            replaces: extension.branches_by.is_some(),
        };
        pane.wait_for(
            generation_id,
            config.clone(),
            own,
            Start::Text(Box::new(kept)),
        );
        pane.upcoming = upcoming;
        let request = PaneRequest {
            id: generation_id,
            config,
            model,
            continuation,
        };
        Some((prompt, (served, request)))
    }

    /// Sends requests, grouped by their prompt, so that the texts of one prompt decode together.
    pub(in crate::state) fn send_continuations(
        &mut self,
        requests: Vec<ContinueRequest>,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for (prompt, panes) in grouped(requests) {
            let to_engine = |panes| Request::Continue {
                prompt: Arc::clone(&prompt),
                panes,
            };
            let to_server = |panes| ServerRequest::Continue {
                prompt: Arc::clone(&prompt),
                panes,
            };
            effects.extend(
                self.models
                    .servers
                    .send(&self.panes, panes, to_engine, to_server),
            );
        }
        effects
    }

    /// Lets a pane read along with another pane, or go back to writing its own texts.
    pub(super) fn read_along(&mut self, id: PaneId, with: Option<PaneId>) -> Vec<Effect> {
        let is_possible = with.is_none_or(|with| {
            self.panes
                .read_along_reason(id, with, &self.models)
                .is_none()
        });
        let mut effects: Vec<Effect> = self.panes.stop(id).into_iter().collect();
        if let Some(pane) = self.panes.pane_mut(id)
            && is_possible
        {
            pane.refused_reading = None;
            let has_read = std::mem::replace(&mut pane.reads, with).is_some() && with.is_none();
            self.page = Page::Write;
            if has_read {
                self.set_reading_aside(id);
            }
        }
        effects.extend(self.follow_readers());
        effects
    }

    /// Empties a pane for its own texts. What it has read can be shown again.
    fn set_reading_aside(&mut self, id: PaneId) {
        let pane = self.panes.pane_mut(id);
        let status = pane.map(|pane| std::mem::replace(&mut pane.status, PaneStatus::Ready));
        if let Some(read) = status.and_then(PaneStatus::into_generation) {
            self.branches.keep(id, read, self.memory);
        }
    }

    /// Lets the panes that read along catch up with the texts that they read.
    pub(super) fn follow_readers(&mut self) -> Vec<Effect> {
        let known: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        for pane in &mut self.panes {
            pane.reads.take_if(|with| !known.contains(with));
        }
        let readers = self.panes.iter().filter(|pane| pane.reads.is_some());
        let readers: Vec<PaneId> = readers.map(|pane| pane.id).collect();
        let requests: Vec<ContinueRequest> = readers
            .into_iter()
            .filter_map(|id| self.reading_request(id))
            .collect();
        if requests.is_empty() {
            return Vec::new();
        }
        self.send_continuations(requests)
    }

    /// Returns the request to read what the other pane has written since.
    fn reading_request(&mut self, id: PaneId) -> Option<ContinueRequest> {
        let pane = self.pane(id)?;
        if self.runs.opened.is_some() || self.blocking_reason_of(pane).is_some() {
            return None;
        }
        let reading = self.panes.more_to_read(id, &self.models)?;
        let extension = reading.extension();
        // Nothing else has this id.
        let new_id = GenerationId(self.last_id + 1);
        let read = reading.read.cloned();
        let read = read.unwrap_or_else(|| reading.begin(new_id, self.config_of(pane)));
        self.last_id += 1;
        let own = self.pane(id).and_then(Pane::latest);
        if let Some(own) = own.filter(|own| !own.is_scored()).cloned() {
            self.branches.keep(id, own, self.memory);
        }
        self.extension_request(id, read, extension)
    }
}

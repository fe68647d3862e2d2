//! Step mode: one token at a time, with a preview of the next draw.
//!
//! The engine always computes one token more than the text shows. Space reveals that token; picking
//! another one by hand discards it.

use super::requests::Extension;
use crate::decoding::TokenId;
use crate::generation::hosts::STEPS;
use crate::generation::{FinishReason, Generation, GenerationConfig, GenerationId, Step};
use crate::state::{AppState, Effect, Pane, PaneId, PaneStatus};
use crate::worker::Progress;

/// The token that the chain would add next.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Upcoming {
    text: GenerationId,
    /// How many steps the text has without it.
    n_shown: usize,
    /// The settings that it was drawn with.
    config: GenerationConfig,
    /// `None` until the engine has computed it.
    step: Option<Step>,
    /// Why the text ends after it.
    finish: FinishReason,
}

impl Upcoming {
    /// Expects the token after the first `n_shown` of a text.
    pub(in crate::state) const fn expected(
        text: GenerationId,
        n_shown: usize,
        config: GenerationConfig,
    ) -> Self {
        Self {
            text,
            n_shown,
            config,
            step: None,
            finish: FinishReason::Paused,
        }
    }

    /// Returns whether it comes right after the end of this text.
    fn follows(&self, text: &Generation) -> bool {
        self.text == text.lineage.id && self.n_shown == text.steps.len()
    }
}

impl Pane {
    /// Records what happened to the text. A token that is only previewed is not added to it.
    pub(in crate::state) fn note(&mut self, progress: &Progress) {
        let PaneStatus::Writing(recorder) = &mut self.status else {
            return;
        };
        match (&mut self.upcoming, progress) {
            (Some(upcoming), Progress::Stepped { step, .. })
                if upcoming.follows(&recorder.text) && upcoming.step.is_none() =>
            {
                upcoming.step = Some(Step::clone(step));
            }
            _ => {
                recorder.note(progress);
            }
        }
    }

    /// Ends the generation in progress. If a token is previewed, the text only pauses before it.
    pub(in crate::state) fn finish_run(&mut self, reason: FinishReason) {
        match &mut self.upcoming {
            Some(upcoming) if upcoming.step.is_some() => {
                upcoming.finish = reason;
                self.status.finish(FinishReason::Paused);
            }
            _ => {
                self.upcoming = None;
                self.status.finish(reason);
            }
        }
    }
}

impl AppState {
    /// Returns the step that the chain would add next to a pane's text, in step mode.
    pub fn upcoming(&self, place: usize) -> Option<&Step> {
        let pane = self.panes.get(place).filter(|_| self.is_step_mode())?;
        let upcoming = pane.upcoming.as_ref()?;
        let text = pane.generation()?;
        let is_valid = pane.status.running().is_none()
            && upcoming.follows(text)
            && upcoming.config.chain == pane.settings.chain
            && upcoming.config.seed == self.seed_of(pane);
        upcoming.step.as_ref().filter(|_| is_valid)
    }

    /// Returns the place of the pane whose next token the user can pick: the one that steps alone,
    /// or else the selected one.
    pub fn sampler_place(&self) -> Option<usize> {
        if !self.is_step_mode() {
            return None;
        }
        let alone = self.step_pane.and_then(|id| self.place_of(id));
        let selected = || self.shown_step().map(|(place, _)| place);
        alone.or_else(selected)
    }

    /// Returns whether the user can pick the next token of this pane's text by hand.
    pub fn can_pick(&self, id: PaneId) -> bool {
        let pane = self.pane(id).filter(|_| self.is_step_mode());
        pane.is_some_and(|pane| self.can_continue(pane))
    }

    /// Adds one token to every text that steps. Starts with the prompt if it or the model changed
    /// since the last run.
    pub(super) fn step(&mut self) -> Vec<Effect> {
        if self.is_running() {
            return Vec::new();
        }
        let places = self.step_places();
        if self.starts_with_prompt(&places) {
            // The second token is only previewed.
            return self.generate_in(&places, Some(2));
        }
        let panes = places.iter().filter_map(|place| self.panes.get(*place));
        let ids: Vec<PaneId> = panes.map(|pane| pane.id).collect();
        let mut any_revealed = false;
        let mut requests = Vec::new();
        for id in ids {
            let is_revealed = self.reveal(id);
            any_revealed |= is_revealed;
            let n_new = usize::from(!is_revealed);
            requests.extend(self.look_ahead(id, Vec::new(), n_new));
        }
        if requests.is_empty() && any_revealed {
            // The last texts have ended, and nothing is left to generate.
            return self.keep_run();
        }
        self.send_continuations(requests)
    }

    /// Adds tokens that the user picked to a text, whatever the chain would have drawn.
    pub(super) fn pick(&mut self, id: PaneId, tokens: Vec<TokenId>) -> Vec<Effect> {
        if !self.can_pick(id) || tokens.is_empty() {
            return Vec::new();
        }
        let n_new = tokens.len();
        let request = self.look_ahead(id, tokens, n_new);
        self.send_continuations(request.into_iter().collect())
    }

    /// Returns whether any of these texts does not belong to the current prompt and model, so that
    /// all of them start over.
    fn starts_with_prompt(&self, places: &[usize]) -> bool {
        let is_new = |pane: &Pane| {
            let model = self.model_of(pane).map(|model| &model.info);
            pane.generation().is_none_or(|generation| {
                !self.is_prompt_of(&generation.prompt)
                    || Some(&generation.model) != model
                    || generation.steps.is_empty()
            })
        };
        let mut panes = places.iter().filter_map(|place| self.panes.get(*place));
        panes.any(is_new)
    }

    /// Returns whether any text that steps can run to its end.
    pub fn can_keep_running(&self) -> bool {
        let places = self.step_places();
        if self.is_running() || self.question_reason().is_some() {
            return false;
        }
        if self.starts_with_prompt(&places) {
            return self.blocking_reason().is_none();
        }
        let mut panes = places.iter().filter_map(|place| self.panes.get(*place));
        panes.any(|pane| self.can_continue(pane))
    }

    /// Runs all texts that step to their ends, at full speed.
    pub(super) fn keep_running(&mut self) -> Vec<Effect> {
        let places = self.step_places();
        if !self.can_keep_running() {
            return Vec::new();
        }
        if self.starts_with_prompt(&places) {
            return self.generate_in(&places, None);
        }
        let panes = places.iter().filter_map(|place| self.panes.get(*place));
        let ids: Vec<PaneId> = panes.map(|pane| pane.id).collect();
        let requests = ids
            .into_iter()
            .filter_map(|id| self.continuation_request(id));
        let requests = requests.collect();
        self.send_continuations(requests)
    }

    /// Removes the last token of every text that steps. It becomes the upcoming one again.
    pub(super) fn step_back(&mut self) -> Vec<Effect> {
        if self.opened.is_some() {
            return Vec::new();
        }
        for place in self.step_places() {
            let Some(pane) = self.panes.get_mut(place) else {
                continue;
            };
            let PaneStatus::Finished(text) = &mut pane.status else {
                continue;
            };
            if let Some(step) = text.steps.pop() {
                let finish = text.finish.take();
                text.end(FinishReason::Paused);
                let by_chain = !step.trace.draw.is_by_hand();
                pane.upcoming = by_chain.then(|| Upcoming {
                    step: Some(step),
                    finish: finish.unwrap_or(FinishReason::Paused),
                    ..Upcoming::expected(text.lineage.id, text.steps.len(), text.config.clone())
                });
            }
        }
        self.pin = self.pin.filter(|_| self.pinned().is_some());
        Vec::new()
    }

    /// Returns the positions of the panes that step: one, or all whose settings are valid. Beam
    /// search produces its text as a whole, so it never steps.
    pub(super) fn step_places(&self) -> Vec<usize> {
        let alone = self.step_pane.and_then(|id| self.place_of(id));
        let mut places = alone.map_or_else(|| self.valid_places(), |place| vec![place]);
        places.retain(|place| {
            let pane = self.panes.get(*place);
            pane.is_some_and(|pane| STEPS.runs(&pane.settings.chain))
        });
        places
    }

    /// Adds the upcoming token to the text. Returns whether it was known.
    fn reveal(&mut self, id: PaneId) -> bool {
        let Some(place) = self.place_of(id) else {
            return false;
        };
        let Some(step) = self.upcoming(place).cloned() else {
            return false;
        };
        let Some(pane) = self.panes.get_mut(place) else {
            return false;
        };
        let finish = pane.upcoming.take().map(|upcoming| upcoming.finish);
        if let PaneStatus::Finished(text) = &mut pane.status {
            text.steps.push(step);
            if let Some(finish) = finish {
                text.end(finish);
            }
        }
        true
    }

    /// Requests `n_new` further tokens of a text, starting with those picked by hand, and one to
    /// preview.
    fn look_ahead(
        &mut self,
        id: PaneId,
        by_hand: Vec<TokenId>,
        n_new: usize,
    ) -> Option<super::requests::ContinueRequest> {
        let pane = self.pane(id).filter(|pane| self.can_continue(pane))?;
        let text = pane.generation()?.clone();
        let n_kept = text.steps.len();
        let extension = Extension {
            n_kept,
            by_hand,
            pause_after: Some(n_new + 1),
            n_shown: Some(n_kept + n_new),
            ..Extension::default()
        };
        self.extension_request(id, text, extension)
    }
}

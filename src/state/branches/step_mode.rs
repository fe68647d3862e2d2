//! Step mode: one token at a time, with a preview of the next draw.
//!
//! The engine always computes one token more than the text shows. Space reveals that token; picking
//! another one by hand discards it.

use crate::generation::{FinishReason, Generation, GenerationConfig, GenerationId, Step};
use crate::state::{Pane, PaneStatus};
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

    /// Returns the step that the chain would add next to the text.
    pub(super) fn upcoming(&self, shared_seed: u64) -> Option<&Step> {
        let upcoming = self.upcoming.as_ref()?;
        let is_valid = self.status.running().is_none()
            && upcoming.follows(self.latest()?)
            && upcoming.config.chain == self.settings.chain
            && upcoming.config.seed == self.settings.seed.unwrap_or(shared_seed);
        upcoming.step.as_ref().filter(|_| is_valid)
    }

    /// Adds the upcoming token to the text. Returns whether it was known.
    pub(super) fn reveal(&mut self, shared_seed: u64) -> bool {
        let Some(step) = self.upcoming(shared_seed).cloned() else {
            return false;
        };
        let finish = self.upcoming.take().map(|upcoming| upcoming.finish);
        if let PaneStatus::Finished(text) = &mut self.status {
            text.steps.push(step);
            if let Some(finish) = finish {
                text.end(finish);
            }
        }
        true
    }

    /// Removes the last token of the text. It becomes the upcoming one again.
    pub(super) fn step_back(&mut self) {
        let PaneStatus::Finished(text) = &mut self.status else {
            return;
        };
        if let Some(step) = text.steps.pop() {
            let finish = text.finish.take();
            text.end(FinishReason::Paused);
            let by_chain = !step.trace.draw.is_by_hand();
            self.upcoming = by_chain.then(|| Upcoming {
                step: Some(step),
                finish: finish.unwrap_or(FinishReason::Paused),
                ..Upcoming::expected(text.lineage.id, text.steps.len(), text.config.clone())
            });
        }
    }
}

//! A question that was missed in another lesson comes back after the last step, as a question like
//! any other: the window is set up as it was there, and the prediction counts.

use std::collections::{BTreeMap, BTreeSet};

use super::run::{Again, LessonPhase};
use super::{LessonRun, Lessons};
use crate::lessons::{Origin, Prediction, Question};
use crate::state::{Pane, Panes, Pin};

impl LessonRun {
    /// Returns where the question is from, if it came back.
    pub(super) fn origin(&self) -> Option<Origin> {
        self.again.as_ref().map(|again| Origin {
            lesson: again.lesson.id.clone(),
            step: again.step,
        })
    }
}

impl LessonRun {
    /// Ends the lesson without the question that came back. Returns whether there is one.
    pub(super) fn skip_again(&mut self) -> bool {
        let skips = self.again.is_some() && self.phase < LessonPhase::See;
        if skips {
            self.queue.clear();
            self.phase = LessonPhase::Ending;
        }
        skips
    }

    /// Returns the position of the pane in which the learner must mark a token now, and how many
    /// tokens there are to choose from.
    pub(super) fn marked_pane(&self) -> Option<(usize, usize)> {
        match self.step()?.question {
            Question::Mark { pane, n_tokens, .. } if self.phase == LessonPhase::Predict => {
                Some((pane, n_tokens))
            }
            _ => None,
        }
    }

    /// Marks the token with this number as the learner's guess, and pins it if it has been generated.
    pub(super) fn mark_token(&mut self, number: usize, panes: &Panes, pinned: &mut Option<Pin>) {
        let Some((place, n_tokens)) = self.marked_pane() else {
            return;
        };
        let number = number.clamp(1, n_tokens);
        self.guess.mark = Some(number);
        let pane = panes.get(place);
        let written = pane.and_then(Pane::generation);
        let n_written = written.map_or(0, |text| text.steps.len());
        let pin = pane.map(|pane| Pin {
            pane: pane.id,
            step: number - 1,
        });
        *pinned = pin.filter(|_| number <= n_written);
    }

    /// Takes the pinned token as the learner's guess, if the question asks for a mark.
    pub(super) fn mark_pinned(&mut self, pin: Option<Pin>, panes: &Panes) {
        let Some((place, n_tokens)) = self.marked_pane() else {
            return;
        };
        let pinned = pin.filter(|pin| panes.place_of(pin.pane) == Some(place));
        if let Some(pin) = pinned.filter(|pin| pin.step < n_tokens) {
            self.guess.mark = Some(pin.step + 1);
        }
    }

    /// Goes on to a question of another lesson.
    pub(super) fn come_back(&mut self, again: Again) {
        self.again = Some(again);
        self.phase = LessonPhase::Preparing;
    }
}

impl Lessons {
    /// Returns the questions of other lessons that were missed and not answered well since, as the
    /// index of the lesson and of its step. The costliest comes first.
    pub fn missed(&self) -> Vec<(usize, usize)> {
        let current = self.run.as_ref().map(|run| run.lesson.id.as_str());
        let made = self.predictions();
        let corrected = corrected(&made);
        let mut missed = Vec::new();
        for (index, lesson) in self.list.iter().enumerate() {
            if Some(lesson.id.as_str()) == current {
                continue;
            }
            let own = made.get(&lesson.id).into_iter().flatten();
            let own = own.filter(|made| made.from.is_none());
            let steps = own.enumerate().take(lesson.steps.len());
            for (step, made) in steps {
                let is_corrected = corrected.contains(&(lesson.id.as_str(), step));
                if made.score.is_missed() && !is_corrected {
                    missed.push((made.score.excess(), (index, step)));
                }
            }
        }
        missed.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        missed.into_iter().map(|(_, question)| question).collect()
    }
}

/// Returns the questions that were answered well when they came back, by lesson and step.
fn corrected(made: &BTreeMap<String, Vec<Prediction>>) -> BTreeSet<(&str, usize)> {
    let all = made.values().flatten();
    let well = all.filter(|made| !made.score.is_missed());
    let from = well.filter_map(|made| made.from.as_ref());
    from.map(|from| (from.lesson.as_str(), from.step)).collect()
}

//! A question that was missed in another lesson comes back after the last step, as a question like
//! any other: the window is set up as it was there, and the prediction counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::run::{Again, LessonPhase};
use super::{LessonRun, Lessons};
use crate::lessons::{Origin, Prediction, Question};
use crate::state::{AppState, Effect, Pin};

impl LessonRun {
    /// Returns where the question is from, if it came back.
    pub(super) fn origin(&self) -> Option<Origin> {
        self.again.as_ref().map(|again| Origin {
            lesson: again.lesson.id.clone(),
            step: again.step,
        })
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

impl AppState {
    /// Sets the window up for a question that was missed in another lesson, if there is one.
    pub(super) fn ask_again(&mut self) -> Vec<Effect> {
        let missed = self.lessons.missed().into_iter();
        let mut missed = missed.filter_map(|(index, step)| {
            let lesson = Arc::clone(self.lessons.list.get(index)?);
            let can_come = self.lesson_blocked(&lesson).is_none();
            can_come.then_some(Again { lesson, step })
        });
        let Some(again) = missed.next() else {
            return Vec::new();
        };
        if let Some(run) = self.lessons.run_mut() {
            run.again = Some(again);
            run.phase = LessonPhase::Preparing;
        }
        self.set_up_step(false)
    }

    /// Ends the lesson without the question that came back.
    pub(super) fn skip_again(&mut self) -> Vec<Effect> {
        let Some(run) = self.lessons.run_mut() else {
            return Vec::new();
        };
        if run.again.is_none() || run.phase >= LessonPhase::See {
            return Vec::new();
        }
        run.queue.clear();
        run.phase = LessonPhase::Ending;
        self.stop_all()
    }

    /// Marks a token as the learner's guess, and pins it if it has been generated.
    pub(super) fn mark_token(&mut self, number: usize) -> Vec<Effect> {
        let Some((place, n_tokens)) = self.marked_pane() else {
            return Vec::new();
        };
        let number = number.clamp(1, n_tokens);
        let pane = self.panes.get(place);
        let written = pane.and_then(crate::state::Pane::generation);
        let n_written = written.map_or(0, |text| text.steps.len());
        let pin = pane.map(|pane| Pin {
            pane: pane.id,
            step: number - 1,
        });
        self.pin = pin.filter(|_| number <= n_written);
        if let Some(run) = self.lessons.run_mut() {
            run.guess.mark = Some(number);
        }
        Vec::new()
    }

    /// Takes the pinned token as the learner's guess, if the question asks for a mark.
    pub(super) fn mark_pinned(&mut self) {
        let Some((place, n_tokens)) = self.marked_pane() else {
            return;
        };
        let pinned = self
            .pin
            .filter(|pin| self.place_of(pin.pane) == Some(place));
        let pinned = pinned.filter(|pin| pin.step < n_tokens);
        if let (Some(pin), Some(run)) = (pinned, self.lessons.run_mut()) {
            run.guess.mark = Some(pin.step + 1);
        }
    }

    /// Returns the position of the pane in which the learner must mark a token now, and how many
    /// tokens there are to choose from.
    fn marked_pane(&self) -> Option<(usize, usize)> {
        let run = self.lessons.run()?;
        match run.step()?.question {
            Question::Mark { pane, n_tokens, .. } if run.phase() == LessonPhase::Predict => {
                Some((pane, n_tokens))
            }
            _ => None,
        }
    }
}

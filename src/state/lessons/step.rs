//! One step of a lesson: predict, do, see, why.

use super::LessonRun;
use super::judge::{Answer, Seen, seen};
use super::run::{Guess, LessonPhase};
use crate::lessons::{Act, LessonStep, Prediction, Question, Scene};

/// The texts of a step, filled from the run. Those of later parts are empty until then.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepTexts {
    pub ask: String,
    /// What is predicted: the token of a probability and those next to it, or the options.
    pub labels: Vec<String>,
    /// The probabilities before, one for each label, if there are any.
    pub before: Vec<Option<f64>>,
    pub task: String,
    /// The answer; `None` before it is seen.
    pub answer: Option<Answer>,
    /// What the prediction was and what it cost.
    pub verdict: String,
    pub see: String,
    pub why: String,
    pub more: Option<String>,
}

impl LessonRun {
    /// Returns the texts with which the step asks for a prediction, or `None` if one can't be
    /// filled.
    pub(super) fn asked(&self, scene: &Scene<'_>) -> Option<StepTexts> {
        asked(self.step()?, scene)
    }

    /// Asks for the prediction of the step.
    pub(super) fn ask(&mut self, texts: StepTexts) {
        self.texts = texts;
        self.guess = Guess::default();
        if let Some(Question::Match { panes, .. }) = self.step().map(|step| &step.question) {
            self.guess.matched = vec![None; panes.len()];
        }
        self.reads_on = false;
        self.solves = false;
        self.is_set_up = false;
        self.phase = LessonPhase::Predict;
    }

    /// Returns the answer of the step if its task is done.
    pub(super) fn seen(&self, scene: &Scene<'_>) -> Option<Seen> {
        seen(self.step()?, &self.guess, scene, self.lesson.bits)
    }

    /// Shows the answer.
    pub(super) fn see(&mut self, seen: Seen) {
        self.texts = StepTexts {
            ask: std::mem::take(&mut self.texts.ask),
            task: std::mem::take(&mut self.texts.task),
            labels: std::mem::take(&mut self.texts.labels),
            before: std::mem::take(&mut self.texts.before),
            ..seen.texts
        };
        let prediction = Prediction {
            asked: self.texts.ask.clone(),
            from: self.origin(),
            ..seen.prediction
        };
        self.predictions.push(prediction);
        self.phase = LessonPhase::See;
    }

    /// Goes on to the next step, to a question that comes back, or to the ending. Returns whether
    /// all steps of the lesson itself are done.
    pub(super) fn end_step(&mut self) -> bool {
        self.texts = StepTexts::default();
        self.reads_on = false;
        self.phase = LessonPhase::Ending;
        if self.again.is_some() {
            return false;
        }
        self.step += 1;
        self.solves = false;
        self.is_set_up = false;
        let Some(step) = self.lesson.steps.get(self.step) else {
            return true;
        };
        self.queue = step.prepare.iter().cloned().collect();
        self.phase = LessonPhase::Preparing;
        false
    }

    /// Does what the step asks for, on the learner's behalf.
    pub(super) fn solve_step(&mut self) {
        if self.phase == LessonPhase::Do
            && let Some(step) = self.step()
        {
            self.queue = step.solution.clone().into();
            self.solves = true;
            self.is_set_up = false;
        }
    }

    /// Does what a learner might do, except while a question is open.
    pub(super) fn do_acts(&mut self, acts: Vec<Act>) {
        if !matches!(self.phase, LessonPhase::Preparing | LessonPhase::Predict) {
            self.queue = acts.into();
            self.solves = false;
        }
    }
}

/// Returns the texts of a step before its task is done, or `None` if one can't be filled.
fn asked(step: &LessonStep, scene: &Scene<'_>) -> Option<StepTexts> {
    let (labels, before) = match &step.question {
        Question::Probability { asked, beside } => {
            let bars = std::iter::once(asked).chain(beside);
            let texts = bars.map(|bar| {
                let before = match &bar.before {
                    Some(path) => Some(path.value(scene, None)?.number()?),
                    None => None,
                };
                Some((bar.label.fill(scene)?, before))
            });
            texts.collect::<Option<Vec<_>>>()?.into_iter().unzip()
        }
        Question::Token { words, .. } => (words.clone(), Vec::new()),
        Question::Choice { options } | Question::Match { options, .. } => {
            let labels = options.iter().map(|option| option.text.fill(scene));
            (labels.collect::<Option<_>>()?, Vec::new())
        }
        Question::Order { items, .. } => {
            let labels = items.iter().map(|item| item.label.fill(scene));
            (labels.collect::<Option<_>>()?, Vec::new())
        }
        Question::Mark { .. } => (Vec::new(), Vec::new()),
    };
    Some(StepTexts {
        ask: step.ask.fill(scene)?,
        task: step.task.fill(scene)?,
        labels,
        before,
        ..StepTexts::default()
    })
}

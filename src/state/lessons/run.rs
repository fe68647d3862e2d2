//! The lesson that is running: its step, the part of the step, and the prediction.

use std::collections::VecDeque;
use std::sync::Arc;

use super::progress::LessonPlace;
use super::step::StepTexts;
use crate::lessons::{
    Act, Confidence, Lesson, LessonStep, Prediction, Question, Ring, SAYABLE, Score,
};
use crate::state::panes::run_end::Repetition;
use crate::state::runs::Behind;
use crate::state::{Pace, PaneId, Settings, ViewChoices};

/// A lesson that is running.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonRun {
    pub lesson: Arc<Lesson>,
    /// The prediction so far, which the card edits in place.
    pub guess: Guess,
    /// Whether the longer text is shown, which the card edits in place.
    pub reads_on: bool,
    /// The index of the step.
    pub(super) step: usize,
    pub(super) phase: LessonPhase,
    /// What the lesson itself does next.
    pub(super) queue: VecDeque<Act>,
    /// The texts of the step, filled from the run.
    pub(super) texts: StepTexts,
    /// The predictions, one per step that was seen.
    pub(super) predictions: Vec<Prediction>,
    aside: Box<SetAside>,
}

/// What was on screen before the lesson.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SetAside {
    pub view: ViewChoices,
    pub pace: Pace,
    pub step_pane: Option<PaneId>,
    pub repetition: Option<Repetition>,
    pub hidden: Behind,
}

/// The part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LessonPhase {
    /// The lesson prepares the window.
    Preparing,
    Predict,
    Do,
    See,
    Why,
    /// All steps are done.
    Ending,
}

impl LessonPhase {
    /// The parts of a step, in order.
    pub const PARTS: [Self; 4] = [Self::Predict, Self::Do, Self::See, Self::Why];

    /// Returns the name of the part on the card.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preparing => "Preparing",
            Self::Predict => "Predict",
            Self::Do => "Do",
            Self::See => "See",
            Self::Why => "Why",
            Self::Ending => "Ending",
        }
    }
}

/// A prediction that is being made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Guess {
    /// A probability; `None` before the learner has moved the grip.
    pub prob: Option<f64>,
    /// The index of the chosen option.
    pub option: Option<usize>,
    /// How sure the learner is of a choice.
    pub confidence: Confidence,
}

impl Guess {
    /// Sets the probability, within what can be said.
    pub fn say(&mut self, prob: f64) {
        let percent = (prob * 100.0).round() / 100.0;
        self.prob = Some(percent.clamp(SAYABLE[0], SAYABLE[1]));
    }

    /// Whether it answers the question.
    pub(super) fn answers(&self, question: &Question) -> bool {
        match question {
            Question::Probability { .. } => self.prob.is_some(),
            Question::Token { .. } | Question::Choice { .. } => self
                .option
                .is_some_and(|option| option < question.n_options()),
        }
    }
}

impl LessonRun {
    pub(super) fn new(lesson: Arc<Lesson>, place: LessonPlace, aside: SetAside) -> Self {
        let done = lesson.steps.iter().take(place.step);
        let done = done.flat_map(|step| &step.solution);
        let queue = lesson.setup.acts.iter().chain(done).cloned().collect();
        Self {
            lesson,
            guess: Guess::default(),
            reads_on: false,
            step: place.step,
            phase: LessonPhase::Preparing,
            queue,
            texts: StepTexts::default(),
            predictions: place.predictions,
            aside: Box::new(aside),
        }
    }

    /// Returns the part of the step.
    pub const fn phase(&self) -> LessonPhase {
        self.phase
    }

    /// Returns the index of the step.
    pub const fn step_index(&self) -> usize {
        self.step
    }

    /// Returns the step; `None` at the end.
    pub fn step(&self) -> Option<&LessonStep> {
        self.lesson.steps.get(self.step)
    }

    /// Returns the texts of the step, as far as they can be read yet.
    pub const fn texts(&self) -> &StepTexts {
        &self.texts
    }

    /// Returns what the predictions cost so far.
    pub fn scores(&self) -> Vec<Score> {
        self.predictions.iter().map(|made| made.score).collect()
    }

    /// Whether the lesson itself has something left to do.
    pub fn is_acting(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether the prediction can be said.
    pub fn can_say(&self) -> bool {
        let question = self.step().map(|step| &step.question);
        question.is_some_and(|question| self.guess.answers(question))
    }

    /// Returns the control to use now.
    pub fn ring(&self) -> Option<Ring> {
        let ring = self.step()?.ring?;
        matches!(self.phase, LessonPhase::Predict | LessonPhase::Do).then_some(ring)
    }

    pub(super) fn go_back(&mut self) {
        if self.phase == LessonPhase::Why {
            self.phase = LessonPhase::See;
        }
    }

    /// Returns where the lesson goes on later. A step whose answer was seen is over.
    pub(super) fn place(&self) -> LessonPlace {
        let seen = self.phase >= LessonPhase::See;
        let last = self.lesson.steps.len().saturating_sub(1);
        let step = (self.step + usize::from(seen)).min(last);
        let mut predictions = self.predictions.clone();
        predictions.truncate(step);
        LessonPlace { step, predictions }
    }

    pub(in crate::state) const fn hidden(&self) -> &Behind {
        &self.aside.hidden
    }

    pub(super) fn into_aside(self) -> SetAside {
        *self.aside
    }

    /// Replaces the choices of the lesson with those from before it.
    pub(in crate::state) fn restore_settings(&self, settings: &mut Settings) {
        settings.view = super::restored_view(self.aside.view, settings.view);
        settings.pace = self.aside.pace;
        settings.lessons.keep_place(self);
    }
}

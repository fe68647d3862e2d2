//! The lesson that is running: its step, the part of the step, and the prediction.

use std::collections::VecDeque;
use std::sync::Arc;

use super::lab_aside::LabAside;
use super::progress::LessonPlace;
use super::step::StepTexts;
use crate::lessons::{
    Act, Confidence, Lesson, LessonStep, Prediction, Question, Ring, SAYABLE, Score,
};
use crate::state::panes::run_end::Repetition;
use crate::state::runs::HiddenSession;
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
    /// The question from another lesson that comes back after the last step.
    pub(super) again: Option<Again>,
    pub(super) phase: LessonPhase,
    /// What the lesson itself does next.
    pub(super) queue: VecDeque<Act>,
    /// Whether the queue ends with the task of the step.
    pub(super) solves: bool,
    /// Whether the window was set up anew for what the queue does.
    pub(super) is_set_up: bool,
    /// The texts of the step, filled from the run.
    pub(super) texts: StepTexts,
    /// One prediction per answered step, and one for a question that came back.
    pub(super) predictions: Vec<Prediction>,
    aside: Box<SetAside>,
}

/// A question from another lesson that was missed there and comes back.
#[derive(Debug, Clone, PartialEq)]
pub struct Again {
    pub lesson: Arc<Lesson>,
    /// The index of its step.
    pub step: usize,
}

/// What was on screen before the lesson.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SetAside {
    pub view: ViewChoices,
    pub pace: Pace,
    pub step_pane: Option<PaneId>,
    pub repetition: Option<Repetition>,
    pub hidden: HiddenSession,
    pub lab: LabAside,
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guess {
    /// A probability; `None` before the learner has moved the handle.
    pub prob: Option<f64>,
    /// The index of the chosen option.
    pub option: Option<usize>,
    /// The indices of the items put in order so far, in that order.
    pub order: Vec<usize>,
    /// The number of the marked token, from 1.
    pub mark: Option<usize>,
    /// The option of each pane that was matched.
    pub matched: Vec<Option<usize>>,
    /// The row that gets the next option, if the learner chose one.
    pub row: Option<usize>,
    /// How sure the learner is of a choice.
    pub confidence: Confidence,
}

impl Guess {
    /// Sets the probability, clamped to the allowed range.
    pub fn say(&mut self, prob: f64) {
        let percent = (prob * 100.0).round() / 100.0;
        self.prob = Some(percent.clamp(SAYABLE[0], SAYABLE[1]));
    }

    /// Puts the item with this index next in the order, or takes it out of it.
    pub fn toggle_item(&mut self, item: usize) {
        match self.order.iter().position(|other| *other == item) {
            Some(place) => {
                self.order.remove(place);
            }
            None => self.order.push(item),
        }
    }

    /// Returns the row that gets the next option: the chosen one, or the first without an option.
    pub fn current_row(&self, n_rows: usize) -> Option<usize> {
        let is_free = |row: &usize| self.matched.get(*row).copied().flatten().is_none();
        self.row.or_else(|| (0..n_rows).find(is_free))
    }

    /// Assigns an option to the current row, and takes it from the row that had it.
    pub fn match_option(&mut self, option: usize, n_rows: usize) {
        let Some(row) = self.current_row(n_rows) else {
            return;
        };
        self.matched.resize(n_rows, None);
        for (index, matched) in self.matched.iter_mut().enumerate() {
            if index == row {
                *matched = Some(option);
            } else if *matched == Some(option) {
                *matched = None;
            }
        }
        self.row = None;
    }

    /// Undoes the last item of the order, or the last match.
    pub fn take_back(&mut self) {
        self.order.pop();
        let mut matched = self.matched.iter_mut().rev();
        if let Some(last) = matched.find(|option| option.is_some()) {
            *last = None;
        }
        self.row = None;
    }

    /// Returns whether it answers the question.
    pub(super) fn answers(&self, question: &Question) -> bool {
        match question {
            Question::Probability { .. } => self.prob.is_some(),
            Question::Token { .. } | Question::Choice { .. } => self
                .option
                .is_some_and(|option| option < question.n_options()),
            Question::Order { items, .. } => self.order.len() == items.len(),
            Question::Mark { .. } => self.mark.is_some(),
            Question::Match { panes, .. } => self.matched.iter().flatten().count() == panes.len(),
        }
    }
}

impl LessonRun {
    pub(super) fn new(lesson: Arc<Lesson>, place: LessonPlace, aside: SetAside) -> Self {
        let queue = acts_before(&lesson, place.step);
        Self {
            lesson,
            again: None,
            guess: Guess::default(),
            reads_on: false,
            step: place.step,
            phase: LessonPhase::Preparing,
            queue,
            solves: false,
            is_set_up: true,
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

    /// Returns the question that came back from another lesson, if there is one.
    pub const fn again(&self) -> Option<&Again> {
        self.again.as_ref()
    }

    /// Returns the step; `None` at the end.
    pub fn step(&self) -> Option<&LessonStep> {
        match &self.again {
            Some(again) => again.lesson.steps.get(again.step),
            None => self.lesson.steps.get(self.step),
        }
    }

    /// Returns whether all steps of the lesson itself are done.
    pub(super) fn is_over(&self) -> bool {
        self.step >= self.lesson.steps.len()
    }

    /// Returns the texts of the step that may be shown so far.
    pub const fn texts(&self) -> &StepTexts {
        &self.texts
    }

    /// Returns what the predictions cost so far.
    pub fn scores(&self) -> Vec<Score> {
        self.predictions.iter().map(|made| made.score).collect()
    }

    /// Returns whether the lesson itself still has something to do.
    pub fn is_acting(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Returns whether the prediction is ready to be submitted.
    pub fn can_say(&self) -> bool {
        let question = self.step().map(|step| &step.question);
        question.is_some_and(|question| self.guess.answers(question))
    }

    /// Returns the control that the step points to now. A question points to none: using the control
    /// would answer it.
    pub fn ring(&self) -> Option<Ring> {
        let ring = self.step()?.ring?;
        (self.phase == LessonPhase::Do).then_some(ring)
    }

    pub(super) fn go_back(&mut self) {
        if self.phase == LessonPhase::Why {
            self.phase = LessonPhase::See;
        }
    }

    /// Returns where the lesson will resume. A step whose answer was seen is over.
    pub(super) fn place(&self) -> LessonPlace {
        let seen = self.phase >= LessonPhase::See;
        let last = self.lesson.steps.len().saturating_sub(1);
        let step = (self.step + usize::from(seen)).min(last);
        let mut predictions = self.predictions.clone();
        predictions.truncate(step);
        LessonPlace { step, predictions }
    }

    pub(in crate::state) const fn hidden(&self) -> &HiddenSession {
        &self.aside.hidden
    }

    pub(super) fn into_aside(self) -> SetAside {
        *self.aside
    }

    /// Replaces the choices of the lesson with those from before it.
    pub(in crate::state) fn restore_settings(&self, settings: &mut Settings) {
        settings.view = super::restored_view(self.aside.view, settings.view);
        settings.pace = self.aside.pace;
        self.aside.lab.restore_settings(&mut settings.lab);
        settings.lessons.keep_place(self);
    }
}

/// Returns what a lesson does before it asks the question of a step.
pub(super) fn acts_before(lesson: &Lesson, step: usize) -> VecDeque<Act> {
    let done = lesson.steps.iter().take(step);
    let done = done.flat_map(|step| step.prepare.iter().chain(&step.solution));
    let next = lesson.steps.get(step).map(|step| &step.prepare);
    let acts = lesson.setup.acts.iter().chain(done);
    acts.chain(next.into_iter().flatten()).cloned().collect()
}

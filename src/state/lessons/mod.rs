//! Lessons: the list, the one that is running, and the progress in each.
//!
//! A lesson sets what is on screen aside, shows its own panes, and brings everything back when the
//! learner leaves.

mod again;
mod answers_csv;
mod judge;
mod lab_aside;
mod progress;
mod run;
mod scene;
mod setup;
mod step;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::answers_csv::answers_csv;
pub use self::judge::Answer;
pub use self::progress::LessonProgress;
pub use self::run::{Again, Guess, LessonPhase, LessonRun};
pub use self::step::StepTexts;

use crate::lessons::{Act, Lesson, Prediction, built_in};

/// The lessons, and the one that is running.
#[derive(Debug, Clone, PartialEq)]
pub struct Lessons {
    /// All lessons, in the order of the list: those that ship, then those that were opened.
    pub list: Vec<Arc<Lesson>>,
    pub progress: LessonProgress,
    /// The index of the selected row, which is edited in place.
    pub selected: usize,
    run: Option<LessonRun>,
}

/// A user action on lessons.
#[derive(Debug, Clone, PartialEq)]
pub enum LessonCommand {
    /// Start the lesson with this index, or resume it.
    Start(usize),
    /// A lesson file was read: its name and its text.
    Opened(String, Result<String, String>),
    /// Submit the prediction, or go on to the next part.
    Next,
    /// Return to the previous part, which is still on the card.
    Back,
    /// Do what the step asks for.
    ShowMe,
    /// Set the window up for the task again, whatever the learner did.
    SetBack,
    /// Do these acts, as a learner would.
    Do(Vec<Act>),
    /// Check whether the task is done, after a setting was edited in place.
    Look,
    /// Mark the token with this number, from 1.
    Mark(usize),
    /// End the lesson without the question that came back.
    SkipAgain,
    /// Leave the lesson and bring back what was on screen.
    Leave,
}

impl Lessons {
    /// Creates the list of lessons, with the first unfinished one selected.
    pub(super) fn new(progress: LessonProgress) -> Self {
        let mut lessons = Self {
            list: built_in().to_vec(),
            progress,
            selected: 0,
            run: None,
        };
        lessons.select_unfinished();
        lessons
    }

    /// Returns the lesson that is running.
    pub const fn run(&self) -> Option<&LessonRun> {
        self.run.as_ref()
    }

    /// Returns the lesson that is running, whose prediction is edited in place.
    pub const fn run_mut(&mut self) -> Option<&mut LessonRun> {
        self.run.as_mut()
    }

    /// Returns the predictions of each lesson, by its id, with those of the running one.
    pub fn predictions(&self) -> BTreeMap<String, Vec<Prediction>> {
        let mut progress = self.progress.clone();
        if let Some(run) = &self.run {
            progress.keep_place(run);
        }
        progress.predictions()
    }

    /// Returns whether the dock stays closed because the learner has not made a prediction yet.
    pub fn hides_evidence(&self) -> bool {
        let run = self.run.as_ref();
        run.is_some_and(|run| run.phase() <= LessonPhase::Predict)
    }

    /// Returns whether the settings of the panes are hidden because the question is about them.
    pub fn hides_settings(&self) -> bool {
        let step = self.run.as_ref().and_then(LessonRun::step);
        self.hides_evidence() && step.is_some_and(|step| step.blind)
    }

    /// Returns why nothing can be generated while a lesson's question is open: the text would be
    /// the answer.
    pub(super) fn question_reason(&self) -> Option<String> {
        let phase = self.run().map(LessonRun::phase);
        (phase == Some(LessonPhase::Predict)).then(|| "Make your guess first".to_owned())
    }

    /// Adds a lesson that was opened, in place of one with the same id. Returns its index.
    fn add(&mut self, lesson: &Arc<Lesson>) -> usize {
        let is_same = |other: &Arc<Lesson>| other.id == lesson.id;
        let list = &mut self.list;
        let index = list.iter().position(is_same).unwrap_or(list.len());
        match list.get_mut(index) {
            Some(place) => *place = Arc::clone(lesson),
            None => list.push(Arc::clone(lesson)),
        }
        index
    }

    fn select_unfinished(&mut self) {
        // Most people have no chat model open.
        let is_unfinished = |lesson: &Arc<Lesson>| {
            self.progress.score_of(&lesson.id).is_none() && !lesson.setup.chat
        };
        self.selected = self.list.iter().position(is_unfinished).unwrap_or(0);
    }
}

/// Returns the view choices from before a lesson, except that those that do not concern the run
/// stay as they are now.
fn restored_view(before: super::ViewChoices, now: super::ViewChoices) -> super::ViewChoices {
    super::ViewChoices {
        theme: now.theme,
        text_size: now.text_size,
        reading_font: now.reading_font,
        reduce_motion: now.reduce_motion,
        keeps_plots: now.keeps_plots,
        ..before
    }
}

//! A lesson: a set-up and steps, each of which is predict, do, see, why.

use super::act::Act;
use super::condition::Condition;
use super::path::Path;
use super::scene::Scene;
use super::template::Template;
use crate::generation::PaneSettings;

/// A lesson, as read from its file. Nothing of it is code.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// Identifies it, also in another version of the file.
    pub id: String,
    pub title: String,
    /// What it is about, in a line.
    pub summary: String,
    pub minutes: u32,
    /// Whether it works with any model, not only with the built-in one.
    pub any_model: bool,
    pub setup: Setup,
    pub steps: Vec<LessonStep>,
    /// What to remember, and to show to somebody.
    pub ending: String,
}

/// What the window shows when a lesson begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    pub prompt: String,
    pub panes: Vec<PaneSettings>,
    pub seed: u64,
    /// The token limit.
    pub tokens: usize,
    /// What is done before the first step.
    pub acts: Vec<Act>,
}

/// A step of a lesson.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonStep {
    pub ask: Template,
    /// Whether the settings of the panes are hidden until there is a prediction.
    pub blind: bool,
    pub question: Question,
    pub task: Template,
    /// The control that has a ring.
    pub ring: Option<Ring>,
    /// What must hold for the task to be done.
    pub check: Vec<Condition>,
    /// One way to do it.
    pub solution: Vec<Act>,
    pub see: Template,
    pub why: Template,
    pub more: Option<Template>,
}

/// What is predicted.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// A probability.
    Probability {
        asked: Bar,
        /// Others, shown for comparison.
        beside: Vec<Bar>,
    },
    /// The token that will come at a place.
    Token {
        words: Vec<String>,
        /// The probability of each word, once the task is done.
        probs: Vec<Path>,
        /// The probability of the most likely token there.
        top: Path,
    },
    /// One of several statements.
    Choice { options: Vec<ChoiceOption> },
}

/// A probability, before the task is done and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What the probability is of.
    pub label: Template,
    pub before: Option<Path>,
    pub answer: Path,
}

/// A statement, and the condition under which it is the right one.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceOption {
    pub text: Template,
    pub when: Vec<Condition>,
}

/// A control that a step points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ring {
    Generate,
    Prompt,
    /// The settings of the pane at this place.
    Settings(usize),
    /// The text of the pane at this place.
    Text(usize),
    /// A tab of the dock.
    Tab(&'static str),
}

impl Question {
    /// Returns how many options there are to choose from; none for a probability.
    pub fn n_options(&self) -> usize {
        match self {
            Self::Probability { .. } => 0,
            Self::Token { words, .. } => words.len(),
            Self::Choice { options } => options.len(),
        }
    }

    /// Returns the index of the right statement, if exactly one is right.
    pub fn right_option(&self, scene: &Scene<'_>) -> Option<usize> {
        let Self::Choice { options } = self else {
            return None;
        };
        let is_right = |option: &ChoiceOption| super::all_hold(&option.when, scene);
        let mut right = (0..).zip(options).filter(|(_, option)| is_right(option));
        let (index, _) = right.next()?;
        right.next().is_none().then_some(index)
    }
}

//! A lesson: a setup and steps, each of which is predict, do, see, why.

use std::collections::BTreeSet;

use super::act::Act;
use super::condition::{Condition, all_hold, all_hold_for};
use super::path::Path;
use super::scene::Scene;
use super::template::Template;
use crate::generation::PaneSettings;

/// A lesson, as read from its file. It contains no code.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// Identifies it across versions of the file.
    pub id: String,
    pub title: String,
    /// What it is about, in one line.
    pub summary: String,
    pub minutes: u32,
    /// The heading above it in the list, if it has one.
    pub group: Option<String>,
    /// Whether it works with any model, not only with the built-in one.
    pub any_model: bool,
    /// Whether the card says what a prediction cost in bits. If not, it says how close it was.
    pub bits: bool,
    pub setup: Setup,
    pub steps: Vec<LessonStep>,
    /// What to remember, and what to show someone.
    pub ending: String,
}

/// What the window shows when a lesson begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    pub prompt: String,
    /// Whether the prompt is a message to a chat model.
    pub chat: bool,
    pub panes: Vec<PaneSettings>,
    pub seed: u64,
    /// The token limit.
    pub tokens: usize,
    /// What the lesson does before the first step.
    pub acts: Vec<Act>,
}

/// A step of a lesson.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonStep {
    /// What the lesson does before it asks.
    pub prepare: Vec<Act>,
    pub ask: Template,
    /// Whether the settings of the panes are hidden until the learner has predicted.
    pub blind: bool,
    pub question: Question,
    /// The curves that are drawn with the question, in order.
    pub curves: Vec<Curve>,
    pub task: Template,
    /// The control to draw a ring around.
    pub ring: Option<Ring>,
    /// What must hold for the task to be done.
    pub check: Vec<Condition>,
    /// One way to do the task.
    pub solution: Vec<Act>,
    pub see: Template,
    pub why: Template,
    pub more: Option<Template>,
}

/// What the learner predicts.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// A probability.
    Probability {
        asked: Bar,
        /// Others, shown for comparison.
        beside: Vec<Bar>,
    },
    /// The token that will be generated at a place.
    Token {
        words: Vec<String>,
        /// The probability of each word, once the task is done.
        probs: Vec<Path>,
        /// The probability of the most likely token there.
        top: Path,
    },
    /// One of several statements.
    Choice { options: Vec<ChoiceOption> },
    /// The order of items by a number.
    Order {
        items: Vec<OrderItem>,
        direction: Direction,
    },
    /// The token at which something begins.
    Mark {
        /// The place of the pane whose text is marked.
        pane: usize,
        /// How many tokens there are to choose from, including those that are not generated yet.
        n_tokens: usize,
        answer: Path,
    },
    /// Which of the options belongs to each pane.
    Match {
        /// The places of the panes.
        panes: Vec<usize>,
        /// As many as there are panes; "any" in a condition stands for the pane.
        options: Vec<ChoiceOption>,
    },
}

/// An item to put in order, and the number that decides its place.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    pub label: Template,
    pub value: Path,
}

/// Which end of an order comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    LowestFirst,
    HighestFirst,
}

/// Times per token that were measured and can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    WithCache,
    WithoutCache,
}

impl Curve {
    /// All curves.
    pub const ALL: [Self; 2] = [Self::WithCache, Self::WithoutCache];

    /// Returns the name in lesson files and on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WithCache => "with the cache",
            Self::WithoutCache => "without the cache",
        }
    }
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
    /// The token limit.
    Tokens,
    /// When to stop.
    Stop,
    Seed,
    Pace,
    Tint,
}

impl Ring {
    /// The rings that belong to neither a pane nor a tab, with their names.
    pub(super) const SHARED: [(&'static str, Self); 7] = [
        ("generate", Self::Generate),
        ("prompt", Self::Prompt),
        ("tokens", Self::Tokens),
        ("stop", Self::Stop),
        ("seed", Self::Seed),
        ("pace", Self::Pace),
        ("tint", Self::Tint),
    ];
}

impl Question {
    /// Returns how many options can be chosen with a digit key.
    pub fn n_options(&self) -> usize {
        match self {
            Self::Probability { .. } | Self::Mark { .. } => 0,
            Self::Token { words, .. } => words.len(),
            Self::Choice { options } | Self::Match { options, .. } => options.len(),
            Self::Order { items, .. } => items.len(),
        }
    }

    /// Returns whether the learner says how sure they are.
    pub const fn has_confidence(&self) -> bool {
        matches!(
            self,
            Self::Choice { .. } | Self::Order { .. } | Self::Match { .. }
        )
    }

    /// Returns the index of the right statement, if exactly one is right.
    pub fn right_option(&self, scene: &Scene<'_>) -> Option<usize> {
        match self {
            Self::Choice { options } => right_one(options, |when| all_hold(when, scene)),
            _ => None,
        }
    }

    /// Returns the right option of each pane, if exactly one is right for each and none is right
    /// for two.
    pub fn right_match(&self, scene: &Scene<'_>) -> Option<Vec<usize>> {
        let Self::Match { panes, options } = self else {
            return None;
        };
        let of = |place: &usize| right_one(options, |when| all_hold_for(when, scene, *place));
        let right: Vec<usize> = panes.iter().map(of).collect::<Option<_>>()?;
        let distinct: BTreeSet<usize> = right.iter().copied().collect();
        (distinct.len() == right.len()).then_some(right)
    }
}

/// Returns the index of the only option that is right.
fn right_one(options: &[ChoiceOption], is_right: impl Fn(&[Condition]) -> bool) -> Option<usize> {
    let mut right = (0..)
        .zip(options)
        .filter(|(_, option)| is_right(&option.when));
    let (index, _) = right.next()?;
    right.next().is_none().then_some(index)
}

//! A prediction that was made, and what it cost.

use serde::{Deserialize, Serialize};

use super::score::Score;

/// A prediction and its answer, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    pub asked: String,
    pub said: String,
    pub answer: String,
    pub score: Score,
    /// The lesson that first asked, if the question came back in another one.
    #[serde(default)]
    pub from: Option<Origin>,
}

/// A step of another lesson, whose question came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The id of the lesson.
    pub lesson: String,
    /// The index of the step.
    pub step: usize,
}

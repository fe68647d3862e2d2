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
}

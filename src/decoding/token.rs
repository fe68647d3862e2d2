//! The id of an entry of a model's vocabulary.

use serde::{Deserialize, Serialize};

/// An entry of a model's vocabulary, counted from zero. Only meaningful beside its tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenId(pub u32);

impl TokenId {
    /// The place of this token's score in a row of logits.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for TokenId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

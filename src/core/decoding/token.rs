//! The id of a vocabulary entry.

use serde::{Deserialize, Serialize};

/// The index of an entry in a model's vocabulary, counted from zero. It means nothing without the
/// model's tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenId(pub u32);

impl TokenId {
    /// The index of this token's logit in a row.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for TokenId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

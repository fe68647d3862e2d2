//! The tokens of a sequence so far, as the penalties see them.

use super::TokenId;

/// The tokens before the one that is about to be sampled: the prompt's, then the generated ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History<'a> {
    tokens: &'a [TokenId],
    /// At most the number of tokens.
    n_prompt: usize,
}

impl<'a> History<'a> {
    /// Creates a history whose first `n_prompt` tokens are the prompt's, or all of them if there
    /// are fewer.
    pub fn new(tokens: &'a [TokenId], n_prompt: usize) -> Self {
        Self {
            tokens,
            n_prompt: n_prompt.min(tokens.len()),
        }
    }

    /// The history of a sequence without tokens.
    pub const fn empty() -> Self {
        Self {
            tokens: &[],
            n_prompt: 0,
        }
    }

    /// All tokens, oldest first.
    pub const fn tokens(&self) -> &'a [TokenId] {
        self.tokens
    }

    /// The tokens after the prompt, oldest first.
    pub fn generated(&self) -> &'a [TokenId] {
        self.tokens.get(self.n_prompt..).unwrap_or_default()
    }

    /// How many tokens belong to the prompt.
    pub const fn n_prompt(&self) -> usize {
        self.n_prompt
    }

    /// Returns the last `n` tokens, or all if there are fewer.
    pub fn last(&self, n: usize) -> &'a [TokenId] {
        let start = self.tokens.len().saturating_sub(n);
        self.tokens.get(start..).unwrap_or_default()
    }
}

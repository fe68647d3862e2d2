//! What a sequence holds so far, as the penalties look at it.

use super::TokenId;

/// The tokens before the one that is about to be drawn: the prompt's, then the generated ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History<'a> {
    tokens: &'a [TokenId],
    n_prompt: usize,
}

impl<'a> History<'a> {
    /// `n_prompt` of `tokens` are the prompt's; more than there are counts as all of them.
    pub fn new(tokens: &'a [TokenId], n_prompt: usize) -> Self {
        Self {
            tokens,
            n_prompt: n_prompt.min(tokens.len()),
        }
    }

    /// Nothing was read or written yet.
    pub const fn empty() -> Self {
        Self {
            tokens: &[],
            n_prompt: 0,
        }
    }

    /// Prompt and generated tokens, oldest first.
    pub const fn tokens(&self) -> &'a [TokenId] {
        self.tokens
    }

    /// The generated tokens alone, oldest first.
    pub fn generated(&self) -> &'a [TokenId] {
        self.tokens.get(self.n_prompt..).unwrap_or_default()
    }

    /// How many of the tokens are the prompt's.
    pub const fn n_prompt(&self) -> usize {
        self.n_prompt
    }

    /// The last `n` tokens, or all of them where there are fewer.
    pub fn last(&self, n: usize) -> &'a [TokenId] {
        let start = self.tokens.len().saturating_sub(n);
        self.tokens.get(start..).unwrap_or_default()
    }
}

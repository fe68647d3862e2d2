//! What one sequence has read: its tokens, and their keys and values.

use super::cache::{Cache, Run};
use crate::decoding::TokenId;

/// One sequence.
#[derive(Debug)]
pub struct Sequence<R> {
    /// Its tokens.
    pub text: Text,
    /// Their keys and values.
    pub cache: Cache<R>,
    /// What of them is read anew, where a long text has come of a short one.
    pub again: Option<Cache<R>>,
}

/// The tokens of a sequence, so that it can be read again.
#[derive(Debug, Clone, Default)]
pub struct Text {
    /// What was read.
    pub tokens: Vec<TokenId>,
    /// Whether it was read as a long text, where rotations tell those apart.
    pub far: bool,
    /// How many it is to hold, as far as that was told before.
    pub n_expected: usize,
}

impl<R: Run> Sequence<R> {
    /// One that has read nothing.
    pub fn new() -> Self {
        Self {
            text: Text::default(),
            cache: Cache::new(),
            again: None,
        }
    }

    /// A second one at the same place.
    pub fn fork(&mut self) -> Self {
        Self {
            text: self.text.clone(),
            cache: self.cache.fork(),
            again: None,
        }
    }

    /// Forgets all but the first `n` tokens.
    pub fn truncate(&mut self, n: usize) {
        self.text.tokens.truncate(n);
        self.text.n_expected = 0;
        self.cache.truncate(n);
        self.again = None;
    }
}

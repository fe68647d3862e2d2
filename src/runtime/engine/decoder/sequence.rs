//! One sequence: its tokens, and their keys and values.

use super::cache::Cache;
use crate::decoding::TokenId;

/// One sequence: the tokens that were read, and their KV cache.
#[derive(Debug)]
pub(super) struct Sequence<R> {
    pub text: Text,
    pub cache: Cache<R>,
    /// The start of a new cache for the same tokens, while a short text is re-read as a long one or
    /// vice versa. Replaces `cache` once it holds all tokens.
    pub reread: Option<Cache<R>>,
}

/// The tokens of a sequence, kept so that they can be read again.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    pub tokens: Vec<TokenId>,
    /// Whether the cached keys were rotated as those of a long text. Always false for models that
    /// rotate all texts alike.
    pub is_long: bool,
    /// The length that the sequence is about to reach, or 0 if unknown.
    pub n_expected: usize,
}

impl<R: Default> Sequence<R> {
    /// Creates an empty sequence.
    pub(super) fn new() -> Self {
        Self {
            text: Text::default(),
            cache: Cache::new(),
            reread: None,
        }
    }

    /// Forks the sequence, given a fork of its cache.
    pub(super) fn fork_with(&self, cache: Cache<R>) -> Self {
        Self {
            text: self.text.clone(),
            cache,
            reread: None,
        }
    }

    /// Drops all but the first `n` tokens.
    pub(super) fn truncate(&mut self, n: usize) {
        self.text.tokens.truncate(n);
        self.text.n_expected = 0;
        self.cache.truncate(n);
        self.reread = None;
    }
}

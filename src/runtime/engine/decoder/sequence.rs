//! One sequence: its tokens, and their keys and values.

use super::cache::Cache;
use super::mtp::MtpState;
use crate::decoding::TokenId;
use crate::engine::EngineError;

/// One sequence: the tokens that were read, and their KV cache.
#[derive(Debug)]
pub(super) struct Sequence<R> {
    pub text: Text,
    pub cache: Cache<R>,
    /// The start of a new cache for the same tokens, while a short text is re-read as a long one or
    /// vice versa. Replaces `cache` once it holds all tokens.
    pub reread: Option<Cache<R>>,
    /// What a multi-token-prediction head has read, if it drafts.
    pub mtp: Option<MtpState<R>>,
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
            mtp: None,
        }
    }

    /// Forks the sequence, given how to fork a cache.
    pub(super) fn fork_with(
        &mut self,
        mut fork: impl FnMut(&mut Cache<R>) -> Result<Cache<R>, EngineError>,
    ) -> Result<Self, EngineError> {
        let mtp = self.mtp.as_mut().map(|mtp| mtp.fork(&mut fork));
        Ok(Self {
            text: self.text.clone(),
            cache: fork(&mut self.cache)?,
            reread: None,
            mtp: mtp.transpose()?,
        })
    }

    /// Drops all but the first `n` tokens. `width` is that of a hidden state.
    pub(super) fn truncate(&mut self, n: usize, width: usize) {
        if n < self.text.tokens.len() {
            self.mtp = self.mtp.take().and_then(|mtp| mtp.truncated(n, width));
        }
        self.text.tokens.truncate(n);
        self.text.n_expected = 0;
        self.cache.truncate(n);
        self.reread = None;
    }
}

/// The parts of the sequences of a pass, each in the order of the sequences.
pub(super) struct OpenParts<R> {
    pub texts: Vec<Text>,
    pub caches: Vec<Cache<R>>,
    pub mtp_states: Vec<Option<MtpState<R>>>,
}

impl<R> OpenParts<R> {
    /// Takes sequences apart.
    pub(super) fn of(sequences: impl Iterator<Item = Sequence<R>>) -> Self {
        let mut parts = Self {
            texts: Vec::new(),
            caches: Vec::new(),
            mtp_states: Vec::new(),
        };
        for sequence in sequences {
            parts.texts.push(sequence.text);
            parts.caches.push(sequence.cache);
            parts.mtp_states.push(sequence.mtp);
        }
        parts
    }

    /// Puts the sequences together again.
    pub(super) fn joined(self) -> impl Iterator<Item = Sequence<R>> {
        let parts = self.texts.into_iter().zip(self.caches);
        parts
            .zip(self.mtp_states)
            .map(|((text, cache), mtp)| Sequence {
                text,
                cache,
                reread: None,
                mtp,
            })
    }
}

//! A reference to a tokenizer that does not keep it in memory.

use std::sync::{Arc, Weak};

use tokenizers::Tokenizer as HfTokenizer;

use super::{Ends, Splitter, Tokenizer};
use crate::engine::gguf_tokenizer::SentencePieceTokenizer;

/// A tokenizer that others own.
pub(super) struct WeakTokenizer {
    splitter: WeakSplitter,
    ends: Ends,
    growth: f64,
}

enum WeakSplitter {
    Crate(Weak<HfTokenizer>),
    SentencePiece(Weak<SentencePieceTokenizer>),
}

impl WeakTokenizer {
    /// Returns the tokenizer, unless its owners are gone.
    pub(super) fn upgrade(&self) -> Option<Tokenizer> {
        let splitter = match &self.splitter {
            WeakSplitter::Crate(inner) => Splitter::Crate(inner.upgrade()?),
            WeakSplitter::SentencePiece(inner) => Splitter::SentencePiece(inner.upgrade()?),
        };
        Some(Tokenizer {
            growth: self.growth,
            ..Tokenizer::with_ends(splitter, self.ends.clone())
        })
    }
}

impl Tokenizer {
    /// Returns a reference that does not keep the tokenizer in memory.
    pub(super) fn downgrade(&self) -> WeakTokenizer {
        WeakTokenizer {
            splitter: match &self.splitter {
                Splitter::Crate(inner) => WeakSplitter::Crate(Arc::downgrade(inner)),
                Splitter::SentencePiece(inner) => {
                    WeakSplitter::SentencePiece(Arc::downgrade(inner))
                }
            },
            ends: self.ends.clone(),
            growth: self.growth,
        }
    }
}

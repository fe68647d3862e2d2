//! The tokens that may come next.

use llguidance::toktrie::SimpleVob;

use crate::decoding::TokenId;

/// The tokens that keep a text within its grammar, as one bit per token.
#[derive(Debug, Clone, PartialEq)]
pub struct LegalTokens {
    bits: SimpleVob,
    n_legal: usize,
}

/// How many tokens one word of the bit set covers.
const WORD: usize = 32;

impl LegalTokens {
    pub(super) fn new(bits: SimpleVob) -> Self {
        let n_legal = bits.num_set();
        Self { bits, n_legal }
    }

    /// Returns how many tokens are legal.
    pub const fn n_legal(&self) -> usize {
        self.n_legal
    }

    /// Returns whether a token is legal.
    pub fn allows(&self, token: TokenId) -> bool {
        token.index() < self.bits.len() && self.bits.is_allowed(token.0)
    }

    /// Replaces `masked` by these logits, with −∞ for every illegal token.
    pub fn mask(&self, logits: &[f32], masked: &mut Vec<f32>) {
        masked.clear();
        masked.reserve(logits.len());
        let words = self
            .bits
            .as_slice()
            .iter()
            .copied()
            .chain(std::iter::repeat(0));
        for (logits, word) in logits.chunks(WORD).zip(words) {
            match word {
                0 => masked.resize(masked.len() + logits.len(), f32::NEG_INFINITY),
                u32::MAX => masked.extend_from_slice(logits),
                _ => masked.extend((0..).zip(logits).map(|(bit, logit)| {
                    if word >> bit & 1 == 1 {
                        *logit
                    } else {
                        f32::NEG_INFINITY
                    }
                })),
            }
        }
    }
}

//! The uniform numbers of the Gumbel-max watermark: vLLM's mapping from a key, the last tokens and a
//! candidate.

use crate::decoding::TokenId;
use crate::decoding::coin::philox4x32_10;
use crate::decoding::selector::GumbelMark;

/// Stands for a missing token before the first one: −1 in 32 bits.
const NO_TOKEN: u32 = u32::MAX;

/// Tell the two uses of the generator apart.
const CONTEXT_DOMAIN: u32 = 0x574D_4358;
const TOKEN_DOMAIN: u32 = 0x574D_544B;

/// Returns the last `window` generated tokens, oldest first, padded at the beginning.
pub(in crate::decoding) fn context_of(generated: &[TokenId], window: usize) -> Vec<u32> {
    let start = generated.len().saturating_sub(window);
    let tokens = generated.get(start..).unwrap_or_default();
    let missing = window - tokens.len();
    let padding = std::iter::repeat_n(NO_TOKEN, missing);
    padding.chain(tokens.iter().map(|token| token.0)).collect()
}

/// Whether the tokens before the next one already preceded an earlier one, so that the same numbers
/// would decide again.
pub(in crate::decoding) fn is_repeated(generated: &[TokenId], window: usize) -> bool {
    let Some(start) = generated.len().checked_sub(window) else {
        return false;
    };
    // A padded context differs from all others by its length.
    let context = generated.get(start..).unwrap_or_default();
    let mut earlier = generated
        .get(..generated.len().saturating_sub(1))
        .unwrap_or_default()
        .windows(window.max(1));
    earlier.any(|other| other == context)
}

/// A key and the tokens before a draw, from which the numbers of all candidates are derived.
///
/// The context is hashed in blocks of four tokens by Philox 4×32 with ten rounds; then one more
/// block per four candidates yields a word for each of them.
#[derive(Debug, Clone, Copy)]
pub(in crate::decoding) struct GumbelKey {
    context: [u32; 4],
    key: u32,
}

impl GumbelKey {
    pub(in crate::decoding) fn new(mark: GumbelMark, context: &[u32]) -> Self {
        let mut state = [CONTEXT_DOMAIN, context.len() as u32, 0, 0];
        for (offset, block) in (0_u32..).step_by(4).zip(context.chunks(4)) {
            let word = |index: u32| {
                let token = block.get(index as usize).copied();
                token.unwrap_or(NO_TOKEN - index)
            };
            let [a, b, c, d] = state;
            let counter = [a ^ word(0), b ^ word(1), c ^ word(2), d ^ word(3)];
            state = philox4x32_10(counter, [mark.key ^ offset, 0]);
        }
        Self {
            context: state,
            key: mark.key,
        }
    }

    /// Returns a candidate's number between 0 and 1, both excluded.
    #[inline(always)]
    pub(in crate::decoding) fn uniform(&self, token: TokenId) -> f64 {
        let [a, b, c, d] = self.context;
        let counter = [token.0 >> 2, a, b, c];
        let [w0, w1, w2, w3] = philox4x32_10(counter, [self.key ^ d, TOKEN_DOMAIN]);
        let word = match token.0 & 3 {
            0 => w0,
            1 => w1,
            2 => w2,
            _ => w3,
        };
        // Rounded to 32 bits, as in vLLM.
        let uniform = (f64::from(word >> 8) + 1.0) / f64::from((1 << 24) + 1);
        f64::from(uniform as f32)
    }
}

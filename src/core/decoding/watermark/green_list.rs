//! Decides which tokens are on a watermark's green list, as transformers does.

use super::torch_random::swaps;
use crate::decoding::TokenId;
use crate::decoding::filters::GreenList;

/// The size of the table of token hashes, a prime.
const TABLE_SIZE: u32 = 1_000_003;

/// Decides which tokens of a vocabulary are green.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::decoding) struct GreenTokens {
    list: GreenList,
    n_vocab: u32,
    /// The start of the table of hashes, as far as the vocabulary needs it. Empty for a window of
    /// 1, which needs no hashes.
    table: Vec<u32>,
}

impl GreenTokens {
    pub(in crate::decoding) fn new(list: GreenList, n_vocab: u32) -> Self {
        let n_hashed = if list.hashes_itself() { n_vocab } else { 0 };
        Self {
            list,
            n_vocab,
            table: shuffled_start(list.key, n_hashed.min(TABLE_SIZE) as usize),
        }
    }

    /// Returns whether all tokens after the same token share one green list.
    pub(in crate::decoding) const fn depends_on_last_only(&self) -> bool {
        !self.list.hashes_itself()
    }

    /// Returns how many tokens of the vocabulary are green, which is the same after any text.
    pub(in crate::decoding) fn n_green(&self) -> u32 {
        self.list.n_green(self.n_vocab)
    }

    /// Returns whether each token of the vocabulary is green after the token `last`. Only for a
    /// window of 1, since otherwise whether a token is green depends on its own hash too.
    pub(in crate::decoding) fn after(&self, last: TokenId) -> Vec<bool> {
        let mut tokens: Vec<u32> = (0..self.n_vocab).collect();
        let mut green = vec![false; tokens.len()];
        for (place, other) in self.swaps(self.seed_of_last(last)).enumerate() {
            tokens.swap(place, other as usize);
            let token = tokens.get(place).map(|token| *token as usize);
            if let Some(slot) = token.and_then(|token| green.get_mut(token)) {
                *slot = true;
            }
        }
        green
    }

    /// Returns whether a token is green after a text, or `None` if the text is too short to decide.
    pub(in crate::decoding) fn is_green(&self, before: &[TokenId], token: TokenId) -> Option<bool> {
        let start = before.len().checked_sub(self.list.n_before())?;
        let before = before.get(start..)?;
        let seed = if self.list.hashes_itself() {
            self.seed_of_all(before, token)
        } else {
            self.seed_of_last(*before.last()?)
        };
        // Follows the token through the permutation until it lands in the green part.
        let mut place = token.0;
        for (index, other) in (0..).zip(self.swaps(seed)) {
            if other == place {
                return Some(true);
            }
            if index == place {
                place = other;
            }
        }
        Some(false)
    }

    fn swaps(&self, seed: u32) -> impl Iterator<Item = u32> {
        swaps(seed, self.n_vocab).take(self.n_green() as usize)
    }

    fn seed_of_last(&self, last: TokenId) -> u32 {
        low_word(i128::from(self.list.key) * i128::from(last.0))
    }

    /// Returns a seed from the smallest product of the key, the token's own hash and the hash of
    /// one of the tokens. The products wrap around at 64 bits, as those of tensors do.
    fn seed_of_all(&self, before: &[TokenId], token: TokenId) -> u32 {
        let own = self.hash(token).wrapping_mul(i64::from(self.list.key));
        let all = before.iter().copied().chain([token]);
        let products = all.map(|other| own.wrapping_mul(self.hash(other)));
        low_word(products.min().unwrap_or_default().into())
    }

    /// Returns the token's entry in the table, plus one.
    fn hash(&self, token: TokenId) -> i64 {
        let place = token.0 % TABLE_SIZE;
        let entry = self.table.get(place as usize).copied();
        i64::from(entry.unwrap_or(place)) + 1
    }
}

/// Returns the first `n` places of the shuffled table of hashes.
fn shuffled_start(key: u32, n: usize) -> Vec<u32> {
    if n == 0 {
        return Vec::new();
    }
    let mut table: Vec<u32> = (0..TABLE_SIZE).collect();
    for (place, other) in swaps(key, TABLE_SIZE).take(n).enumerate() {
        table.swap(place, other as usize);
    }
    table.truncate(n);
    table.shrink_to_fit();
    table
}

/// Returns the part of a seed that the random number generator uses.
fn low_word(seed: i128) -> u32 {
    seed.rem_euclid((1 << 64) - 1) as u32
}

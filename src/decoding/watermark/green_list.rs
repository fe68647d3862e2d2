//! Which tokens are green, as transformers decides it.

use super::torch_random::swaps;
use crate::decoding::TokenId;
use crate::decoding::filters::GreenList;

/// The size of the table that hashes tokens, a prime.
const TABLE_SIZE: u32 = 1_000_003;

/// Decides which tokens are green in a vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::decoding) struct GreenTokens {
    list: GreenList,
    n_vocab: u32,
    /// The swaps that make the table of hashes, as far as the vocabulary needs it. Empty for a
    /// window of 1, which needs none.
    table: Vec<u32>,
}

impl GreenTokens {
    pub(in crate::decoding) fn new(list: GreenList, n_vocab: u32) -> Self {
        let n_hashed = if list.hashes_itself() { n_vocab } else { 0 };
        let table = swaps(list.key, TABLE_SIZE).take(n_hashed.min(TABLE_SIZE) as usize);
        Self {
            list,
            n_vocab,
            table: table.collect(),
        }
    }

    /// How many tokens of the vocabulary are green after any text.
    pub(in crate::decoding) fn n_green(&self) -> u32 {
        self.list.n_green(self.n_vocab)
    }

    /// Returns for every token of the vocabulary whether it is green after a text. For a window of 1
    /// only, since otherwise each token decides for itself.
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
        // Follows the token through the permutation until it comes to rest among the first.
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

    /// The smallest of the products of the key, each token's hash and the hash of the token itself.
    /// They wrap around at 64 bits, as tensors do.
    fn seed_of_all(&self, before: &[TokenId], token: TokenId) -> u32 {
        let own = self.hash(token).wrapping_mul(i64::from(self.list.key));
        let all = before.iter().copied().chain([token]);
        let products = all.map(|other| own.wrapping_mul(self.hash(other)));
        low_word(products.min().unwrap_or_default().into())
    }

    /// Returns one more than what the table holds at a token's place. It follows the place back
    /// through the swaps, because the table itself would take longer to make.
    fn hash(&self, token: TokenId) -> i64 {
        let place = token.0 % TABLE_SIZE;
        let mut from = self.table.get(place as usize).copied().unwrap_or(place);
        let earlier = self.table.get(..place as usize).unwrap_or_default();
        for (other, index) in earlier.iter().rev().zip((0..place).rev()) {
            if *other == from {
                from = index;
            }
        }
        i64::from(from) + 1
    }
}

/// The part of a seed that the generator uses.
fn low_word(seed: i128) -> u32 {
    seed.rem_euclid((1 << 64) - 1) as u32
}

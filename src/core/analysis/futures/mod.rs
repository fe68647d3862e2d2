//! Figures computed from futures: their tree, how uncertain each position is, and how often a word
//! appears.

mod frequency;
mod tree;

pub use frequency::{Share, WordPattern};
pub use tree::{FutureBranch, future_tree};

use std::collections::{BTreeMap, BTreeSet};

use crate::decoding::TokenId;

/// Returns how many distinct texts there are.
pub fn n_distinct(texts: &[&[TokenId]]) -> usize {
    texts.iter().collect::<BTreeSet<_>>().len()
}

/// Returns the entropy in bits of the first, second, … token over these texts. It estimates the
/// entropy of the tokens from how often each was drawn, so it is at most the binary logarithm of
/// the number of texts. A text that has ended does not count at later positions.
pub fn entropy_by_position(texts: &[&[TokenId]]) -> Vec<f64> {
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    let entropy_at = |position: usize| {
        let mut counts: BTreeMap<TokenId, f64> = BTreeMap::new();
        for token in texts.iter().filter_map(|text| text.get(position)) {
            *counts.entry(*token).or_default() += 1.0;
        }
        let n: f64 = counts.values().sum();
        let bits = counts.values().map(|count| -count / n * (count / n).log2());
        // Adding 0 turns −0 into 0.
        bits.sum::<f64>() + 0.0
    };
    (0..longest).map(entropy_at).collect()
}

#[cfg(test)]
mod tests {
    use super::{entropy_by_position, n_distinct};
    use crate::decoding::TokenId;

    #[test]
    fn entropies_count_the_texts_that_reach_a_position() {
        let ids = |ids: &[u32]| ids.iter().copied().map(TokenId).collect::<Vec<_>>();
        let texts = [ids(&[1, 2]), ids(&[1, 3]), ids(&[1, 2]), ids(&[1])];
        let texts: Vec<&[TokenId]> = texts.iter().map(Vec::as_slice).collect();
        assert_eq!(n_distinct(&texts), 3);
        let [first, second] = entropy_by_position(&texts)[..] else {
            panic!("two positions");
        };
        assert!(first.abs() < 1e-12 && first.is_sign_positive());
        let expected = -(2.0 / 3.0_f64).log2() * 2.0 / 3.0 - (1.0 / 3.0_f64).log2() / 3.0;
        assert!((second - expected).abs() < 1e-12, "{second}");
        assert!(entropy_by_position(&[]).is_empty());
    }
}

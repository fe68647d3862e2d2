//! How similar texts are: the trigrams that they have in common.

use std::collections::HashMap;

use crate::decoding::TokenId;

/// The length of the n-grams that are compared.
const N: usize = 3;

/// Returns the share of trigrams that two of these texts have in common, averaged over all pairs,
/// or `None` if there is no pair of texts with trigrams: Dice 1945, "Measures of the amount of
/// ecologic association between species", applied as self-BLEU is (Zhu et al. 2018, "Texygen").
///
/// The similarity is 1 if all texts are the same, and 0 if no two share a trigram.
pub(super) fn similarity(texts: &[&[TokenId]]) -> Option<f64> {
    let counted: Vec<Trigrams<'_>> = texts.iter().map(|text| Trigrams::of(text)).collect();
    let (mut sum, mut n_pairs) = (0.0, 0_usize);
    for (place, first) in counted.iter().enumerate() {
        for second in counted.iter().skip(place + 1) {
            let n = first.n + second.n;
            if n > 0 {
                sum += 2.0 * first.n_shared(second) as f64 / n as f64;
                n_pairs += 1;
            }
        }
    }
    (n_pairs > 0).then(|| sum / n_pairs as f64)
}

struct Trigrams<'a> {
    counts: HashMap<&'a [TokenId], usize>,
    n: usize,
}

impl<'a> Trigrams<'a> {
    fn of(text: &'a [TokenId]) -> Self {
        let mut counts: HashMap<&[TokenId], usize> = HashMap::new();
        for trigram in text.windows(N) {
            *counts.entry(trigram).or_default() += 1;
        }
        let n = (text.len() + 1).saturating_sub(N);
        Self { counts, n }
    }

    /// Counts the shared trigrams, each as often as it occurs in both.
    fn n_shared(&self, other: &Self) -> usize {
        let in_other = |trigram: &[TokenId]| other.counts.get(trigram).copied().unwrap_or(0);
        let counts = self.counts.iter();
        counts.map(|(trigram, n)| (*n).min(in_other(trigram))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::similarity;
    use crate::decoding::TokenId;

    fn of(texts: &[&str]) -> Option<f64> {
        let texts: Vec<Vec<TokenId>> = texts
            .iter()
            .map(|text| text.bytes().map(|byte| TokenId(u32::from(byte))).collect())
            .collect();
        let texts: Vec<&[TokenId]> = texts.iter().map(Vec::as_slice).collect();
        similarity(&texts)
    }

    #[test]
    fn similarity_is_the_share_of_common_trigrams() {
        assert_eq!(of(&["abcde", "abcde"]), Some(1.0));
        assert_eq!(of(&["abcde", "vwxyz"]), Some(0.0));
        // abc and bcd of three trigrams each.
        let expected = 2.0 * 2.0 / 6.0;
        assert!((of(&["abcde", "abcdX"]).unwrap() - expected).abs() < 1e-12);
        // The pairs (1, 1), (1, 0) and (1, 0).
        let expected = 1.0 / 3.0;
        assert!((of(&["abcd", "abcd", "wxyz"]).unwrap() - expected).abs() < 1e-12);
        // "aaaa" has the trigram "aaa" twice, "aaa" once.
        assert!((of(&["aaaa", "aaa"]).unwrap() - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn one_text_or_short_texts_have_no_similarity() {
        assert_eq!(of(&["abcde"]), None);
        assert_eq!(of(&["ab", "ab"]), None);
        assert_eq!(of(&[]), None);
    }
}

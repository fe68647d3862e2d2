//! Compares two distributions over the vocabulary.

use crate::decoding::TokenId;
use crate::lab::influence::plan::{CandidateShift, TopToken};

/// How many tokens each of two distributions contributes to the list of candidates.
const N_TOP: usize = 4;

/// The logarithms of the probabilities of all tokens: the softmax of raw logits, before any setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LnProbs(Vec<f32>);

impl LnProbs {
    /// Computes the softmax of a row of logits.
    pub(crate) fn of(logits: &[f32]) -> Self {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits
            .iter()
            .map(|logit| f64::from(logit - largest).exp())
            .sum();
        let ln_sum = sum.ln();
        let ln_probs = logits
            .iter()
            .map(|logit| (f64::from(logit - largest) - ln_sum) as f32);
        Self(ln_probs.collect())
    }

    /// Returns the natural logarithm of a token's probability.
    pub(crate) fn ln_prob(&self, token: TokenId) -> f64 {
        let ln_prob = self.0.get(token.index());
        ln_prob.map_or(f64::NEG_INFINITY, |ln_prob| f64::from(*ln_prob))
    }

    /// Returns the most likely token. On a tie, the first one wins.
    pub(crate) fn top(&self) -> TopToken {
        let top = self.most_likely(1);
        let token = top.first().copied().unwrap_or(TokenId(0));
        let prob = self.ln_prob(token).exp();
        TopToken { token, prob }
    }

    /// Returns the Kullback-Leibler divergence D(self ‖ other) in bits: the sum over all tokens of
    /// p · log2(p / q), with p from this distribution and q from the other one.
    pub(crate) fn bits_from(&self, other: &Self) -> f64 {
        let pairs = self.0.iter().zip(&other.0);
        let nats: f64 = pairs
            .map(|(p, q)| (f64::from(*p), f64::from(*q)))
            .filter(|(p, _)| *p > f64::NEG_INFINITY)
            .map(|(p, q)| p.exp() * (p - q))
            .sum();
        // Rounding can leave a distribution a little closer to itself than possible.
        (nats / std::f64::consts::LN_2).max(0.0)
    }

    /// Returns the tokens that either distribution expects most: first those of this one, then those
    /// of the other.
    pub(crate) fn shifts(&self, without: &Self) -> Vec<CandidateShift> {
        let mut tokens = self.most_likely(N_TOP);
        for token in without.most_likely(2 * N_TOP) {
            if tokens.len() < 2 * N_TOP && !tokens.contains(&token) {
                tokens.push(token);
            }
        }
        let shift = |token| CandidateShift {
            token,
            with: self.ln_prob(token).exp(),
            without: without.ln_prob(token).exp(),
        };
        tokens.into_iter().map(shift).collect()
    }

    /// Returns the `n` most likely tokens, most likely first. On a tie, the first one wins.
    fn most_likely(&self, n: usize) -> Vec<TokenId> {
        let mut best: Vec<(TokenId, f32)> = Vec::new();
        for (token, ln_prob) in (0..).map(TokenId).zip(&self.0) {
            let rank = best.partition_point(|(_, other)| *other >= *ln_prob);
            if rank < n {
                best.insert(rank, (token, *ln_prob));
                best.truncate(n);
            }
        }
        best.into_iter().map(|(token, _)| token).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::LnProbs;
    use crate::decoding::TokenId;

    fn of(probs: &[f64]) -> LnProbs {
        let logits: Vec<f32> = probs.iter().map(|prob| prob.ln() as f32 + 3.0).collect();
        LnProbs::of(&logits)
    }

    #[test]
    fn probabilities_are_the_softmax_of_the_logits() {
        let row = of(&[0.5, 0.25, 0.25]);
        assert!((row.ln_prob(TokenId(0)).exp() - 0.5).abs() < 1e-6);
        assert!((row.ln_prob(TokenId(2)).exp() - 0.25).abs() < 1e-6);
        let missing = row.ln_prob(TokenId(9));
        assert!(missing.is_infinite() && missing < 0.0, "{missing}");
        let top = row.top();
        assert_eq!(top.token, TokenId(0));
        assert!((top.prob - 0.5).abs() < 1e-6);
    }

    #[test]
    fn the_divergence_is_that_of_the_textbook() {
        let (p, q) = (of(&[0.5, 0.25, 0.25]), of(&[0.25, 0.25, 0.5]));
        // 0.5 · log2(2) + 0.25 · log2(1) + 0.25 · log2(0.5)
        assert!((p.bits_from(&q) - 0.25).abs() < 1e-6, "{}", p.bits_from(&q));
        let (p, q) = (of(&[0.5, 0.5]), of(&[0.75, 0.25]));
        let expected = 0.5 * (0.5_f64 / 0.75).log2() + 0.5 * (0.5_f64 / 0.25).log2();
        assert!((p.bits_from(&q) - expected).abs() < 1e-6);
        assert!(
            (p.bits_from(&q) - q.bits_from(&p)).abs() > 1e-3,
            "it has a direction"
        );
    }

    #[test]
    fn a_distribution_does_not_diverge_from_itself() {
        let row = of(&[0.7, 0.2, 0.1]);
        assert!(row.bits_from(&row).abs() < 1e-12);
        let impossible = LnProbs::of(&[0.0, f32::NEG_INFINITY, 0.0]);
        assert!(impossible.bits_from(&of(&[0.5, 0.1, 0.4])).is_finite());
    }

    #[test]
    fn candidates_are_those_of_both_distributions() {
        let with = of(&[0.4, 0.3, 0.1, 0.08, 0.07, 0.05]);
        let without = of(&[0.05, 0.07, 0.08, 0.1, 0.3, 0.4]);
        let tokens = |shifts: Vec<super::CandidateShift>| {
            let tokens = shifts.into_iter().map(|shift| shift.token.0);
            tokens.collect::<Vec<_>>()
        };
        assert_eq!(tokens(with.shifts(&without)), [0, 1, 2, 3, 5, 4]);
        let first = with.shifts(&without)[0];
        assert!((first.with - 0.4).abs() < 1e-6 && (first.without - 0.05).abs() < 1e-6);
    }

    #[test]
    fn on_a_tie_the_first_token_comes_first() {
        assert_eq!(
            of(&[0.2, 0.3, 0.3, 0.2]).most_likely(3),
            [1, 2, 0].map(TokenId)
        );
    }
}

//! The differences between two computations of the same probabilities.

use crate::decoding::{Candidates, DecodingError, TokenId};

/// How many tokens of each distribution are compared.
const N_TOP: u32 = 10;

/// The most likely tokens of a distribution with their log-probabilities, best first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TopTokens(Vec<(TokenId, f64)>);

/// How far one computation deviates from the exact one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Deviation {
    /// The largest difference between two log-probabilities, in nats.
    pub largest: f64,
    sum: f64,
    n_compared: usize,
    /// The first distribution with a different most likely token.
    pub first_other: Option<OtherChoice>,
}

/// A distribution whose most likely token differs from the exact one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OtherChoice {
    /// The index of the distribution.
    pub index: usize,
    pub token: TokenId,
    /// The most likely token of the exact distribution.
    pub exact: TokenId,
}

impl TopTokens {
    /// Ranks the most likely tokens of a row of logits.
    pub(super) fn of(logits: &[f32]) -> Result<Self, DecodingError> {
        let mut candidates = Candidates::from_logits(logits)?;
        let log_sum_exp = candidates.softmax().log_sum_exp;
        let mut top: Vec<(TokenId, f64)> = (1..=N_TOP)
            .map(|rank| candidates.nth_best(rank))
            .filter(|candidate| candidate.logit > f32::NEG_INFINITY)
            .map(|candidate| (candidate.token, f64::from(candidate.logit) - log_sum_exp))
            .collect();
        // If the vocabulary has fewer than `N_TOP` tokens, the last one repeats.
        top.dedup();
        Ok(Self(top))
    }
}

impl Deviation {
    /// Compares the distribution with this index, given by its logits, with the exact one.
    pub(super) fn add(
        &mut self,
        index: usize,
        exact: &TopTokens,
        logits: &[f32],
    ) -> Result<(), DecodingError> {
        let mut candidates = Candidates::from_logits(logits)?;
        let log_sum_exp = candidates.softmax().log_sum_exp;
        for (token, log_prob) in &exact.0 {
            if let Some(logit) = candidates.logit(*token) {
                let difference = (f64::from(logit) - log_sum_exp - log_prob).abs();
                self.largest = self.largest.max(difference);
                self.sum += difference;
                self.n_compared += 1;
            }
        }
        let token = candidates.best().token;
        let other = exact.0.first().filter(|(exact, _)| *exact != token);
        self.first_other = self.first_other.or(other.map(|(exact, _)| OtherChoice {
            index,
            token,
            exact: *exact,
        }));
        Ok(())
    }

    /// Returns the mean difference of all compared log-probabilities, in nats.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.n_compared.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::{Deviation, OtherChoice, TopTokens};
    use crate::decoding::TokenId;

    #[test]
    fn equal_distributions_differ_nowhere() {
        let exact = TopTokens::of(&[1.0, 3.0, 2.0]).unwrap();
        let mut deviation = Deviation::default();
        // The same distribution: softmax ignores what is added to all logits.
        deviation.add(0, &exact, &[2.0, 4.0, 3.0]).unwrap();
        assert!(deviation.largest < 1e-6 && deviation.mean() < 1e-6);
        assert_eq!(deviation.first_other, None);
    }

    #[test]
    fn the_largest_difference_and_the_first_other_choice_are_kept() {
        let exact = TopTokens::of(&[0.0, 0.5, f32::NEG_INFINITY]).unwrap();
        let mut deviation = Deviation::default();
        for (index, logit) in [(0, 0.4), (1, -0.1), (2, -0.3)] {
            let logits = [0.0, logit, f32::NEG_INFINITY];
            deviation.add(index, &exact, &logits).unwrap();
        }
        // The first token's logit is 0, so its log-probability is minus the log-sum-exp.
        let log_sum_exp = |logit: f64| (1.0 + logit.exp()).ln();
        let largest = log_sum_exp(0.5) - log_sum_exp(-0.3);
        assert!((deviation.largest - largest).abs() < 1e-6);
        assert!(deviation.mean() < deviation.largest);
        let other = OtherChoice {
            index: 1,
            token: TokenId(0),
            exact: TokenId(1),
        };
        assert_eq!(deviation.first_other, Some(other));
    }
}

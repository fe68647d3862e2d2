//! P-less: a threshold from the distribution alone, the probability that two draws agree.

use serde::{Deserialize, Serialize};

use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::FilterSpec;
use crate::decoding::setting::{ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Drops every candidate less likely than `factor` times the sum of all squared probabilities, which
/// is the probability that two independent draws are the same token.
///
/// The paper has no such parameter: its rule is a factor of 1. The sum is never above the highest
/// probability, so the most likely candidate stays. 0 has no effect.
///
/// Tan, Wu, Howard 2025, "p-less Sampling: A Robust Hyperparameter-Free Approach for LLM Decoding".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PLess {
    /// The factor of the threshold, 0 to 1.
    pub factor: f32,
}

impl PLess {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["p-less"],
        chip: "p-less",
        name: "P-less",
        summary: "Keeps what two draws agree on",
        help: "Keeps the tokens at least this many times as likely as two independent draws are to agree; \
               the paper fixes this factor at 1.",
        formula: "keep a token if p ≥ factor · Σ p²",
        edges: &["Σ p² is never above the highest probability, so the most likely token stays."],
        source: "Tan, Wu, Howard 2025, \"p-less Sampling: A Robust Hyperparameter-Free Approach for LLM \
                 Decoding\", arXiv 2509.23234",
        params: &[ParamSpec {
            neutral: Some(0.0),
            usual: 1.0..=1.0,
            ..ParamSpec::new(field!(Real, Filter::PLess.factor))
        }],
        ..FilterSpec::new(FilterKind::PLess, || Filter::PLess(Self { factor: 1.0 }))
    };
}

impl FilterRule for PLess {
    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let softmax = candidates.softmax();
        let prob_of = softmax.quick_probs();
        let agree: f64 = candidates
            .iter()
            .map(|candidate| prob_of(candidate.logit).powi(2))
            .sum();
        let threshold = softmax.log_sum_exp + (f64::from(self.factor) * agree).ln();
        candidates.keep_from(threshold as f32);
    }

    fn is_neutral(&self) -> bool {
        self.factor <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::PLess;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn the_threshold_is_the_sum_of_the_squares() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (factor, probs, expected) in [
            (0.0, p, p),
            // The squares add up to 0.3, and half of that to 0.15.
            (0.98, p, [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]),
            (0.5, p, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (0.3, p, p),
            // Among equals all stay, however the sum is rounded.
            (1.0, [0.25; 4], [0.25; 4]),
            (1.0, [0.0, 0.5, 0.5, 0.0], [0.0, 0.5, 0.5, 0.0]),
            (1.0, [0.9, 0.05, 0.05, 0.0], [1.0, 0.0, 0.0, 0.0]),
            (1.0, [0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]),
        ] {
            check_filter(&Filter::PLess(PLess { factor }), &probs, &expected);
        }
    }
}

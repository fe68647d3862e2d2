//! Top-nσ: keep the tokens whose logit is within n standard deviations of the best.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::FilterSpec;
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Rules out every candidate whose logit is more than `n` standard deviations below the best. An
/// earlier temperature scales logits and deviation alike, so it does not change which ones stay. 0
/// has no effect.
///
/// Tang, Liu, Xu, Huang 2024, "Top-nσ: Not All Logits Are You Need".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopNSigma {
    /// How many standard deviations; 0 or less is off.
    pub n: f32,
}

impl TopNSigma {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["top-nσ", "top-n-sigma", "n-sigma"],
        chip: "top-nσ",
        name: "Top-nσ",
        summary: "Keeps logits near the best",
        help: "Keeps the tokens whose logit is at most this many standard deviations below the best.",
        formula: "keep a token if logit ≥ max logit − n · σ",
        edges: &[
            "σ is the standard deviation of the logits of all tokens that are still possible.",
            "A temperature before it changes nothing: it scales the logits and σ alike.",
        ],
        source: "Tang, Liu, Xu, Huang 2024, \"Top-nσ: Not All Logits Are You Need\", arXiv 2411.07641",
        params: &[ParamSpec {
            unit: "σ",
            range: 0.0..=5.0,
            limits: Limits::Finite,
            neutral: Some(0.0),
            usual: 1.0..=1.0,
            ..ParamSpec::new(field!(Real, Filter::TopNSigma.n))
        }],
        tool_keys: &[(&[Dialect::LlamaCpp], &["top_n_sigma"])],
        llama_samplers: &["top_n_sigma", "s"],
        ..FilterSpec::new(FilterKind::TopNSigma, || Filter::TopNSigma(Self { n: 1.0 }))
    };
}

impl FilterRule for TopNSigma {
    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let best = candidates.best().logit;
        // Measured from the best, so that the squares lose no digits to a common offset.
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for candidate in candidates.iter() {
            if candidate.logit > f32::NEG_INFINITY {
                let below = f64::from(candidate.logit) - f64::from(best);
                count += 1.0;
                sum += below;
                squares += below * below;
            }
        }
        let mean: f64 = sum / count;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt();
        let threshold = (f64::from(best) - f64::from(self.n) * deviation) as f32;
        candidates.rule_out_below(threshold);
    }

    fn is_neutral(&self) -> bool {
        self.n <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::TopNSigma;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn logits_more_than_n_deviations_below_the_best_are_ruled_out() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (n, probs, expected) in [
            (1.0, p, [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]),
            (0.0, p, p),
            (-1.0, p, p),
            (3.0, p, p),
            (1.0, [0.25; 4], [0.25; 4]),
            (1e-6, p, [0.0, 0.0, 0.0, 1.0]),
            // Impossible tokens do not count: two equal logits have no deviation.
            (0.5, [0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]),
        ] {
            check_filter(&Filter::TopNSigma(TopNSigma { n }), &probs, &expected);
        }
    }
}

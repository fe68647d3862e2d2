//! Top-a: a threshold that rises with the square of the highest probability.

use serde::{Deserialize, Serialize};

use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::FilterSpec;
use crate::decoding::setting::{ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Drops every candidate less likely than `a` times the square of the highest probability. 0 has no
/// effect.
///
/// Bo Peng 2021, "RWKV-LM", the top-a sampling method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopA {
    /// The factor, 0 to 1.
    pub a: f32,
}

impl TopA {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["top-a"],
        chip: "top-a",
        name: "Top-a",
        summary: "Drops tokens far below best",
        help: "Drops the tokens less likely than this factor times the square of the highest \
               probability.",
        formula: "keep a token if p ≥ a · (max p)²",
        edges: &["The more likely the best token, the higher the threshold."],
        example: Some(|| Filter::TopA(Self { a: 1.0 })),
        source: "Bo Peng 2021, \"RWKV-LM\", the top-a sampling method, \
                 https://github.com/BlinkDL/RWKV-LM#the-top-a-sampling-method",
        params: &[ParamSpec {
            neutral: Some(0.0),
            usual: 0.2..=0.2,
            ..ParamSpec::new(field!(Real, Filter::TopA.a))
        }],
        ..FilterSpec::new(FilterKind::TopA, || Filter::TopA(Self { a: 0.2 }))
    };
}

impl FilterRule for TopA {
    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let best = candidates.best().logit;
        let log_best_prob = f64::from(best) - candidates.softmax().log_sum_exp;
        let threshold = f64::from(best) + f64::from(self.a).ln() + log_best_prob;
        candidates.keep_from(best.min(threshold as f32));
    }

    fn is_neutral(&self) -> bool {
        self.a <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::TopA;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn the_threshold_is_a_times_the_square_of_the_best() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (a, probs, expected) in [
            (0.0, p, p),
            // 0.5 · 0.16 = 0.08, then 0.16.
            (0.5, p, p),
            (1.0, p, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (1.0, [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]),
        ] {
            check_filter(&Filter::TopA(TopA { a }), &probs, &expected);
        }
    }
}

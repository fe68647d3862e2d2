//! Min-p: keep the tokens that are at least `p` times as likely as the best one.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Usage};
use crate::decoding::rules::{Equal, Rules};
use crate::decoding::setting::{ParamSpec, Scale, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Drops every candidate less likely than `p` times the best one.
///
/// The threshold follows the model's confidence: high when one token dominates, low when many are
/// plausible. 0 keeps everything; above 1 only the most likely token stays.
///
/// Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MinP {
    /// The fraction of the best candidate's probability, 0 to 1.
    pub p: f32,
}

impl MinP {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["min-p"],
        chip: "min-p",
        name: "Min-p",
        summary: "Keeps tokens near the best",
        help: "Keeps the tokens whose probability is at least this fraction of the highest one.",
        formula: "keep a token if p ≥ P · max p",
        edges: &[
            "A token exactly at the threshold stays; in mistral.rs it is dropped, and a value of 1 is off.",
            "Only distances between logits count, so it cuts the same tokens whatever was cut before it.",
        ],
        example: Some(|| Filter::MinP(Self { p: 0.3 })),
        source: "Nguyen et al. 2024, \"Turning Up the Heat: Min-p Sampling for Creative and Coherent \
                 LLM Outputs\", arXiv 2407.01082",
        usage: Usage::Common,
        params: &[ParamSpec {
            range: 0.001..=1.0,
            neutral: Some(0.0),
            usual: 0.02..=0.2,
            decimals: 3,
            scale: Scale::Logarithmic,
            ..ParamSpec::new(field!(Real, Filter::MinP.p))
        }],
        tool_keys: &[(
            &[Dialect::LlamaCpp, Dialect::Ollama, Dialect::Transformers],
            &["min_p"],
        )],
        llama_samplers: &["min_p", "m"],
        ..FilterSpec::new(FilterKind::MinP, || Filter::MinP(Self { p: 0.05 }))
    };

    /// Whether it has no effect under these rules, although under others it would.
    pub(in crate::decoding) fn is_off(self, rules: Rules) -> bool {
        self.p >= 1.0 && rules.min_p_equal == Equal::Cut
    }
}

impl FilterRule for MinP {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        if self.is_off(context.rules) {
            return;
        }
        let best = candidates.best().logit;
        let threshold = if self.p > 1.0 {
            // Not even the best is that likely, however far `best + ln p` is rounded.
            f32::INFINITY
        } else {
            match context.rules.min_p_equal {
                Equal::Kept => best + self.p.ln(),
                Equal::Cut => (best + self.p.ln()).next_up().min(best),
            }
        };
        candidates.keep_at_least(context.rules.min_keep, threshold);
    }

    fn is_neutral(&self) -> bool {
        self.p <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::MinP;
    use crate::decoding::rules::Equal;
    use crate::decoding::testing::{check_filter, check_filter_with};
    use crate::decoding::{Filter, Rules};

    fn min_p(p: f32) -> Filter {
        Filter::MinP(MinP { p })
    }

    #[test]
    fn tokens_far_below_the_best_are_dropped() {
        let p = [0.1, 0.2, 0.3, 0.4];
        let three = [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0];
        let two = [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0];
        let best = [0.0, 0.0, 0.0, 1.0];
        for (bar, expected) in [
            (0.0, p),
            (0.24, p),
            (0.26, three),
            (0.49, three),
            (0.51, two),
            (0.74, two),
            (0.76, best),
            (1.0, best),
            (1.05, best),
        ] {
            check_filter(&min_p(bar), &p, &expected);
        }
    }

    #[test]
    fn ties_with_the_best_stay_unless_p_is_above_1() {
        check_filter(&min_p(1.0), &[0.4, 0.2, 0.4], &[0.5, 0.0, 0.5]);
        check_filter(&min_p(1.05), &[0.4, 0.2, 0.4], &[1.0, 0.0, 0.0]);
    }

    #[test]
    fn min_keep_tokens_stay_even_at_the_threshold() {
        // Half of a half is exactly a quarter.
        let p = [0.5, 0.25, 0.25];
        let two = [2.0 / 3.0, 1.0 / 3.0, 0.0];
        for (min_keep, equal, expected) in [
            (0, Equal::Kept, p),
            (2, Equal::Kept, p),
            (0, Equal::Cut, [1.0, 0.0, 0.0]),
            (2, Equal::Cut, two),
        ] {
            let rules = Rules {
                min_keep,
                min_p_equal: equal,
                ..Rules::default()
            };
            check_filter_with(rules, &min_p(0.5), &p, &expected);
        }
    }

    #[test]
    fn impossible_values_are_invalid() {
        for p in [-0.1, 1.1, f32::NAN] {
            assert!(min_p(p).validate().is_err(), "{p}");
        }
    }
}

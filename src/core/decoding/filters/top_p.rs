//! Top-p, or nucleus sampling: keep the fewest most likely tokens that hold a share of the
//! probability.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Usage};
use crate::decoding::rules::{Mass, Rules, TopPZero};
use crate::decoding::setting::{ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Keeps the most likely candidates until their probabilities sum to at least `p`, including the
/// one that reaches it. 1 keeps everything, 0 keeps only the most likely one.
///
/// Holtzman, Buys, Du, Forbes, Choi 2019, "The Curious Case of Neural Text Degeneration".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopP {
    /// The probability that the candidates kept must hold, 0 to 1.
    pub p: f32,
}

impl TopP {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["top-p", "nucleus"],
        chip: "top-p",
        name: "Top-p",
        summary: "Keeps this much probability",
        help: "Keeps the fewest most likely tokens whose probabilities add up to at least this value: \
               the nucleus.",
        formula: "keep tokens, the most likely first, until Σ p ≥ P",
        edges: &[
            "The token with which the sum reaches the value stays, also if the sum equals it.",
            "0 keeps only the most likely token. In candle, mistral.rs and Ollama’s MLX runner, 0 is off.",
            "In candle, after top-k, the sum also counts what top-k dropped.",
        ],
        example: Some(|| Filter::TopP(Self { p: 0.7 })),
        source: "Holtzman, Buys, Du, Forbes, Choi 2019, \"The Curious Case of Neural Text \
                 Degeneration\", arXiv 1904.09751",
        usage: Usage::Common,
        params: &[ParamSpec {
            neutral: Some(1.0),
            usual: 0.8..=0.95,
            ..ParamSpec::new(field!(Real, Filter::TopP.p))
        }],
        tool_keys: &[(
            &[
                Dialect::LlamaCpp,
                Dialect::Ollama,
                Dialect::Transformers,
                Dialect::OpenAi,
            ],
            &["top_p"],
        )],
        llama_samplers: &["top_p", "nucleus", "p"],
        ..FilterSpec::new(FilterKind::TopP, || Filter::TopP(Self { p: 0.9 }))
    };

    /// Whether it has no effect under these rules, although under others it would.
    pub(in crate::decoding) fn is_off(self, rules: Rules) -> bool {
        self.p <= 0.0 && rules.top_p_zero == TopPZero::Off
    }
}

impl FilterRule for TopP {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let rules = context.rules;
        if self.is_off(rules) {
            return;
        }
        let share = match rules.top_p_mass {
            Mass::Kept => 1.0,
            Mass::BeforeCuts => candidates.share_left(),
        };
        if let Some(crossing) = candidates.reaching(share, self.p) {
            let guaranteed = candidates.nth_best(rules.min_keep);
            let last = if guaranteed.comes_after(crossing.candidate) {
                guaranteed
            } else {
                crossing.candidate
            };
            candidates.keep_through(last);
        }
    }

    fn is_neutral(&self) -> bool {
        self.p >= 1.0
    }

    fn leaves_one(&self, rules: Rules) -> bool {
        self.p <= 0.0 && rules.top_p_zero == TopPZero::KeepsBest && rules.min_keep <= 1
    }
}

#[cfg(test)]
mod tests {
    use super::TopP;
    use crate::decoding::testing::{check_filter, check_filter_with};
    use crate::decoding::{Filter, Rules};

    fn top_p(p: f32) -> Filter {
        Filter::TopP(TopP { p })
    }

    #[test]
    fn the_fewest_tokens_that_hold_p_stay() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (top, probs, expected) in [
            (0.0, p, [0.0, 0.0, 0.0, 1.0]),
            (0.3, p, [0.0, 0.0, 0.0, 1.0]),
            (0.65, p, [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]),
            (0.75, p, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (0.95, p, p),
            (1.0, p, p),
            // The token that reaches p exactly is the last; among equals the lowest ids stay.
            (0.5, [0.25; 4], [0.5, 0.5, 0.0, 0.0]),
            (0.999, [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]),
        ] {
            check_filter(&top_p(top), &probs, &expected);
        }
    }

    /// The sum of equal probabilities is not exact, and neither is `p`.
    #[test]
    fn a_sum_that_equals_p_reaches_it() {
        for (top, n, n_kept) in [(0.8, 5, 4), (0.5, 10, 5), (0.2, 10, 2), (0.9, 30, 27)] {
            let mut expected = vec![0.0; n];
            expected[..n_kept].fill(1.0 / n_kept as f32);
            check_filter(&top_p(top), &vec![1.0 / n as f32; n], &expected);
        }
    }

    /// In exact arithmetic, 300 of 1,000 equal tokens hold 0.3, which is less than the 32-bit float
    /// nearest to 0.3.
    #[test]
    fn sums_agree_with_exact_arithmetic_where_the_engines_do() {
        for (top, n, n_kept) in [
            (0.3, 1000, 301),
            (0.5, 1000, 500),
            (0.8, 60, 49),
            (0.1, 190, 20),
            (0.6, 240, 145),
            (0.5, 28, 14),
            (0.5, 200_000, 100_000),
            (0.25, 200_000, 50_000),
            (0.5, 151_936, 75_968),
        ] {
            let mut expected = vec![0.0; n];
            expected[..n_kept].fill(1.0 / n_kept as f32);
            check_filter(&top_p(top), &vec![1.0 / n as f32; n], &expected);
        }
    }

    #[test]
    fn a_nucleus_of_many_tokens_is_found() {
        let probs = vec![1e-3; 1000];
        let mut expected = vec![0.0; 1000];
        expected[..900].fill(1.0 / 900.0);
        check_filter(&top_p(0.8995), &probs, &expected);
    }

    #[test]
    fn min_keep_tokens_stay_even_among_equals() {
        let third = 1.0 / 3.0;
        for (min_keep, expected) in [
            (0, [1.0, 0.0, 0.0, 0.0]),
            (1, [1.0, 0.0, 0.0, 0.0]),
            (3, [third, third, third, 0.0]),
            (5, [0.25; 4]),
        ] {
            let rules = Rules {
                min_keep,
                ..Rules::default()
            };
            check_filter_with(rules, &top_p(0.2), &[0.25; 4], &expected);
        }
    }

    #[test]
    fn impossible_values_are_invalid() {
        for p in [-0.1, 1.1, f32::NAN] {
            assert!(top_p(p).validate().is_err(), "{p}");
        }
    }
}

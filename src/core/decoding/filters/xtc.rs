//! XTC, "exclude top choices": now and then, leave out the obvious.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Ranking};
use crate::decoding::setting::{ParamSpec, field};
use crate::decoding::{Candidate, Candidates, Filter, FilterKind, StageContext};

/// With the given probability, drops every candidate that is at least as likely as `threshold`,
/// except the least likely of them. A probability of 0, or a threshold above 0.5, has no effect.
///
/// p-e-w 2024, "Exclude Top Choices (XTC): A sampler that boosts creativity".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Xtc {
    /// How often it acts, 0 to 1.
    pub probability: f32,
    /// The probability from which a candidate is a top choice, 0 to 0.5.
    pub threshold: f32,
}

impl Xtc {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["xtc"],
        chip: "xtc",
        name: "XTC",
        summary: "Sometimes drops top choices",
        help: "With this probability, drops every token above the threshold except the least likely of \
               them.",
        formula: "with probability q, drop every token with p ≥ t except the least likely of them",
        edges: &[
            "It tosses a coin of its own, so it can make the text depend on the seed even with greedy.",
            "With fewer than two tokens at or above the threshold nothing is dropped, so above 0.5 it never acts.",
        ],
        example: Some(|| {
            Filter::Xtc(Self {
                probability: 1.0,
                threshold: 0.1,
            })
        }),
        source: "p-e-w 2024, \"Exclude Top Choices (XTC): A sampler that boosts creativity, breaks \
                 writing clichés, and inhibits non-verbatim repetition\", \
                 https://github.com/oobabooga/text-generation-webui/pull/6335",
        ranking: Ranking::KeepsOrder,
        random: true,
        params: &[
            ParamSpec {
                neutral: Some(0.0),
                usual: 0.5..=0.5,
                ..ParamSpec::new(field!(Real, Filter::Xtc.probability))
            },
            ParamSpec {
                key: "threshold",
                label: "Threshold",
                help: "Only tokens at least this likely can be dropped, and only if there are two or \
                       more, so above 0.5 nothing is ever dropped.",
                range: 0.0..=0.5,
                usual: 0.1..=0.1,
                ..ParamSpec::new(field!(Real, Filter::Xtc.threshold))
            },
        ],
        tool_keys: &[(&[Dialect::LlamaCpp], &["xtc_probability", "xtc_threshold"])],
        llama_samplers: &["xtc", "x"],
        ..FilterSpec::new(FilterKind::Xtc, || {
            Filter::Xtc(Self {
                probability: 0.5,
                threshold: 0.1,
            })
        })
    };
}

impl FilterRule for Xtc {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let coin = context.coins.stage(context.n_chance_before);
        if coin >= f64::from(self.probability) || candidates.n_kept() < 2 {
            return;
        }
        let softmax = candidates.softmax();
        // Engines compare in 32 bits, where a probability that equals the threshold reaches it.
        let is_below = |prob: f64| (prob as f32) < self.threshold;
        // An impossible token is not a top choice, not even at a threshold of 0.
        let n_top = candidates
            .find_in_order(|Candidate { logit, .. }| {
                logit == f32::NEG_INFINITY || is_below(softmax.prob(logit))
            })
            .unwrap_or(candidates.n_kept());
        let n_dropped = n_top.saturating_sub(1);
        if candidates.n_kept() - n_dropped >= context.rules.min_keep as usize {
            candidates.drop_head(n_dropped);
        }
    }

    fn is_neutral(&self) -> bool {
        self.probability <= 0.0 || self.threshold > 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::Xtc;
    use crate::decoding::testing::check_filter;
    use crate::decoding::{Candidates, Coins, Filter, History, Rules, StageContext};

    fn xtc(probability: f32, threshold: f32) -> Filter {
        Filter::Xtc(Xtc {
            probability,
            threshold,
        })
    }

    #[test]
    fn all_top_choices_but_the_last_are_dropped() {
        let p = [0.4, 0.3, 0.2, 0.1];
        for (threshold, expected) in [
            (0.09, [0.0, 0.0, 0.0, 1.0]),
            (0.19, [0.0, 0.0, 2.0 / 3.0, 1.0 / 3.0]),
            (0.29, [0.0, 3.0 / 6.0, 2.0 / 6.0, 1.0 / 6.0]),
            (0.39, p),
            (0.51, p),
        ] {
            check_filter(&xtc(1.0, threshold), &p, &expected);
        }
        check_filter(&xtc(0.0, 0.1), &p, &p);
        check_filter(&xtc(1.0, 0.1), &[1.0], &[1.0]);
    }

    #[test]
    fn a_threshold_of_0_leaves_the_least_likely_possible_token() {
        let p = [0.5, 0.3, 0.2, 0.0];
        check_filter(&xtc(1.0, 0.0), &p, &[0.0, 0.0, 1.0, 0.0]);
        check_filter(&xtc(1.0, 0.0), &[0.0, 1.0, 0.0], &[0.0, 1.0, 0.0]);
    }

    #[test]
    fn it_acts_with_its_probability() {
        let logits = [0.4_f32, 0.3, 0.3].map(f32::ln);
        let n = 10_000;
        let acted = |position: &u64| {
            let context = StageContext {
                history: History::empty(),
                coins: Coins {
                    seed: 3,
                    position: *position,
                },
                n_chance_before: 0,
                rules: Rules::default(),
                n_vocab: logits.len() as u32,
            };
            let mut candidates = Candidates::from_logits(&logits).unwrap();
            xtc(0.25, 0.1).apply(context, &mut candidates);
            candidates.n_kept() < 3
        };
        let n_acted = (0..n).filter(acted).count() as f64;
        // Four standard deviations of a binomial count.
        assert!(
            (n_acted - 2500.0).abs() < 4.0 * (n as f64 * 0.25 * 0.75).sqrt(),
            "{n_acted}"
        );
    }
}

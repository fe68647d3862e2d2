//! Epsilon and eta cutoff: drop tokens below a probability that is fixed or follows the entropy.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::FilterSpec;
use crate::decoding::setting::{Limits, ParamSpec, Scale, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Drops every candidate less likely than `epsilon`, except the most likely one and any tied with
/// it. 0 has no effect.
///
/// Hewitt, Manning, Liang 2022, "Truncation Sampling as Language Model Desmoothing".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpsilonCutoff {
    /// The lowest probability that is kept.
    pub epsilon: f32,
}

/// Drops every candidate less likely than `min(epsilon, √epsilon · e^(-H))`, where H is the
/// entropy, except the most likely one and any tied with it. 0 has no effect.
///
/// Hewitt, Manning, Liang 2022, "Truncation Sampling as Language Model Desmoothing".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EtaCutoff {
    /// The value from which the threshold is derived.
    pub epsilon: f32,
}

const SOURCE: &str = "Hewitt, Manning, Liang 2022, \"Truncation Sampling as Language Model \
    Desmoothing\", arXiv 2210.15191";

/// The base of both filters' parameters: a small probability on a logarithmic slider.
const fn threshold_param(field: crate::decoding::Field<Filter>) -> ParamSpec<Filter> {
    ParamSpec {
        range: 0.0001..=0.1,
        limits: Limits::Below(0.0, 1.0),
        neutral: Some(0.0),
        decimals: 4,
        scale: Scale::Logarithmic,
        ..ParamSpec::new(field)
    }
}

impl EpsilonCutoff {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["epsilon", "epsilon-cutoff"],
        chip: "epsilon",
        name: "Epsilon cutoff",
        summary: "Drops below this probability",
        help: "Drops every token less likely than this.",
        formula: "keep a token if p ≥ ε",
        edges: &["The most likely token always stays, with any that is tied with it."],
        example: Some(|| Filter::EpsilonCutoff(Self { epsilon: 0.06 })),
        source: SOURCE,
        params: &[ParamSpec {
            usual: 0.0003..=0.001,
            ..threshold_param(field!(Real, Filter::EpsilonCutoff.epsilon))
        }],
        tool_keys: &[(&[Dialect::Transformers], &["epsilon_cutoff"])],
        ..FilterSpec::new(FilterKind::EpsilonCutoff, || {
            Filter::EpsilonCutoff(Self { epsilon: 0.001 })
        })
    };
}

impl EtaCutoff {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["eta", "eta-cutoff"],
        chip: "eta",
        name: "Eta cutoff",
        summary: "Drops less when unsure",
        help: "Drops the tokens below a threshold that starts here and falls as the entropy rises.",
        formula: "keep a token if p ≥ min(ε, √ε · e^(−H))",
        edges: &[
            "H is the entropy in nats: the less sure the model is, the lower the threshold.",
            "The most likely token always stays, with any that is tied with it.",
        ],
        example: Some(|| Filter::EtaCutoff(Self { epsilon: 0.1 })),
        source: SOURCE,
        params: &[ParamSpec {
            usual: 0.0003..=0.004,
            ..threshold_param(field!(Real, Filter::EtaCutoff.epsilon))
        }],
        tool_keys: &[(&[Dialect::Transformers], &["eta_cutoff"])],
        ..FilterSpec::new(FilterKind::EtaCutoff, || {
            Filter::EtaCutoff(Self { epsilon: 0.001 })
        })
    };
}

impl FilterRule for EpsilonCutoff {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        drop_below(f64::from(self.epsilon), context, candidates);
    }

    fn is_neutral(&self) -> bool {
        self.epsilon <= 0.0
    }
}

impl FilterRule for EtaCutoff {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let epsilon = f64::from(self.epsilon);
        let by_entropy = epsilon.sqrt() * (-candidates.softmax().entropy_nats).exp();
        drop_below(epsilon.min(by_entropy), context, candidates);
    }

    fn is_neutral(&self) -> bool {
        self.epsilon <= 0.0
    }
}

fn drop_below(prob: f64, context: StageContext<'_>, candidates: &mut Candidates) {
    let guaranteed = candidates.nth_best(context.rules.min_keep).logit;
    let threshold = (prob.ln() + candidates.softmax().log_sum_exp) as f32;
    candidates.keep_from(guaranteed.min(threshold));
}

#[cfg(test)]
mod tests {
    use super::{EpsilonCutoff, EtaCutoff};
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    const P: [f32; 4] = [0.1, 0.2, 0.3, 0.4];

    #[test]
    fn tokens_less_likely_than_epsilon_are_dropped() {
        for (epsilon, probs, expected) in [
            (0.0, P, P),
            (0.05, P, P),
            (0.15, P, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (0.9, P, [0.0, 0.0, 0.0, 1.0]),
            (0.9, [0.4, 0.2, 0.4, 0.0], [0.5, 0.0, 0.5, 0.0]),
        ] {
            check_filter(
                &Filter::EpsilonCutoff(EpsilonCutoff { epsilon }),
                &probs,
                &expected,
            );
        }
    }

    #[test]
    fn the_threshold_of_eta_falls_as_the_entropy_rises() {
        // Entropy 1.2799: √0.5 · e^-1.2799 = 0.1966 and √0.9 · e^-1.2799 = 0.2638.
        for (epsilon, expected) in [
            (0.0, P),
            (0.05, P),
            (0.5, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (0.9, [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]),
        ] {
            check_filter(&Filter::EtaCutoff(EtaCutoff { epsilon }), &P, &expected);
        }
    }
}

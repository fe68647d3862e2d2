//! Temperature: flatten or sharpen the distribution.

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Usage};
use crate::decoding::rules::Rules;
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Divides every logit by the temperature. Below 1 likely tokens become likelier, above 1 unlikely
/// ones do. 1 has no effect, and 0 keeps only the most likely candidate.
///
/// Ackley, Hinton, Sejnowski 1985, "A Learning Algorithm for Boltzmann Machines".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// The divisor, 0 or more.
    pub temperature: f32,
}

impl Temperature {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["temp", "temperature", "T"],
        chip: "T",
        name: "Temperature",
        summary: "< 1 sharpens, > 1 flattens",
        help: "Divides every logit by this number: below 1 favors likely tokens, above 1 evens out the \
               odds, and 0 always takes the most likely token.",
        formula: "logit / T",
        edges: &[
            "0 keeps only the most likely token: there is nothing to divide by.",
            "The order of the tokens never changes, nor does the set of those that are possible.",
        ],
        example: Some(|| Filter::Temperature(Self { temperature: 0.5 })),
        source: "Ackley, Hinton, Sejnowski 1985, \"A Learning Algorithm for Boltzmann \
                 Machines\", https://doi.org/10.1207/s15516709cog0901_7",
        usage: Usage::Common,
        phase: Phase::Reshape,
        cuts_support: false,
        params: &[ParamSpec {
            range: 0.0..=2.0,
            limits: Limits::AtLeast(0.0),
            neutral: Some(1.0),
            usual: 0.5..=1.2,
            ..ParamSpec::new(field!(Real, Filter::Temperature.temperature))
        }],
        tool_keys: &[(
            &[
                Dialect::LlamaCpp,
                Dialect::Ollama,
                Dialect::Transformers,
                Dialect::OpenAi,
            ],
            &["temperature"],
        )],
        llama_samplers: &["temperature", "temp", "t"],
        ..FilterSpec::new(FilterKind::Temperature, || {
            Filter::Temperature(Self { temperature: 0.8 })
        })
    };
}

impl FilterRule for Temperature {
    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        if self.temperature <= 0.0 {
            candidates.keep_head(1);
        } else {
            // If the division overflows, measure from the best: logits go to −∞, never to +∞.
            let best = candidates.best().logit;
            let overflows = (best / self.temperature).is_infinite();
            let origin = if overflows { best } else { 0.0 };
            candidates.map_logits(|logit| (logit - origin) / self.temperature);
        }
    }

    #[expect(
        clippy::float_cmp,
        reason = "exactly 1 is the only value that has no effect"
    )]
    fn is_neutral(&self) -> bool {
        self.temperature == 1.0
    }

    fn leaves_one(&self, _rules: Rules) -> bool {
        self.temperature <= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::Temperature;
    use crate::decoding::testing::check_filter;
    use crate::decoding::{Candidates, Filter, testing};

    const P: [f32; 4] = [0.1, 0.2, 0.3, 0.4];

    fn temperature(temperature: f32) -> Filter {
        Filter::Temperature(Temperature { temperature })
    }

    #[test]
    fn temperature_raises_probabilities_to_its_inverse() {
        for (t, expected) in [
            (1.0, P),
            (0.5, [0.01 / 0.3, 0.04 / 0.3, 0.09 / 0.3, 0.16 / 0.3]),
            (0.0, [0.0, 0.0, 0.0, 1.0]),
            (1e-9, [0.0, 0.0, 0.0, 1.0]),
            (1e-40, [0.0, 0.0, 0.0, 1.0]),
            (1e9, [0.25; 4]),
        ] {
            check_filter(&temperature(t), &P, &expected);
        }
    }

    #[test]
    fn a_tiny_temperature_leaves_ties_tied() {
        check_filter(&temperature(1e-40), &[0.4, 0.4, 0.2], &[0.5, 0.5, 0.0]);
        check_filter(&temperature(0.0), &[0.4, 0.4, 0.2], &[1.0, 0.0, 0.0]);
    }

    #[test]
    fn logits_are_divided_and_impossible_tokens_stay_impossible() {
        let mut candidates = Candidates::from_logits(&[3.0, f32::NEG_INFINITY, -1.0]).unwrap();
        testing::apply(&temperature(0.5), &[], &mut candidates);
        let logits: Vec<f32> = candidates.iter().map(|candidate| candidate.logit).collect();
        assert_eq!(logits, [6.0, f32::NEG_INFINITY, -2.0]);
    }

    #[test]
    fn impossible_temperatures_are_invalid() {
        for t in [-0.1, f32::NAN, f32::INFINITY] {
            assert!(temperature(t).validate().is_err(), "{t}");
        }
    }
}

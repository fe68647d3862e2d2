//! Dynamic temperature: hotter when the model is undecided.

use serde::{Deserialize, Serialize};

use super::Temperature;
use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase};
use crate::decoding::rules::Rules;
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// A temperature between `temperature - range` (not below 0) and `temperature + range` that rises
/// with the entropy H of the n candidates: `low + (high - low) · (H / ln n)^exponent`.
/// With a range of 0 it is a plain temperature.
///
/// kalomaze 2023, "Dynamic Temperature Sampling".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DynamicTemperature {
    /// The middle of the range, 0 or more.
    pub temperature: f32,
    /// How far it may move to either side, 0 or more.
    pub range: f32,
    /// How it follows the entropy: proportionally at 1, later above 1.
    pub exponent: f32,
}

impl DynamicTemperature {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["dyn-temp", "dynamic-temperature"],
        chip: "dyn-temp",
        name: "Dynamic temperature",
        summary: "Hotter when unsure",
        help: "The middle of the temperature’s range: it rises when the model is unsure and falls \
               when it is sure; with a range of 0 it stays constant.",
        formula: "logit / T, T = low + (high − low) · (H / ln n)^exponent",
        edges: &[
            "low and high are the temperature minus and plus the range; low is not below 0.",
            "H is the entropy and n the number of the tokens that the stages before it left, so it depends on cuts before it.",
            "With a range of 0 it is a plain temperature, and with a single token left it does nothing.",
        ],
        source: "kalomaze 2024, \"Full DynaTemp implementation + UI\", \
                 https://github.com/LostRuins/koboldcpp/pull/600",
        phase: Phase::Reshape,
        cuts_support: false,
        generalizes: Some(FilterKind::Temperature),
        params: &[
            ParamSpec {
                range: 0.0..=2.0,
                limits: Limits::AtLeast(0.0),
                neutral: Some(1.0),
                usual: 0.7..=1.2,
                ..ParamSpec::new(field!(Real, Filter::DynamicTemperature.temperature))
            },
            ParamSpec {
                key: "range",
                label: "Range",
                help: "How far the temperature may move to either side of its middle.",
                range: 0.0..=2.0,
                limits: Limits::AtLeast(0.0),
                neutral: Some(0.0),
                usual: 0.5..=0.5,
                ..ParamSpec::new(field!(Real, Filter::DynamicTemperature.range))
            },
            ParamSpec {
                key: "exponent",
                label: "Exponent",
                help: "How the temperature follows the entropy: above 1 it rises later, below 1 sooner.",
                range: 0.0..=4.0,
                limits: Limits::Above(0.0),
                usual: 1.0..=1.0,
                ..ParamSpec::new(field!(Real, Filter::DynamicTemperature.exponent))
            },
        ],
        tool_keys: &[(
            &[Dialect::LlamaCpp],
            &["temperature", "dynatemp_range", "dynatemp_exponent"],
        )],
        llama_samplers: &["temperature"],
        ..FilterSpec::new(FilterKind::DynamicTemperature, || {
            Filter::DynamicTemperature(Self {
                temperature: 1.0,
                range: 0.5,
                exponent: 1.0,
            })
        })
    };

    /// Whether it is a plain temperature: it has no range to move in.
    pub fn is_plain(self) -> bool {
        self.range <= 0.0
    }

    /// The plain temperature in the middle of its range.
    pub const fn middle(self) -> Temperature {
        Temperature {
            temperature: self.temperature,
        }
    }
}

impl FilterRule for DynamicTemperature {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        if self.is_plain() {
            self.middle().apply(context, candidates);
            return;
        }
        let n_kept = candidates.n_kept();
        if n_kept == 1 {
            return;
        }
        let low = (self.temperature - self.range).max(0.0);
        let high = self.temperature + self.range;
        let relative_entropy = candidates.softmax().entropy_nats / (n_kept as f64).ln();
        let temperature = low + (high - low) * (relative_entropy as f32).powf(self.exponent);
        Temperature { temperature }.apply(context, candidates);
    }

    fn is_neutral(&self) -> bool {
        self.is_plain() && self.middle().is_neutral()
    }

    fn leaves_one(&self, rules: Rules) -> bool {
        self.is_plain() && self.middle().leaves_one(rules)
    }

    fn chip_words(&self) -> Option<String> {
        Some(if self.is_plain() {
            format!("{} {}", Temperature::SPEC.chip, self.temperature)
        } else {
            format!("dyn-temp {} range {}", self.temperature, self.range)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::DynamicTemperature;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    fn dynamic(temperature: f32, range: f32, exponent: f32) -> Filter {
        Filter::DynamicTemperature(DynamicTemperature {
            temperature,
            range,
            exponent,
        })
    }

    #[test]
    fn an_undecided_model_gets_the_highest_temperature() {
        // All equal: entropy is ln n, so the temperature is 1.5 whatever the exponent.
        check_filter(&dynamic(1.0, 0.5, 3.0), &[0.25; 4], &[0.25; 4]);
        // Two of four possible: half of ln 4, temperature 0.5 + 1 · 0.5 = 1.
        check_filter(
            &dynamic(1.0, 0.5, 1.0),
            &[0.5, 0.5, 0.0, 0.0],
            &[0.5, 0.5, 0.0, 0.0],
        );
    }

    #[test]
    fn the_temperature_follows_the_entropy() {
        let p = [0.1_f64, 0.2, 0.3, 0.4];
        let entropy: f64 = p.iter().map(|p| -p * p.ln()).sum();
        let inverse = 1.0 / (0.3 + 0.8 * (entropy / 4_f64.ln()).powi(2));
        let weights = p.map(|p| p.powf(inverse));
        let total: f64 = weights.iter().sum();
        let expected = weights.map(|weight| (weight / total) as f32);
        check_filter(&dynamic(0.7, 0.4, 2.0), &p.map(|p| p as f32), &expected);
    }

    #[test]
    fn a_range_of_zero_is_plain_temperature() {
        let p = [0.1, 0.2, 0.3, 0.4];
        check_filter(&dynamic(1.0, 0.0, 1.0), &p, &p);
        check_filter(&dynamic(0.0, 0.0, 1.0), &p, &[0.0, 0.0, 0.0, 1.0]);
    }
}

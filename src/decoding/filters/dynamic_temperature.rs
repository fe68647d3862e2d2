//! Dynamic temperature: hotter where the model is undecided.

use serde::{Deserialize, Serialize};

use super::Temperature;
use crate::decoding::{Candidates, Rule, StageContext};

/// A temperature between `temperature - range` (not below 0) and `temperature + range` that rises
/// with the entropy H of the n candidates: `low + (high - low) · (H / ln n)^exponent`.
/// A range of 0 is plain temperature.
///
/// kalomaze 2023, "Dynamic Temperature Sampling".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DynamicTemperature {
    /// The middle, 0 or more.
    pub temperature: f32,
    /// How far it may go to either side, 0 or more.
    pub range: f32,
    /// How it follows the entropy: 1 in proportion, above 1 later.
    pub exponent: f32,
}

impl Rule for DynamicTemperature {
    fn name(&self) -> &'static str {
        "Dynamic temperature"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let mut temperature = self.temperature;
        if self.range > 0.0 {
            let n_kept = candidates.n_kept();
            if n_kept == 1 {
                return;
            }
            let low = (self.temperature - self.range).max(0.0);
            let high = self.temperature + self.range;
            let undecided = candidates.softmax().entropy_nats / (n_kept as f64).ln();
            temperature = low + (high - low) * (undecided as f32).powf(self.exponent);
        }
        Temperature { temperature }.apply(context, candidates);
    }

    fn is_neutral(&self) -> bool {
        self.range <= 0.0
            && Temperature {
                temperature: self.temperature,
            }
            .is_neutral()
    }

    fn complaint(&self) -> Option<String> {
        let Self {
            range, exponent, ..
        } = *self;
        if !(range.is_finite() && range >= 0.0) {
            return Some("The range of the temperature is 0 or more".to_owned());
        }
        if !(exponent.is_finite() && exponent > 0.0) {
            return Some("The exponent of the temperature is above 0".to_owned());
        }
        Temperature {
            temperature: self.temperature,
        }
        .complaint()
    }

    fn words(&self) -> String {
        let Self {
            temperature,
            range,
            exponent,
        } = self;
        format!("dyn-temp {temperature} range {range} exponent {exponent}")
    }
}

impl std::fmt::Display for DynamicTemperature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.range > 0.0 {
            write!(f, "dyn-temp {} range {}", self.temperature, self.range)
        } else {
            write!(f, "T {}", self.temperature)
        }
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

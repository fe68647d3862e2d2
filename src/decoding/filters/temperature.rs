//! Temperature: flatten or sharpen the distribution.

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, Rule, StageContext};

/// Divides every logit by the temperature. Below 1 the likely get likelier, above 1 the unlikely
/// do; 1 changes nothing, and 0 leaves the most likely candidate alone.
///
/// Ackley, Hinton, Sejnowski 1985, "A Learning Algorithm for Boltzmann Machines".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Temperature {
    /// The divisor, 0 or more.
    pub temperature: f32,
}

impl Rule for Temperature {
    fn name(&self) -> &'static str {
        "Temperature"
    }

    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        if self.temperature <= 0.0 {
            candidates.keep_head(1);
        } else {
            // Where the division overflows, scores count from the best: towards −∞, never to +∞.
            let best = candidates.best().logit;
            let overflows = (best / self.temperature).is_infinite();
            let origin = if overflows { best } else { 0.0 };
            candidates.map_logits(|logit| (logit - origin) / self.temperature);
        }
    }

    #[expect(
        clippy::float_cmp,
        reason = "exactly 1 is the one value that does nothing"
    )]
    fn is_neutral(&self) -> bool {
        self.temperature == 1.0
    }

    fn complaint(&self) -> Option<String> {
        let possible = self.temperature.is_finite() && self.temperature >= 0.0;
        (!possible).then(|| "Temperature is 0 or more".to_owned())
    }
}

impl std::fmt::Display for Temperature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "T {}", self.temperature)
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
    fn logits_are_divided_and_impossible_tokens_stay_so() {
        let mut candidates = Candidates::from_logits(&[3.0, f32::NEG_INFINITY, -1.0]).unwrap();
        testing::apply(&temperature(0.5), &[], &mut candidates);
        let logits: Vec<f32> = candidates.iter().map(|candidate| candidate.logit).collect();
        assert_eq!(logits, [6.0, f32::NEG_INFINITY, -2.0]);
    }

    #[test]
    fn impossible_temperatures_are_named() {
        for t in [-0.1, f32::NAN, f32::INFINITY] {
            assert!(temperature(t).complaint().is_some(), "{t}");
        }
    }
}

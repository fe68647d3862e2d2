//! Quadratic smoothing: bend the scores, so that the best stay close and the rest falls away.

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, Rule, StageContext};

/// Moves each logit, which lies d below the best (d ≤ 0), to
/// `best - factor · d² · (3 - curve) / 2 + factor · d³ · (curve - 1) / 2`.
/// A factor of 0 does nothing; a curve of 1 is the plain square, above 1 the tail falls faster.
///
/// kalomaze 2024, "Smooth Sampling / Quadratic Sampling", with the curve of text-generation-webui.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QuadraticSmoothing {
    /// How strongly the scores fall, 0 or more.
    pub factor: f32,
    /// How much of the fall is cubic, 1 or more.
    pub curve: f32,
}

impl Rule for QuadraticSmoothing {
    fn name(&self) -> &'static str {
        "Quadratic smoothing"
    }

    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let best = candidates.best().logit;
        let square = self.factor * (3.0 - self.curve) / 2.0;
        let cube = self.factor * (self.curve - 1.0) / 2.0;
        candidates.map_logits(|logit| {
            let below = logit - best;
            if below.is_finite() {
                best + below * below * (cube * below - square)
            } else {
                logit
            }
        });
    }

    fn is_neutral(&self) -> bool {
        self.factor == 0.0
    }

    fn complaint(&self) -> Option<String> {
        if !(self.factor.is_finite() && self.factor >= 0.0) {
            return Some("The smoothing factor is 0 or more".to_owned());
        }
        let possible = (1.0..=3.0).contains(&self.curve);
        (!possible).then(|| "The smoothing curve lies between 1 and 3".to_owned())
    }

    fn words(&self) -> String {
        format!("{self} curve {}", self.curve)
    }
}

impl std::fmt::Display for QuadraticSmoothing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "smooth {}", self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::QuadraticSmoothing;
    use crate::decoding::testing::{apply, check_filter};
    use crate::decoding::{Candidates, Filter};

    fn quadratic(factor: f32, curve: f32) -> Filter {
        Filter::QuadraticSmoothing(QuadraticSmoothing { factor, curve })
    }

    #[test]
    fn scores_fall_with_the_square_of_their_distance() {
        let low = f32::NEG_INFINITY;
        for (filter, expected) in [
            (quadratic(0.5, 1.0), [5.0, 4.5, 3.0, low]),
            // Half as much square, and 0.25 times the cube: 1/4 · 1 + 1/4 · 1, 1/4 · 4 + 1/4 · 8.
            (quadratic(0.5, 2.0), [5.0, 4.5, 2.0, low]),
        ] {
            let mut candidates = Candidates::from_logits(&[5.0, 4.0, 3.0, low]).unwrap();
            apply(&filter, &[], &mut candidates);
            let logits: Vec<f32> = candidates.iter().map(|candidate| candidate.logit).collect();
            assert_eq!(logits, expected);
        }
    }

    #[test]
    fn a_factor_of_zero_changes_nothing() {
        check_filter(&quadratic(0.0, 1.0), &[0.3, 0.7], &[0.3, 0.7]);
        assert!(quadratic(-1.0, 1.0).complaint().is_some());
        assert!(quadratic(1.0, 9.0).complaint().is_some());
    }
}

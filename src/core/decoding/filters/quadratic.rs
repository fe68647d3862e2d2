//! Quadratic smoothing: bend the logits, so that the best stay close together and the rest fall
//! away.

use serde::{Deserialize, Serialize};

use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking};
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Moves each logit, at distance d from the best (d ≤ 0), to
/// `best - factor · d² · (3 - curve) / 2 + factor · d³ · (curve - 1) / 2`.
/// A factor of 0 has no effect. A curve of 1 is purely quadratic; above 1 the tail falls faster.
///
/// kalomaze 2024, "Quadratic sampling" and "Cubic sampling w/ curve param", pull requests of
/// text-generation-webui.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QuadraticSmoothing {
    /// How steeply the logits fall, 0 or more.
    pub factor: f32,
    /// How much of the fall is cubic, 1 to 3.
    pub curve: f32,
}

impl QuadraticSmoothing {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["smooth", "smoothing", "quadratic"],
        chip: "smooth",
        name: "Quadratic smoothing",
        summary: "Lowers distant logits",
        help: "Puts each logit this factor times d² below the best, where d was its distance: close \
               contenders gain, distant ones lose.",
        formula: "best − factor · d² · (3 − curve) / 2 + factor · d³ · (curve − 1) / 2, d = logit − best",
        edges: &[
            "d is 0 or negative, so both terms lower a logit.",
            "Two close logits can be rounded to the same value; then the lower id comes first.",
        ],
        source: "kalomaze 2024, \"Quadratic sampling\", https://github.com/oobabooga/text-generation-webui/pull/5403, \
                 and \"Cubic sampling w/ curve param\", \
                 https://github.com/oobabooga/text-generation-webui/pull/5551",
        phase: Phase::Reshape,
        cuts_support: false,
        // It can round two close logits to the same value, and then the lower id comes first.
        ranking: Ranking::KeepsOrder,
        params: &[
            ParamSpec {
                range: 0.0..=2.0,
                limits: Limits::AtLeast(0.0),
                neutral: Some(0.0),
                usual: 0.2..=0.5,
                ..ParamSpec::new(field!(Real, Filter::QuadraticSmoothing.factor))
            },
            ParamSpec {
                key: "curve",
                label: "Curve",
                help: "How much faster the logits far below the best fall, from purely quadratic at 1 to \
                       purely cubic at 3.",
                range: 1.0..=3.0,
                limits: Limits::Between(1.0, 3.0),
                usual: 1.0..=1.0,
                ..ParamSpec::new(field!(Real, Filter::QuadraticSmoothing.curve))
            },
        ],
        ..FilterSpec::new(FilterKind::QuadraticSmoothing, || {
            Filter::QuadraticSmoothing(Self {
                factor: 0.3,
                curve: 1.0,
            })
        })
    };
}

impl QuadraticSmoothing {
    /// Returns what becomes of a logit, given the largest.
    pub(in crate::decoding) fn new_logit(self, logit: f32, best: f32) -> f32 {
        let square = self.factor * (3.0 - self.curve) / 2.0;
        let cube = self.factor * (self.curve - 1.0) / 2.0;
        let below = logit - best;
        if below.is_finite() {
            best + below * below * (cube * below - square)
        } else {
            logit
        }
    }
}

impl FilterRule for QuadraticSmoothing {
    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let best = candidates.best().logit;
        candidates.map_logits(|logit| self.new_logit(logit, best));
    }

    fn is_neutral(&self) -> bool {
        self.factor == 0.0
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
    fn logits_fall_with_the_square_of_their_distance() {
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
    fn a_factor_of_zero_has_no_effect() {
        check_filter(&quadratic(0.0, 1.0), &[0.3, 0.7], &[0.3, 0.7]);
        assert!(quadratic(-1.0, 1.0).validate().is_err());
        assert!(quadratic(1.0, 9.0).validate().is_err());
    }
}

//! Tail-free sampling: cut where the sorted probabilities flatten out.

use serde::{Deserialize, Serialize};

use crate::decoding::candidates::RunningSum;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::FilterSpec;
use crate::decoding::setting::{ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Takes the curvature of the sorted probabilities (the absolute second differences), and keeps the
/// most likely candidates until they hold more than `z` of its total. 1 keeps everything. With two
/// candidates or fewer there is no curvature, and nothing is cut.
///
/// Bricken 2019, "Tail Free Sampling".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TailFree {
    /// The share of the curvature to keep, 0 to 1.
    pub z: f32,
}

impl TailFree {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["tail-free", "tfs"],
        chip: "tail-free",
        name: "Tail-free",
        summary: "Drops the flat tail",
        help: "Drops the tail where the sorted probabilities flatten out, keeping this share of their \
               curvature.",
        formula: "keep tokens, the most likely first, until Σ |p_r − 2 p_(r+1) + p_(r+2)| exceeds z of its total",
        edges: &[
            "p_r is the probability of rank r.",
            "With two tokens or fewer, or with all equally likely, there is no curvature, and nothing is cut.",
        ],
        example: Some(|| Filter::TailFree(Self { z: 0.8 })),
        source: "Bricken 2019, \"Tail Free Sampling\", https://www.trentonbricken.com/Tail-Free-Sampling",
        params: &[ParamSpec {
            neutral: Some(1.0),
            usual: 0.95..=0.95,
            ..ParamSpec::new(field!(Real, Filter::TailFree.z))
        }],
        ..FilterSpec::new(FilterKind::TailFree, || Filter::TailFree(Self { z: 0.95 }))
    };
}

impl FilterRule for TailFree {
    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let softmax = candidates.softmax();
        let sorted = candidates.head(candidates.n_kept());
        let probs: Vec<f64> = sorted
            .iter()
            .map(|candidate| softmax.prob(candidate.logit))
            .collect();
        let curvature: Vec<f64> = probs
            .windows(3)
            .map(|probs| match probs {
                [a, b, c] => ((a - b) - (b - c)).abs(),
                _ => 0.0,
            })
            .collect();
        let mut total = RunningSum::default();
        for bend in &curvature {
            total.add(*bend);
        }
        let total = total.value();
        if total <= 0.0 {
            return;
        }
        let min_keep = context.rules.min_keep.max(1) as usize;
        let mut sum = RunningSum::default();
        for (rank, bend) in curvature.iter().enumerate() {
            if sum.add(bend / total) > f64::from(self.z) && rank >= min_keep {
                candidates.keep_head(rank);
                return;
            }
        }
    }

    fn is_neutral(&self) -> bool {
        self.z >= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::TailFree;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn the_flat_tail_is_dropped() {
        // Slopes 0.15, 0.10, 0.05; they change by 0.05 and 0.05: half of the total each.
        let p = [0.1, 0.15, 0.25, 0.4];
        let p = p.map(|p: f32| p / 0.9);
        for (z, probs, expected) in [
            (1.0, p, p),
            (0.9, p, [0.0, 0.0, 0.0, 1.0]),
            (0.25, p, [0.0, 0.0, 0.0, 1.0]),
            (0.5, [0.25; 4], [0.25; 4]),
            (0.5, [0.6, 0.4, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]),
        ] {
            check_filter(&Filter::TailFree(TailFree { z }), &probs, &expected);
        }
        check_filter(
            &Filter::TailFree(TailFree { z: 0.1 }),
            &[0.6, 0.4],
            &[0.6, 0.4],
        );
    }
}

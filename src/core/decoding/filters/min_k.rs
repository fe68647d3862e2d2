//! Min-k: cut at the steepest drop among the highest logits.

use serde::{Deserialize, Serialize};

use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::FilterSpec;
use crate::decoding::setting::{Limits, ParamSpec, field};
use crate::decoding::{Candidates, Filter, FilterKind, StageContext};

/// Keeps the candidates before the cliff: of the drops from one sorted logit to the next, divided by
/// the range of all logits and by the rank, the largest. At least `tau` divided by the range stay,
/// rounded down, so that nearly equal logits are not cut to one.
///
/// A temperature scales all logits alike, so it does not move the cliff. Impossible candidates do
/// not count. −1 has no effect, and 0 cuts at the cliff alone.
///
/// Ding, Li, Garces Arias, Aßenmacher, Heumann, Zhang 2026, "Min-k Sampling: Decoupling Truncation
/// from Temperature Scaling via Relative Logit Dynamics".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MinK {
    /// The minimum number of candidates to keep if the logits span a range of 1; below 0 is off.
    pub tau: f32,
}

/// Added to the range, so that it is not zero if all logits are equal.
const LEAST_RANGE: f64 = 1e-8;

/// The shortest head that is searched for the cliff.
const SHORTEST_HEAD: usize = 64;

impl MinK {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["min-k"],
        chip: "min-k",
        name: "Min-k",
        summary: "Cuts at the steepest drop",
        help: "Keeps the tokens before the drop of the sorted logits that is steepest for its rank, and \
               at least this number divided by the range of the logits.",
        formula: "keep the tokens before the largest (l_r − l_(r+1)) / r, and at least τ / range",
        edges: &[
            "l_r is the logit of rank r, and the range is the distance from the highest logit to the lowest. τ / range is rounded down.",
            "Of equally steep drops, the first one counts.",
            "−1 is off, and 0 cuts at the steepest drop alone, which no temperature before it moves.",
        ],
        source: "Ding, Li, Garces Arias, Aßenmacher, Heumann, Zhang 2026, \"Min-k Sampling: Decoupling \
                 Truncation from Temperature Scaling via Relative Logit Dynamics\", arXiv \
                 2604.11012",
        params: &[ParamSpec {
            range: -1.0..=20.0,
            limits: Limits::AtLeast(-1.0),
            neutral: Some(-1.0),
            usual: 3.0..=3.0,
            decimals: 1,
            ..ParamSpec::new(field!(Real, Filter::MinK.tau))
        }],
        ..FilterSpec::new(FilterKind::MinK, || Filter::MinK(Self { tau: 3.0 }))
    };
}

impl FilterRule for MinK {
    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let possible = |logit: &f32| *logit > f32::NEG_INFINITY;
        let logits = candidates.iter().map(|candidate| candidate.logit);
        let least = logits.filter(possible).fold(f32::INFINITY, f32::min);
        let best = candidates.best().logit;
        let range = f64::from(best) - f64::from(least) + LEAST_RANGE;
        let n_least = (f64::from(self.tau) / range)
            .floor()
            .min(candidates.n_kept() as f64);
        #[expect(clippy::cast_sign_loss, reason = "a negative number is off")]
        let n_least = n_least as usize;
        let n_kept = rank_of_cliff(f64::from(least), candidates).max(n_least);
        candidates.keep_head(n_kept);
    }

    fn is_neutral(&self) -> bool {
        self.tau < 0.0
    }
}

/// Returns how many candidates come before the cliff, the first one among equals.
fn rank_of_cliff(least: f64, candidates: &mut Candidates) -> usize {
    let (mut steepest, mut cliff) = (0.0, 1);
    let mut n = SHORTEST_HEAD;
    loop {
        let is_all = n >= candidates.n_kept();
        let head = candidates.head(n);
        // The last drop is known only once the next logit is.
        for (rank, pair) in (1_u32..).zip(head.windows(2)) {
            let [upper, lower] = [pair.first(), pair.last()]
                .map(|next| next.map_or(least, |next| f64::from(next.logit).max(least)));
            let drop = (upper - lower) / f64::from(rank);
            if drop > steepest {
                (steepest, cliff) = (drop, rank as usize);
            }
        }
        // Even if all that is left of the range dropped at once, the drop would be no steeper than
        // this.
        let last = head.last().map_or(least, |last| f64::from(last.logit));
        if is_all || (last - least) / n as f64 <= steepest {
            return cliff;
        }
        n *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::MinK;
    use crate::decoding::testing::check_filter;
    use crate::decoding::{Candidates, Filter};

    fn n_kept(tau: f32, logits: &[f32]) -> usize {
        let mut candidates = Candidates::from_logits(logits).unwrap();
        let filter = Filter::MinK(MinK { tau });
        crate::decoding::testing::apply(&filter, &[], &mut candidates);
        candidates.n_kept()
    }

    #[test]
    fn the_cut_is_at_the_steepest_drop_by_rank() {
        for (logits, expected) in [
            // Drops by rank: 1, 0.5, 2, 0.25.
            (&[9.0, 8.0, 7.0, 1.0, 0.0][..], 3),
            // The first of two equally steep drops: 2 at rank 1, and 4 at rank 2.
            (&[8.0, 6.0, 2.0], 1),
            (&[5.0], 1),
            (&[0.0, f32::NEG_INFINITY, 1.0, f32::NEG_INFINITY], 1),
        ] {
            assert_eq!(n_kept(0.0, logits), expected, "{logits:?}");
            assert_eq!(n_kept(-1.0, logits), logits.len(), "{logits:?}");
        }
    }

    #[test]
    fn a_small_range_keeps_more() {
        let logits = [0.5, 0.25, 0.125, 0.0];
        for (tau, expected) in [
            (0.0, 1),
            (0.4, 1),
            (1.01, 2),
            (1.51, 3),
            (2.01, 4),
            (9.0, 4),
        ] {
            assert_eq!(n_kept(tau, &logits), expected, "{tau}");
        }
        check_filter(&Filter::MinK(MinK { tau: 3.0 }), &[0.25; 4], &[0.25; 4]);
    }

    #[test]
    fn a_cliff_far_down_is_found() {
        // Equal logits down to rank 200, then a drop larger than all others by rank.
        let mut logits = vec![10.0; 200];
        logits.extend((0..800).map(|i| -1e-3 * i as f32));
        assert_eq!(n_kept(0.0, &logits), 200);
    }

    #[test]
    fn a_temperature_does_not_move_the_cliff() {
        let logits = crate::decoding::testing::row(3, 2.0);
        let expected = n_kept(0.0, &logits);
        for temperature in [0.25_f32, 0.5, 2.0, 8.0] {
            let heated: Vec<f32> = logits.iter().map(|logit| logit / temperature).collect();
            assert_eq!(n_kept(0.0, &heated), expected, "{temperature}");
        }
    }
}

//! Tail-free: cut where the sorted probabilities flatten out.

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, Rule, StageContext};

/// Sorts the candidates, takes how much the slope changes from one to the next, and keeps from the
/// most likely on until these changes sum to more than `z` of their total. 1 keeps everything. With
/// two candidates or fewer there is no change of slope, and nothing is cut.
///
/// Phénix, Egan 2020, "A New Way of Sampling Text: Tail Free Sampling".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TailFree {
    /// The share of the changes, 0 to 1.
    pub z: f32,
}

impl Rule for TailFree {
    fn name(&self) -> &'static str {
        "Tail-free"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let softmax = candidates.softmax();
        let sorted = candidates.head(candidates.n_kept());
        let probs: Vec<f64> = sorted
            .iter()
            .map(|candidate| softmax.prob(candidate.logit))
            .collect();
        let bends: Vec<f64> = probs
            .windows(3)
            .map(|probs| match probs {
                [a, b, c] => ((a - b) - (b - c)).abs(),
                _ => 0.0,
            })
            .collect();
        let total: f64 = bends.iter().sum();
        if total <= 0.0 {
            return;
        }
        let n_least = context.rules.min_keep.max(1) as usize;
        let mut held = 0.0;
        for (rank, bend) in bends.iter().enumerate() {
            held += bend / total;
            if held > f64::from(self.z) && rank >= n_least {
                candidates.keep_head(rank);
                return;
            }
        }
    }

    fn is_neutral(&self) -> bool {
        self.z >= 1.0
    }

    fn complaint(&self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.z)).then(|| "Tail-free lies between 0 and 1".to_owned())
    }

    fn cuts(&self) -> bool {
        true
    }
}

impl std::fmt::Display for TailFree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "tail-free {}", self.z)
    }
}

#[cfg(test)]
mod tests {
    use super::TailFree;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn the_flat_tail_goes() {
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

//! Top-nσ: keep the tokens whose score is not many standard deviations below the best.

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, Rule, StageContext};

/// Rules out every candidate whose logit is more than `n` standard deviations of all possible
/// logits below the best. A temperature before it changes nothing in who stays. 0 does nothing.
///
/// Tang, Liu, Yang, Zhang, Wang 2024, "Top-nσ: Not All Logits Are You Need".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopNSigma {
    /// How many standard deviations; 1 is usual, 0 or less is off.
    pub n: f32,
}

impl Rule for TopNSigma {
    fn name(&self) -> &'static str {
        "Top-nσ"
    }

    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let best = candidates.best().logit;
        // Counted from the best, so that the squares lose no digits to a common offset.
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for candidate in candidates.iter() {
            if candidate.logit > f32::NEG_INFINITY {
                let below = f64::from(candidate.logit) - f64::from(best);
                count += 1.0;
                sum += below;
                squares += below * below;
            }
        }
        let mean: f64 = sum / count;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt();
        let bar = (f64::from(best) - f64::from(self.n) * deviation) as f32;
        candidates.rule_out_below(bar);
    }

    fn is_neutral(&self) -> bool {
        self.n <= 0.0
    }

    fn complaint(&self) -> Option<String> {
        (!self.n.is_finite()).then(|| "Top-nσ is a number, 0 for off".to_owned())
    }

    fn cuts(&self) -> bool {
        true
    }
}

impl std::fmt::Display for TopNSigma {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "top-nσ {}", self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::TopNSigma;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn those_many_deviations_below_the_best_are_ruled_out() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (n, probs, expected) in [
            (1.0, p, [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]),
            (0.0, p, p),
            (-1.0, p, p),
            (3.0, p, p),
            (1.0, [0.25; 4], [0.25; 4]),
            (1e-6, p, [0.0, 0.0, 0.0, 1.0]),
            // What is impossible does not count: two equal ones have no deviation.
            (0.5, [0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]),
        ] {
            check_filter(&Filter::TopNSigma(TopNSigma { n }), &probs, &expected);
        }
    }
}

//! Top-a: a bar that rises with the square of the best token's probability.

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, Rule, StageContext};

/// Drops every candidate less likely than `a` times the square of the best one's probability; one
/// exactly there stays. 0 does nothing.
///
/// Bo Peng 2021, "RWKV-LM", the top-a sampling method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopA {
    /// The factor, 0 to 1.
    pub a: f32,
}

impl Rule for TopA {
    fn name(&self) -> &'static str {
        "Top-a"
    }

    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        let best = candidates.best().logit;
        let log_best_prob = f64::from(best) - candidates.softmax().log_sum_exp;
        let bar = f64::from(best) + f64::from(self.a).ln() + log_best_prob;
        candidates.keep_from(best.min(bar as f32));
    }

    fn is_neutral(&self) -> bool {
        self.a <= 0.0
    }

    fn complaint(&self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.a)).then(|| "Top-a lies between 0 and 1".to_owned())
    }

    fn cuts(&self) -> bool {
        true
    }
}

impl std::fmt::Display for TopA {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "top-a {}", self.a)
    }
}

#[cfg(test)]
mod tests {
    use super::TopA;
    use crate::decoding::Filter;
    use crate::decoding::testing::check_filter;

    #[test]
    fn the_bar_is_a_times_the_square_of_the_best() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (a, probs, expected) in [
            (0.0, p, p),
            // 0.5 · 0.16 = 0.08, then 0.16.
            (0.5, p, p),
            (1.0, p, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (1.0, [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]),
        ] {
            check_filter(&Filter::TopA(TopA { a }), &probs, &expected);
        }
    }
}

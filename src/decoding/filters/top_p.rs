//! Top-p, or nucleus: keep the fewest most likely tokens that hold a share of the probability.

use serde::{Deserialize, Serialize};

use crate::decoding::rules::{Mass, TopPZero};
use crate::decoding::{Candidates, Rule, StageContext};

/// Keeps candidates from the most likely on until their probabilities sum to at least `p`; the one
/// that reaches it stays. 1 keeps everything, 0 keeps the most likely one.
///
/// Holtzman, Buys, Du, Forbes, Choi 2019, "The Curious Case of Neural Text Degeneration".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopP {
    /// The share of the probability that must be held, 0 to 1.
    pub p: f32,
}

impl Rule for TopP {
    fn name(&self) -> &'static str {
        "Top-p"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        let rules = context.rules;
        if self.p <= 0.0 && rules.top_p_zero == TopPZero::Off {
            return;
        }
        let share = match rules.top_p_mass {
            Mass::Kept => 1.0,
            Mass::BeforeCuts => candidates.share_left(),
        };
        // In 32 bits, as the engines compare them, so that a sum exactly at the bar reaches it.
        let crossing = candidates.crossing(|held| (share * held) as f32 >= self.p);
        if let Some(crossing) = crossing {
            let n_least = rules.min_keep.max(1) as usize;
            let safe = candidates.head(n_least).last().copied();
            let last = safe
                .filter(|safe| safe.comes_after(crossing.candidate))
                .unwrap_or(crossing.candidate);
            candidates.keep_through(last);
        }
    }

    fn is_neutral(&self) -> bool {
        self.p >= 1.0
    }

    fn complaint(&self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.p)).then(|| "Top-p lies between 0 and 1".to_owned())
    }

    fn cuts(&self) -> bool {
        true
    }
}

impl std::fmt::Display for TopP {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "top-p {}", self.p)
    }
}

#[cfg(test)]
mod tests {
    use super::TopP;
    use crate::decoding::testing::{check_filter, check_filter_with};
    use crate::decoding::{Filter, Rules};

    fn top_p(p: f32) -> Filter {
        Filter::TopP(TopP { p })
    }

    #[test]
    fn the_fewest_that_hold_p_stay() {
        let p = [0.1, 0.2, 0.3, 0.4];
        for (top, probs, expected) in [
            (0.0, p, [0.0, 0.0, 0.0, 1.0]),
            (0.3, p, [0.0, 0.0, 0.0, 1.0]),
            (0.65, p, [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0]),
            (0.75, p, [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0]),
            (0.95, p, p),
            (1.0, p, p),
            // The token that reaches p exactly is the last; of equals the lowest ids stay.
            (0.5, [0.25; 4], [0.5, 0.5, 0.0, 0.0]),
            (0.999, [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]),
        ] {
            check_filter(&top_p(top), &probs, &expected);
        }
    }

    /// The sum of equal shares is not exact, and neither is the bar.
    #[test]
    fn a_sum_that_is_the_bar_reaches_it() {
        for (top, n, n_kept) in [(0.8, 5, 4), (0.5, 10, 5), (0.2, 10, 2), (0.9, 30, 27)] {
            let mut expected = vec![0.0; n];
            expected[..n_kept].fill(1.0 / n_kept as f32);
            check_filter(&top_p(top), &vec![1.0 / n as f32; n], &expected);
        }
    }

    #[test]
    fn a_share_that_needs_many_tokens_is_found() {
        let probs = vec![1e-3; 1000];
        let mut expected = vec![0.0; 1000];
        expected[..900].fill(1.0 / 900.0);
        check_filter(&top_p(0.8995), &probs, &expected);
    }

    #[test]
    fn the_least_number_stays_also_among_equals() {
        let third = 1.0 / 3.0;
        for (min_keep, expected) in [
            (0, [1.0, 0.0, 0.0, 0.0]),
            (1, [1.0, 0.0, 0.0, 0.0]),
            (3, [third, third, third, 0.0]),
            (5, [0.25; 4]),
        ] {
            let rules = Rules {
                min_keep,
                ..Rules::default()
            };
            check_filter_with(rules, &top_p(0.2), &[0.25; 4], &expected);
        }
    }

    #[test]
    fn impossible_shares_are_named() {
        for p in [-0.1, 1.1, f32::NAN] {
            assert!(top_p(p).complaint().is_some(), "{p}");
        }
    }
}

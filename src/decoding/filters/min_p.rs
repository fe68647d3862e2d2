//! Min-p: keep the tokens that are at least `p` times as likely as the best one.

use serde::{Deserialize, Serialize};

use crate::decoding::rules::Equal;
use crate::decoding::{Candidates, Rule, StageContext};

/// Drops every candidate less likely than `p` times the best; one exactly there stays.
///
/// The bar follows the model's confidence: high when one token dominates, low when many are
/// plausible. 0 keeps everything; above 1 only the most likely token stays.
///
/// Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MinP {
    /// The share of the best candidate's probability, 0 to 1.
    pub p: f32,
}

impl Rule for MinP {
    fn name(&self) -> &'static str {
        "Min-p"
    }

    fn apply(&self, context: StageContext<'_>, candidates: &mut Candidates) {
        if self.p >= 1.0 && context.rules.min_p_equal == Equal::Cut {
            return;
        }
        let best = candidates.best().logit;
        let bar = match context.rules.min_p_equal {
            Equal::Kept => best + self.p.ln(),
            Equal::Cut => (best + self.p.ln()).next_up().min(best),
        };
        let n_least = context.rules.min_keep.max(1) as usize;
        let safe = candidates.head(n_least).last().copied();
        match safe.filter(|safe| safe.logit < bar || self.p > 1.0) {
            Some(safe) => candidates.keep_through(safe),
            None => candidates.keep_from(bar),
        }
    }

    fn is_neutral(&self) -> bool {
        self.p <= 0.0
    }

    fn complaint(&self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.p)).then(|| "Min-p lies between 0 and 1".to_owned())
    }

    fn cuts(&self) -> bool {
        true
    }
}

impl std::fmt::Display for MinP {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "min-p {}", self.p)
    }
}

#[cfg(test)]
mod tests {
    use super::MinP;
    use crate::decoding::rules::Equal;
    use crate::decoding::testing::{check_filter, check_filter_with};
    use crate::decoding::{Filter, Rules};

    fn min_p(p: f32) -> Filter {
        Filter::MinP(MinP { p })
    }

    #[test]
    fn those_far_below_the_best_are_cut() {
        let p = [0.1, 0.2, 0.3, 0.4];
        let three = [0.0, 2.0 / 9.0, 3.0 / 9.0, 4.0 / 9.0];
        let two = [0.0, 0.0, 3.0 / 7.0, 4.0 / 7.0];
        let best = [0.0, 0.0, 0.0, 1.0];
        for (bar, expected) in [
            (0.0, p),
            (0.24, p),
            (0.26, three),
            (0.49, three),
            (0.51, two),
            (0.74, two),
            (0.76, best),
            (1.0, best),
            (1.05, best),
        ] {
            check_filter(&min_p(bar), &p, &expected);
        }
    }

    #[test]
    fn ties_with_the_best_stay_unless_the_bar_is_above_it() {
        check_filter(&min_p(1.0), &[0.4, 0.2, 0.4], &[0.5, 0.0, 0.5]);
        check_filter(&min_p(1.05), &[0.4, 0.2, 0.4], &[1.0, 0.0, 0.0]);
    }

    #[test]
    fn the_least_number_stays_also_where_one_of_them_is_exactly_at_the_bar() {
        // Half of a half is a quarter to the last bit.
        let p = [0.5, 0.25, 0.25];
        let two = [2.0 / 3.0, 1.0 / 3.0, 0.0];
        for (min_keep, equal, expected) in [
            (0, Equal::Kept, p),
            (2, Equal::Kept, p),
            (0, Equal::Cut, [1.0, 0.0, 0.0]),
            (2, Equal::Cut, two),
        ] {
            let rules = Rules {
                min_keep,
                min_p_equal: equal,
                ..Rules::default()
            };
            check_filter_with(rules, &min_p(0.5), &p, &expected);
        }
    }

    #[test]
    fn impossible_shares_are_named() {
        for p in [-0.1, 1.1, f32::NAN] {
            assert!(min_p(p).complaint().is_some(), "{p}");
        }
    }
}

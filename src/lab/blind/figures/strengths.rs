//! Bradley-Terry strengths: each contestant has a number, and the probability that its text is
//! picked among those shown is the softmax of their contestants' numbers.
//!
//! Bradley, R. A. and Terry, M. E. (1952), "Rank analysis of incomplete block designs". For more
//! than two texts, this is the choice rule of Luce, R. D. (1959), "Individual choice behavior".
//!
//! A vote for "can't tell" says nothing here. In the model of Davidson, R. R. (1970), "On extending
//! the Bradley-Terry model to accommodate ties in paired comparison experiments", the odds between
//! two contestants, given that one is picked, are the same as without ties; and if votes are
//! undecided for reasons of their own, counting them as half a vote for each would pull all
//! strengths together.

use super::matrix::Cholesky;
use super::posterior::{Posterior, interval};

/// The standard deviation of the strengths' prior, which is a normal distribution around zero. The
/// prior keeps the strength of a contestant that has won every vote finite.
pub const PRIOR_SPREAD: f64 = 1.5;

/// One vote among texts of several contestants.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// The contestants whose texts were shown.
    pub shown: Vec<usize>,
    /// The contestant whose text was picked. `None` for "can't tell".
    pub picked: Option<usize>,
}

/// How strong one contestant is, as the chance that its text is picked over one of average
/// strength, if either is picked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strength {
    pub chance: f64,
    /// The 95 % interval of the posterior distribution.
    pub low: f64,
    pub high: f64,
    /// How many votes showed its text, how many picked it, and how many were undecided.
    pub n_shown: usize,
    pub n_picked: usize,
    pub n_undecided: usize,
}

/// The estimated strengths of all contestants, and their covariance.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengths {
    posterior: Posterior,
    /// The most probable values on the logarithmic scale.
    values: Vec<f64>,
    /// The inverse of the information at these values.
    information: Option<Cholesky>,
    counts: Vec<Counts>,
    /// The votes that showed two contestants together: decided and undecided ones.
    pairs: Vec<[usize; 2]>,
}

/// The votes that showed a contestant's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "counts begin with n")]
struct Counts {
    n_shown: usize,
    n_picked: usize,
    n_undecided: usize,
}

impl Strengths {
    /// Finds the most probable strengths of `n` contestants given these votes. `spread` is the
    /// prior's standard deviation.
    pub fn of(n: usize, choices: &[Choice], spread: f64) -> Self {
        let posterior = Posterior::new(n, choices, spread);
        let values = posterior.mode(None, vec![0.0; n]);
        let information = Cholesky::of(&posterior.derivatives(&values).1, n);
        let mut counts = vec![Counts::default(); n];
        let mut pairs = vec![[0; 2]; n * n];
        for choice in choices {
            for first in &choice.shown {
                if let Some(counts) = counts.get_mut(*first) {
                    counts.n_shown += 1;
                    counts.n_picked += usize::from(choice.picked == Some(*first));
                    counts.n_undecided += usize::from(choice.picked.is_none());
                }
                for second in &choice.shown {
                    let place = first.max(second) * n + first.min(second);
                    if let Some(votes) = pairs.get_mut(place).filter(|_| first < second) {
                        let [decided, undecided] = votes;
                        *(if choice.picked.is_some() {
                            decided
                        } else {
                            undecided
                        }) += 1;
                    }
                }
            }
        }
        Self {
            posterior,
            values,
            information,
            counts,
            pairs,
        }
    }

    /// Returns the number of contestants.
    pub const fn n(&self) -> usize {
        self.values.len()
    }

    /// Returns how strong each contestant is.
    pub fn all(&self) -> Vec<Strength> {
        let n = self.n();
        let of = |contestant: usize| {
            let mut weights = vec![-1.0 / n.max(1) as f64; n];
            if let Some(own) = weights.get_mut(contestant) {
                *own += 1.0;
            }
            let value = dot(&weights, &self.values);
            let deviation = self.variance(&weights).sqrt();
            let [low, high] = interval(&self.posterior, &weights, &self.values, deviation);
            let counts = self.counts.get(contestant).copied().unwrap_or_default();
            Strength {
                chance: logistic(value),
                low: logistic(low),
                high: logistic(high),
                n_shown: counts.n_shown,
                n_picked: counts.n_picked,
                n_undecided: counts.n_undecided,
            }
        };
        (0..n).map(of).collect()
    }

    /// Returns the difference of two strengths on the logarithmic scale, and its standard deviation
    /// near the most probable strengths.
    pub fn difference(&self, first: usize, second: usize) -> (f64, f64) {
        let weight = |contestant: usize| {
            f64::from(u8::from(contestant == first)) - f64::from(u8::from(contestant == second))
        };
        let weights: Vec<f64> = (0..self.n()).map(weight).collect();
        (dot(&weights, &self.values), self.variance(&weights).sqrt())
    }

    /// Returns how often a contestant's text was shown.
    pub fn n_shown(&self, contestant: usize) -> usize {
        self.counts
            .get(contestant)
            .map_or(0, |counts| counts.n_shown)
    }

    /// Returns how likely the next vote on a pair is to be decided, judging by those so far.
    pub fn decided_share(&self, first: usize, second: usize) -> f64 {
        let place = first.max(second) * self.n() + first.min(second);
        let [decided, undecided] = self.pairs.get(place).copied().unwrap_or_default();
        (decided + 1) as f64 / (decided + undecided + 1) as f64
    }

    /// Returns the variance of a weighted sum of strengths.
    fn variance(&self, weights: &[f64]) -> f64 {
        let information = self.information.as_ref();
        information.map_or(0.0, |information| dot(weights, &information.solve(weights)))
    }
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

/// Returns the sum of the products of two lists.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::{Choice, PRIOR_SPREAD, Strengths};

    /// A prior so wide that only the likelihood determines the strengths.
    const NO_PRIOR: f64 = 1e4;

    fn wins(winner: usize, loser: usize, n: usize) -> Vec<Choice> {
        let choice = Choice {
            shown: vec![winner, loser],
            picked: Some(winner),
        };
        vec![choice; n]
    }

    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() < tolerance, "{found}, {expected}");
    }

    #[test]
    fn two_contestants_have_the_odds_of_their_wins() {
        let choices = [wins(0, 1, 30), wins(1, 0, 10)].concat();
        let strengths = Strengths::of(2, &choices, NO_PRIOR);
        let (difference, deviation) = strengths.difference(0, 1);
        near(difference, 3_f64.ln(), 1e-6);
        near(deviation, (1.0 / 30.0 + 1.0 / 10.0_f64).sqrt(), 1e-4);
    }

    /// The American League baseball teams of 1987, as fitted in Agresti, A. (2002), "Categorical
    /// Data Analysis", section 10.6, and by the R package `BradleyTerry2`.
    #[test]
    fn strengths_and_errors_match_a_published_example() {
        // Milwaukee, Detroit, Toronto, New York, Boston, Cleveland, Baltimore.
        let table = [
            [0, 7, 9, 7, 7, 9, 11],
            [6, 0, 7, 5, 11, 9, 9],
            [4, 6, 0, 7, 7, 8, 12],
            [6, 8, 6, 0, 6, 7, 10],
            [6, 2, 6, 7, 0, 7, 12],
            [4, 4, 5, 6, 6, 0, 6],
            [2, 4, 1, 3, 1, 7, 0],
        ];
        let mut choices = Vec::new();
        for (winner, row) in table.iter().enumerate() {
            for (loser, n) in row.iter().enumerate() {
                choices.extend(wins(winner, loser, *n));
            }
        }
        let strengths = Strengths::of(7, &choices, NO_PRIOR);
        let expected = [
            (1.5814, 0.3433),
            (1.4364, 0.3396),
            (1.2945, 0.3367),
            (1.2476, 0.3359),
            (1.1077, 0.3339),
            (0.6839, 0.3319),
        ];
        for (team, (value, error)) in expected.iter().enumerate() {
            let (difference, deviation) = strengths.difference(team, 6);
            near(difference, *value, 2e-4);
            near(deviation, *error, 2e-4);
        }
    }

    #[test]
    fn the_best_of_four_follows_the_rule_of_luce() {
        // Picked 4, 3, 2 and 1 times out of ten: the likelihood peaks at exactly these shares.
        let shown = vec![0, 1, 2, 3];
        let mut choices = Vec::new();
        for (contestant, n) in [(0, 4), (1, 3), (2, 2), (3, 1)] {
            let choice = Choice {
                shown: shown.clone(),
                picked: Some(contestant),
            };
            choices.extend(vec![choice; n]);
        }
        let strengths = Strengths::of(4, &choices, NO_PRIOR);
        near(strengths.difference(0, 3).0, 4_f64.ln(), 1e-6);
        near(strengths.difference(1, 2).0, 1.5_f64.ln(), 1e-6);
    }

    #[test]
    fn a_contestant_that_wins_every_vote_stays_finite() {
        let strengths = Strengths::of(2, &wins(1, 0, 5), PRIOR_SPREAD);
        let all = strengths.all();
        assert!(all[1].chance > 0.7 && all[1].chance < 0.95, "{all:?}");
        assert!(all[1].low < all[1].chance && all[1].chance < all[1].high);
        assert_eq!((all[1].n_shown, all[1].n_picked), (5, 5));
        near(all[0].chance + all[1].chance, 1.0, 1e-9);
    }

    #[test]
    fn an_undecided_vote_changes_no_strength() {
        let undecided = Choice {
            shown: vec![0, 1],
            picked: None,
        };
        let decided = wins(0, 1, 5);
        let before = Strengths::of(2, &decided, PRIOR_SPREAD);
        let all = [decided, vec![undecided; 12]].concat();
        let after = Strengths::of(2, &all, PRIOR_SPREAD);
        let (one, other) = (before.all()[0], after.all()[0]);
        assert_eq!(
            (one.chance, one.low, one.high),
            (other.chance, other.low, other.high)
        );
        assert_eq!(
            (other.n_shown, other.n_picked, other.n_undecided),
            (17, 5, 12)
        );
        near(before.decided_share(0, 1), 1.0, 1e-12);
        near(after.decided_share(1, 0), 6.0 / 18.0, 1e-12);
    }
}

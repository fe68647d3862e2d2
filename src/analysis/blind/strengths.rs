//! Bradley-Terry strengths: each contestant has a number, and the probability that its text is
//! picked among those shown is the softmax of their contestants' numbers.
//!
//! Bradley, R. A. and Terry, M. E. (1952), "Rank analysis of incomplete block designs". For more
//! than two texts, this is the choice rule of Luce, R. D. (1959), "Individual choice behavior".

/// The standard deviation of the strengths' prior, which is a normal distribution around zero. The
/// prior keeps the strength of a contestant that has won every vote finite.
pub const PRIOR_SPREAD: f64 = 1.5;

/// The standard normal quantile of a 95 % interval.
const Z: f64 = 1.96;

/// The most steps of Newton's method. It needs only a few, since the likelihood has a single peak.
const MAX_STEPS: usize = 50;

/// Newton's method stops when no value changes by this much.
const TOLERANCE: f64 = 1e-10;

/// One vote among texts of several contestants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The contestants whose texts were shown.
    pub shown: Vec<usize>,
    /// The contestant whose text was picked. `None` for "can't tell", which splits the vote equally
    /// among those shown.
    pub picked: Option<usize>,
}

/// How strong one contestant is, as the chance that its text is picked over one of average
/// strength.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strength {
    pub chance: f64,
    /// The 95 % interval.
    pub low: f64,
    pub high: f64,
    /// How many votes showed its text, and how many picked it.
    pub n_shown: usize,
    pub n_picked: usize,
}

/// The estimated strengths of all contestants, and their covariance.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengths {
    /// On the logarithmic scale, with mean zero.
    values: Vec<f64>,
    /// In row-major order.
    covariance: Vec<f64>,
    counts: Vec<(usize, usize)>,
}

impl Strengths {
    /// Finds the most probable strengths of `n` contestants given these votes, and approximates the
    /// posterior by a normal distribution around them. `spread` is the prior's standard deviation.
    pub fn of(n: usize, choices: &[Choice], spread: f64) -> Self {
        let precision = spread.powi(-2);
        let mut values = vec![0.0; n];
        for _ in 0..MAX_STEPS {
            let (gradient, information) = derivatives(&values, choices, precision);
            let Some(step) = solve(&information, &gradient) else {
                break;
            };
            for (value, change) in values.iter_mut().zip(&step) {
                *value += change.clamp(-1.0, 1.0);
            }
            if step.iter().all(|change| change.abs() < TOLERANCE) {
                break;
            }
        }
        let (_, information) = derivatives(&values, choices, precision);
        let covariance = inverse(&information, n);
        let mean = values.iter().sum::<f64>() / n.max(1) as f64;
        for value in &mut values {
            *value -= mean;
        }
        let counts = (0..n).map(|contestant| {
            let shown = choices.iter().filter(|c| c.shown.contains(&contestant));
            let picked = choices.iter().filter(|c| c.picked == Some(contestant));
            (shown.count(), picked.count())
        });
        Self {
            values,
            covariance,
            counts: counts.collect(),
        }
    }

    /// Returns the number of contestants.
    pub const fn n(&self) -> usize {
        self.values.len()
    }

    /// Returns how strong each contestant is.
    pub fn all(&self) -> Vec<Strength> {
        let n = self.n();
        let average = vec![1.0 / n.max(1) as f64; n];
        let of = |contestant: usize| {
            let mut weights: Vec<f64> = average.iter().map(|share| -share).collect();
            if let Some(own) = weights.get_mut(contestant) {
                *own += 1.0;
            }
            let deviation = self.variance(&weights).sqrt();
            let value = self.values.get(contestant).copied().unwrap_or_default();
            let (n_shown, n_picked) = self.counts.get(contestant).copied().unwrap_or_default();
            Strength {
                chance: logistic(value),
                low: logistic(value - Z * deviation),
                high: logistic(value + Z * deviation),
                n_shown,
                n_picked,
            }
        };
        (0..n).map(of).collect()
    }

    /// Returns the difference of two strengths on the logarithmic scale, and its standard deviation.
    pub fn difference(&self, first: usize, second: usize) -> (f64, f64) {
        let value = |contestant: usize| self.values.get(contestant).copied().unwrap_or_default();
        let weight = |contestant: usize| {
            f64::from(u8::from(contestant == first)) - f64::from(u8::from(contestant == second))
        };
        let weights: Vec<f64> = (0..self.n()).map(weight).collect();
        let deviation = self.variance(&weights).sqrt();
        (value(first) - value(second), deviation)
    }

    /// Returns how often a contestant's text was shown.
    pub fn n_shown(&self, contestant: usize) -> usize {
        self.counts.get(contestant).map_or(0, |(shown, _)| *shown)
    }

    /// Returns the variance of a weighted sum of strengths.
    fn variance(&self, weights: &[f64]) -> f64 {
        let rows = self.covariance.chunks(self.n().max(1));
        let sums = rows.zip(weights).map(|(row, weight)| {
            let sum: f64 = row.iter().zip(weights).map(|(c, w)| c * w).sum();
            weight * sum
        });
        sums.sum::<f64>().max(0.0)
    }
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

/// Returns the gradient of the log posterior, and its negative Hessian in row-major order.
fn derivatives(values: &[f64], choices: &[Choice], precision: f64) -> (Vec<f64>, Vec<f64>) {
    let n = values.len();
    let mut gradient: Vec<f64> = values.iter().map(|value| -precision * value).collect();
    let mut information = vec![0.0; n * n];
    for contestant in 0..n {
        add(&mut information, contestant * n + contestant, precision);
    }
    for choice in choices {
        let shown = choice.shown.iter().filter(|contestant| **contestant < n);
        let shown: Vec<usize> = shown.copied().collect();
        let value = |contestant: &usize| values.get(*contestant).copied().unwrap_or_default();
        let most = shown.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = shown.iter().map(|c| (value(c) - most).exp()).collect();
        let total: f64 = weights.iter().sum();
        let equal = 1.0 / shown.len().max(1) as f64;
        for (first, weight) in shown.iter().zip(&weights) {
            let prob = weight / total;
            let won = match choice.picked {
                Some(picked) => f64::from(u8::from(picked == *first)),
                None => equal,
            };
            add(&mut gradient, *first, won - prob);
            add(&mut information, first * n + first, prob);
            for (second, other) in shown.iter().zip(&weights) {
                add(&mut information, first * n + second, -prob * other / total);
            }
        }
    }
    (gradient, information)
}

fn add(values: &mut [f64], place: usize, change: f64) {
    if let Some(value) = values.get_mut(place) {
        *value += change;
    }
}

/// Inverts a symmetric positive definite matrix, column by column.
fn inverse(matrix: &[f64], n: usize) -> Vec<f64> {
    let column = |place: usize| {
        let unit: Vec<f64> = (0..n)
            .map(|row| f64::from(u8::from(row == place)))
            .collect();
        solve(matrix, &unit).unwrap_or_else(|| vec![0.0; n])
    };
    // The inverse is symmetric, so its columns are its rows.
    (0..n).flat_map(column).collect()
}

/// Solves a system with a symmetric positive definite matrix by Gaussian elimination, which then
/// needs no pivoting. Returns `None` if the matrix is not positive definite.
fn solve(matrix: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let n = right.len();
    let rows = matrix.chunks(n.max(1)).zip(right);
    let mut rows: Vec<Vec<f64>> = rows
        .map(|(row, value)| row.iter().copied().chain([*value]).collect())
        .collect();
    for place in 0..n {
        let pivot_row = rows.get(place)?.clone();
        let pivot = *pivot_row.get(place)?;
        if pivot <= 0.0 || !pivot.is_finite() {
            return None;
        }
        for row in rows.iter_mut().skip(place + 1) {
            let factor = row.get(place)? / pivot;
            for (value, above) in row.iter_mut().zip(&pivot_row) {
                *value -= factor * above;
            }
        }
    }
    let mut solution = vec![0.0; n];
    for place in (0..n).rev() {
        let row = rows.get(place)?;
        let known: f64 = (place + 1..n)
            .filter_map(|other| Some(row.get(other)? * solution.get(other)?))
            .sum();
        let value = (row.get(n)? - known) / row.get(place)?;
        *solution.get_mut(place)? = value;
    }
    Some(solution)
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
    fn an_undecided_vote_moves_nothing_but_narrows_the_interval() {
        let before = Strengths::of(2, &[], PRIOR_SPREAD).all();
        let undecided = Choice {
            shown: vec![0, 1],
            picked: None,
        };
        let after = Strengths::of(2, &vec![undecided; 12], PRIOR_SPREAD).all();
        near(before[0].chance, 0.5, 1e-9);
        near(after[0].chance, 0.5, 1e-9);
        assert!(after[0].high < before[0].high);
    }
}

//! The posterior distribution of the strengths, and intervals of what follows from them.

use std::collections::BTreeMap;

use super::matrix::Cholesky;
use super::strengths::{Choice, dot};

/// The most steps of Newton's method. It needs only a few, since the density has a single peak.
const MAX_STEPS: usize = 50;

/// Newton's method stops when no value changes by this much.
const TOLERANCE: f64 = 1e-9;

/// The density of the strengths given the votes, up to a constant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Posterior {
    n: usize,
    /// The inverse variance of the prior.
    precision: f64,
    /// The distinct decided votes, each with how often it was cast.
    votes: Vec<(Choice, f64)>,
}

impl Posterior {
    pub(super) fn new(n: usize, choices: &[Choice], spread: f64) -> Self {
        let mut votes: BTreeMap<Choice, f64> = BTreeMap::new();
        for choice in choices {
            let mut shown: Vec<usize> = choice.shown.clone();
            shown.retain(|contestant| *contestant < n);
            shown.sort_unstable();
            let picked = choice.picked.filter(|picked| shown.contains(picked));
            if picked.is_some() {
                *votes.entry(Choice { shown, picked }).or_default() += 1.0;
            }
        }
        Self {
            n,
            precision: spread.powi(-2),
            votes: votes.into_iter().collect(),
        }
    }

    /// Returns the logarithm of the density.
    fn ln_density(&self, values: &[f64]) -> f64 {
        let votes = self.votes.iter().map(|(choice, n)| {
            let shares = shares(choice, values);
            let picked = choice.shown.iter().zip(&shares);
            let mut picked = picked.filter(|(one, _)| choice.picked == Some(**one));
            n * picked.next().map_or(0.0, |(_, share)| share.ln())
        });
        votes.sum::<f64>() - 0.5 * self.precision * dot(values, values)
    }

    /// Returns the gradient of the log density, and its negative Hessian in row-major order.
    pub(super) fn derivatives(&self, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = self.n;
        let mut gradient: Vec<f64> = values.iter().map(|v| -self.precision * v).collect();
        let mut information = vec![0.0; n * n];
        for contestant in 0..n {
            add(
                &mut information,
                contestant * n + contestant,
                self.precision,
            );
        }
        for (choice, n_votes) in &self.votes {
            let shares = shares(choice, values);
            for (first, share) in choice.shown.iter().zip(&shares) {
                let won = f64::from(u8::from(choice.picked == Some(*first)));
                add(&mut gradient, *first, n_votes * (won - share));
                add(&mut information, first * n + first, n_votes * share);
                for (second, other) in choice.shown.iter().zip(&shares) {
                    add(
                        &mut information,
                        first * n + second,
                        -n_votes * share * other,
                    );
                }
            }
        }
        (gradient, information)
    }

    /// Finds the most probable strengths by Newton's method: all of them, or those whose weighted
    /// sum has a given value.
    pub(super) fn mode(&self, fixed: Option<(&[f64], f64)>, mut values: Vec<f64>) -> Vec<f64> {
        for _ in 0..MAX_STEPS {
            let (gradient, information) = self.derivatives(&values);
            let Some(information) = Cholesky::of(&information, self.n) else {
                break;
            };
            let mut step = information.solve(&gradient);
            if let Some((weights, sum)) = fixed {
                let along = information.solve(weights);
                let missing = sum - dot(weights, &values) - dot(weights, &step);
                let factor = missing / dot(weights, &along);
                for (step, along) in step.iter_mut().zip(along) {
                    *step += factor * along;
                }
            } else {
                for step in &mut step {
                    *step = step.clamp(-1.0, 1.0);
                }
            }
            for (value, step) in values.iter_mut().zip(&step) {
                *value += step;
            }
            if step.iter().all(|step| step.abs() < TOLERANCE) {
                break;
            }
        }
        values
    }

    /// Returns the logarithm of the marginal density of a weighted sum at a value, up to a constant,
    /// and the most probable strengths there.
    ///
    /// The other directions are integrated by Laplace's method at each value anew, whose relative
    /// error is far smaller than that of one normal approximation: Tierney, L. and Kadane, J. B.
    /// (1986), "Accurate approximations for posterior moments and marginal densities".
    fn ln_marginal(&self, weights: &[f64], sum: f64, near: Vec<f64>) -> (f64, Vec<f64>) {
        let values = self.mode(Some((weights, sum)), near);
        let (_, information) = self.derivatives(&values);
        let ln_volume = Cholesky::of(&information, self.n).map_or(0.0, |information| {
            let along = dot(weights, &information.solve(weights));
            information.ln_det() + along.ln()
        });
        (self.ln_density(&values) - 0.5 * ln_volume, values)
    }
}

/// Returns the probability that each shown text is picked.
fn shares(choice: &Choice, values: &[f64]) -> Vec<f64> {
    let value = |contestant: &usize| values.get(*contestant).copied().unwrap_or_default();
    let most = choice
        .shown
        .iter()
        .map(value)
        .fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = choice
        .shown
        .iter()
        .map(|c| (value(c) - most).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

fn add(values: &mut [f64], place: usize, change: f64) {
    if let Some(value) = values.get_mut(place) {
        *value += change;
    }
}

/// The distance between the values at which a marginal density is computed, in standard deviations,
/// and how many values are interpolated in each gap.
const SPACING: f64 = 0.4;
const N_BETWEEN: usize = 16;

/// How far the logarithm of a marginal density is followed below its peak.
const DEPTH: f64 = 14.0;

/// The most values on each side of the peak.
const N_MAX: usize = 60;

/// Returns the ends of the 95 % interval of a weighted sum of strengths: each tail of its posterior
/// distribution holds 2.5 %. `mode` holds the most probable strengths, and `deviation` is the sum's
/// approximate standard deviation.
pub(super) fn interval(
    posterior: &Posterior,
    weights: &[f64],
    mode: &[f64],
    deviation: f64,
) -> [f64; 2] {
    let center = dot(weights, mode);
    let step = deviation * SPACING;
    if step <= 0.0 || !step.is_finite() {
        return [center; 2];
    }
    let (peak, _) = posterior.ln_marginal(weights, center, mode.to_vec());
    let side = |direction: f64| {
        let (mut near, mut heights) = (mode.to_vec(), Vec::new());
        for place in 1..=N_MAX {
            let sum = center + direction * step * place as f64;
            let (height, values) = posterior.ln_marginal(weights, sum, near);
            near = values;
            heights.push(height - peak);
            if height < peak - DEPTH {
                break;
            }
        }
        heights
    };
    let (below, above) = (side(-1.0), side(1.0));
    let start = center - step * below.len() as f64;
    let heights: Vec<f64> = below.into_iter().rev().chain([0.0]).chain(above).collect();
    let fine = interpolated(&heights);
    let fine_step = step / N_BETWEEN as f64;
    let at = |share: f64| start + fine_step * place_of(&fine, share);
    [at(0.025), at(0.975)]
}

/// Returns the density at `N_BETWEEN` values per gap, from its logarithm at every grid point. A
/// parabola through three neighbors is exact for a normal distribution.
fn interpolated(heights: &[f64]) -> Vec<f64> {
    let mut fine: Vec<f64> = Vec::new();
    let n_gaps = heights.len().saturating_sub(1);
    for gap in 0..n_gaps {
        let first = gap.min(heights.len().saturating_sub(3));
        let Some([a, b, c]) = heights.get(first..first + 3) else {
            continue;
        };
        for part in 0..N_BETWEEN {
            let x = (gap - first) as f64 + part as f64 / N_BETWEEN as f64;
            let height =
                a * (x - 1.0) * (x - 2.0) / 2.0 - b * x * (x - 2.0) + c * x * (x - 1.0) / 2.0;
            fine.push(height.exp());
        }
    }
    fine.extend(heights.last().map(|height| height.exp()));
    fine
}

/// Returns the place below which this share of the area lies, by the trapezoidal rule.
fn place_of(density: &[f64], share: f64) -> f64 {
    let areas = density
        .windows(2)
        .map(|pair| pair.iter().sum::<f64>() / 2.0);
    let wanted = share * areas.clone().sum::<f64>();
    let mut below = 0.0;
    for (place, area) in areas.enumerate() {
        if below + area >= wanted {
            return place as f64 + (wanted - below) / area;
        }
        below += area;
    }
    density.len().saturating_sub(1) as f64
}

#[cfg(test)]
mod tests {
    use super::{Posterior, interval};
    use crate::lab::blind::{Choice, PRIOR_SPREAD};

    fn vote(shown: &[usize], picked: usize) -> Choice {
        Choice {
            shown: shown.to_vec(),
            picked: Some(picked),
        }
    }

    /// Integrates the density over a grid in all three dimensions.
    fn exact_interval(posterior: &Posterior, weights: &[f64; 3]) -> [f64; 2] {
        const N: i32 = 36;
        let at = |i: i32| f64::from(i) * 0.25;
        let mut masses: Vec<(f64, f64)> = Vec::new();
        for (i, j, k) in (-N..=N)
            .flat_map(|i| (-N..=N).map(move |j| (i, j)))
            .flat_map(|(i, j)| (-N..=N).map(move |k| (i, j, k)))
        {
            let values = [at(i), at(j), at(k)];
            let sum: f64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
            masses.push((sum, posterior.ln_density(&values).exp()));
        }
        masses.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = masses.iter().map(|(_, mass)| mass).sum();
        [0.025, 0.975].map(|share| {
            let mut below = 0.0;
            let reaches = |(_, mass): &&(f64, f64)| {
                below += mass;
                below >= share * total
            };
            masses.iter().find(reaches).unwrap().0
        })
    }

    #[test]
    fn intervals_are_those_of_the_exact_posterior() {
        let lost = vote(&[0, 1], 1);
        for votes in [
            vec![],
            vec![vote(&[0, 1], 0); 3],
            [
                vec![vote(&[0, 1], 0); 6],
                vec![lost; 2],
                vec![vote(&[1, 2], 2); 2],
            ]
            .concat(),
            [vec![vote(&[0, 1, 2], 0); 4], vec![vote(&[0, 2], 2)]].concat(),
        ] {
            let posterior = Posterior::new(3, &votes, PRIOR_SPREAD);
            let weights = [2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0];
            let mode = posterior.mode(None, vec![0.0; 3]);
            let found = interval(&posterior, &weights, &mode, 1.0);
            let exact = exact_interval(&posterior, &weights);
            for (found, exact) in found.iter().zip(exact) {
                // The grid is a twelfth apart along this sum.
                assert!((found - exact).abs() < 0.1, "{votes:?}: {found}, {exact}");
            }
        }
    }
}

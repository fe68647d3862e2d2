//! Which settings between those of the cells to compute next.

use super::SAME_NATS;
use super::limits::{Line, edges};
use super::setup::{between, rounded};
use crate::lab::fit::{Fit, FitPoint};

/// The number of rounds that refine the results after the grid. Each divides the spacing by five,
/// so that values keep few digits.
const N_ROUNDS: usize = 5;

/// The number of values that a round inserts between two neighbors.
const N_BETWEEN: usize = 4;

/// Returns the settings to compute in a round, counted from 1. Empty if nothing is left to compute.
pub(super) fn points(fit: &Fit, round: usize) -> Vec<Vec<f64>> {
    if round > N_ROUNDS + 1 || fit.max_ln_prob().is_none() {
        return Vec::new();
    }
    let mut points = if round > N_ROUNDS {
        round_values(fit)
    } else if fit.setup.columns.is_some() {
        let mut points = around_best(fit, round);
        points.extend(interval_ends(fit));
        points.extend(limits(fit));
        points
    } else {
        along_curve(fit, round)
    };
    let known: Vec<FitPoint> = fit.known().collect();
    let is_new = |values: &Vec<f64>| {
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        !known.iter().any(|point| same(&point.values, values))
    };
    points.retain(is_new);
    points.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    points.dedup();
    points
}

/// How far below the best log-likelihood the first round smooths a curve, in nats.
const SMOOTH_NATS: f64 = 40.0;

/// Subdivides the gaps next to the best value, at the ends of its interval, and at the limits. The
/// first round also subdivides all others near the top, so that the curve looks smooth.
fn along_curve(fit: &Fit, round: usize) -> Vec<Vec<f64>> {
    let line = fit.line(None);
    let parameter = fit.setup.rows.parameter;
    let Some(most) = fit.max_ln_prob() else {
        return Vec::new();
    };
    let least = most - fit.setup.interval_nats(0);
    let is_near = |point: &FitPoint| point.likelihood.ln_prob >= least;
    let is_possible = |point: &FitPoint| point.likelihood.ruled_out.is_none();
    let pairs = line.windows(2).filter_map(|pair| {
        let [(low, a), (high, b)] = pair else {
            return None;
        };
        let differ = |of: &dyn Fn(&FitPoint) -> bool| of(a) != of(b);
        let matters = is_beside_best(a, b, most) || differ(&is_possible) || differ(&is_near);
        let is_high = |point: &FitPoint| point.likelihood.ln_prob >= most - SMOOTH_NATS;
        let n = match round {
            _ if matters => N_BETWEEN,
            1 if is_high(a) || is_high(b) => 2,
            _ => return None,
        };
        Some(([*low, *high], n))
    });
    pairs
        .flat_map(|(ends, n)| between(parameter, ends, n))
        .map(|value| vec![value])
        .collect()
}

/// Returns whether one of two neighbors is the best, and the other is clearly worse.
fn is_beside_best(a: &FitPoint, b: &FitPoint, most: f64) -> bool {
    let (a, b) = (a.likelihood.ln_prob, b.likelihood.ln_prob);
    a.max(b) >= most && a.min(b) < most - SAME_NATS
}

/// Refines the profiles of a map where they enter and leave the intervals: the cells of its grid
/// alone make them too low, by up to what a cut-off gains from one cell to the next.
fn interval_ends(fit: &Fit) -> Vec<Vec<f64>> {
    let Some(most) = fit.max_ln_prob() else {
        return Vec::new();
    };
    let axes = 0..fit.setup.axes().len();
    let points = axes.flat_map(|axis| {
        let least = most - fit.setup.interval_nats(axis);
        let profile = fit.profile(axis);
        let is_in = |place: &(f64, FitPoint)| place.1.likelihood.ln_prob >= least;
        let ends = profile.windows(2).filter_map(|pair| match pair {
            [a, b] if is_in(a) != is_in(b) => Some([a.0, b.0]),
            _ => None,
        });
        let values: Vec<f64> = ends.flatten().collect();
        values
            .into_iter()
            .flat_map(move |value| around_profile(fit, axis, value))
            .collect::<Vec<_>>()
    });
    points.collect()
}

/// Subdivides the gaps beside the best settings with this value on one axis of a map.
fn around_profile(fit: &Fit, axis: usize, value: f64) -> Vec<Vec<f64>> {
    let other = 1 - axis.min(1);
    let Some(parameter) = fit.setup.axes().get(other).map(|axis| axis.parameter) else {
        return Vec::new();
    };
    let is_here =
        |point: &FitPoint| (point.values.get(axis)).is_some_and(|at| (at - value).abs() < 1e-9);
    let known = fit.known().filter(is_here);
    let mut line: Line = known
        .filter_map(|point| Some((*point.values.get(other)?, point)))
        .collect();
    line.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let ln_probs = line.iter().map(|(_, point)| point.likelihood.ln_prob);
    let most = ln_probs.fold(f64::NEG_INFINITY, f64::max);
    let pairs = line.windows(2).filter_map(|pair| match pair {
        [a, b] if most.is_finite() && is_beside_best(&a.1, &b.1, most) => Some([a.0, b.0]),
        _ => None,
    });
    pairs
        .flat_map(|ends| between(parameter, ends, N_BETWEEN))
        .map(|at| {
            if axis == 0 {
                vec![value, at]
            } else {
                vec![at, value]
            }
        })
        .collect()
}

/// Subdivides the gaps at the limits of a few rows of a map.
fn limits(fit: &Fit) -> Vec<Vec<f64>> {
    let parameter = fit.limited_axis().parameter;
    let rows = fit.limited_rows().into_iter().flatten();
    let points = rows.flat_map(|row| {
        let line = fit.line(Some(row));
        let pairs = edges(&line).into_iter();
        let values = pairs.flat_map(|(low, high)| between(parameter, [low.0, high.0], N_BETWEEN));
        values
            .map(move |value| vec![row, value])
            .collect::<Vec<_>>()
    });
    points.collect()
}

/// Returns a finer grid around the best settings of a map. Each round divides its spacing by
/// 2.5.
fn around_best(fit: &Fit, round: usize) -> Vec<Vec<f64>> {
    let Some(best) = fit.best() else {
        return Vec::new();
    };
    let power = i32::try_from(round).unwrap_or(i32::MAX);
    let offsets = |index: usize| -> Vec<f64> {
        let (Some(axis), Some(at)) = (
            fit.setup.axes().get(index).copied(),
            best.values.get(index).copied(),
        ) else {
            return Vec::new();
        };
        let values = axis.values().iter().copied();
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        let n_spaces = axis.values().len().saturating_sub(1).max(1) as f64;
        let step = (most - least) / n_spaces / 2.5_f64.powi(power);
        let near = (-2..=2)
            .map(|n| (at + f64::from(n) * step).clamp(least, most))
            .map(|value| rounded(axis.parameter, value));
        near.collect()
    };
    let (rows, columns) = (offsets(0), offsets(1));
    let points = rows
        .iter()
        .flat_map(|row| columns.iter().map(|column| vec![*row, *column]));
    points.collect()
}

/// Returns the best settings, rounded to fewer digits.
fn round_values(fit: &Fit) -> Vec<Vec<f64>> {
    let Some(best) = fit.best() else {
        return Vec::new();
    };
    let axes = fit.setup.axes();
    let with_decimals = |power: f64| -> Vec<f64> {
        let values = best.values.iter().zip(&axes).map(|(value, axis)| {
            let ends = axis.values().iter().copied();
            let least = ends.clone().fold(f64::INFINITY, f64::min);
            let most = ends.fold(f64::NEG_INFINITY, f64::max);
            let short = (value * power).round() / power;
            rounded(axis.parameter, short).clamp(least, most)
        });
        values.collect()
    };
    [10.0, 100.0, 1000.0].map(with_decimals).to_vec()
}

//! At which values the texts become impossible, and how far from the best settings they stay
//! likely.

use crate::analysis::sweep::Axis;
use crate::generation::FitPlace;
use crate::lab::fit::{Fit, FitPoint};

/// A value beyond which the texts are impossible.
#[derive(Debug, Clone, PartialEq)]
pub struct FitLimit {
    /// The value of the map row on which the limit was found, or `None` for a curve.
    pub row: Option<f64>,
    /// The last value at which the texts are possible.
    pub possible: f64,
    /// The nearest value at which they are known to be impossible.
    pub impossible: f64,
    /// The first token that rules them out there.
    pub place: FitPlace,
}

impl FitLimit {
    /// Whether values below the limit are impossible, rather than above it.
    pub fn is_lower(&self) -> bool {
        self.impossible < self.possible
    }
}

/// A profile-likelihood interval: the values of one number that explain the texts nearly as well as
/// the best settings do, if the other number is chosen to suit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitInterval {
    pub low: f64,
    pub high: f64,
    /// Whether it may extend below the lowest value that was tried.
    pub is_open_below: bool,
    pub is_open_above: bool,
}

/// The values of one number in ascending order, with the known settings at each.
pub(super) type Line = Vec<(f64, FitPoint)>;

impl Fit {
    /// Returns the axis on which limits are found: the columns of a map, or the only one.
    pub fn limited_axis(&self) -> &Axis {
        self.setup.columns.as_ref().unwrap_or(&self.setup.rows)
    }

    /// Returns the limits of a curve, or those of a few rows of a map.
    pub fn limits(&self) -> Vec<FitLimit> {
        let rows = self.limited_rows();
        let limits = rows.into_iter().flat_map(|row| {
            let line = self.line(row);
            let pairs = edges(&line).into_iter();
            let limits = pairs.filter_map(move |(low, high)| {
                let (possible, impossible) = if low.1.likelihood.ruled_out.is_none() {
                    (low, high)
                } else {
                    (high, low)
                };
                Some(FitLimit {
                    row,
                    possible: possible.0,
                    impossible: impossible.0,
                    place: impossible.1.likelihood.ruled_out?,
                })
            });
            limits.collect::<Vec<_>>()
        });
        limits.collect()
    }

    /// Returns the rows on which limits are found: those of the base and of the best cell, and the
    /// first and last that have a limit. `None` stands for the whole curve.
    pub(super) fn limited_rows(&self) -> Vec<Option<f64>> {
        if self.setup.columns.is_none() {
            return vec![None];
        }
        let n_columns = self.setup.n_columns();
        let best = (0..self.setup.n_cells()).max_by(|a, b| {
            let ln_prob = |cell: &usize| self.cell(*cell).map_or(f64::NEG_INFINITY, |l| l.ln_prob);
            ln_prob(a).total_cmp(&ln_prob(b))
        });
        let rows = self.setup.rows.values();
        let has_limit = |row: &f64| !edges(&self.line(Some(*row))).is_empty();
        let limited: Vec<f64> = rows.iter().copied().filter(has_limit).collect();
        let mut chosen: Vec<f64> = [self.setup.base_cell(), best]
            .into_iter()
            .flatten()
            .filter_map(|cell| rows.get(cell / n_columns).copied())
            .filter(|row| limited.contains(row))
            .chain(limited.first().copied())
            .chain(limited.last().copied())
            .collect();
        chosen.sort_by(f64::total_cmp);
        chosen.dedup();
        chosen.into_iter().map(Some).collect()
    }

    /// Returns the known settings of a row, or of a curve, ordered by the value of the limited axis.
    pub(super) fn line(&self, row: Option<f64>) -> Line {
        let is_here = |point: &FitPoint| match (row, point.values.first()) {
            (Some(row), Some(value)) => (row - value).abs() < 1e-9,
            _ => true,
        };
        let known = self.known().filter(is_here);
        let mut line: Line = known
            .filter_map(|point| Some((*point.values.last()?, point)))
            .collect();
        line.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        line
    }

    /// Returns the most likely known settings for each value of an axis, given by its index.
    pub(super) fn profile(&self, axis: usize) -> Line {
        let known = self.known();
        let mut line: Line = known
            .filter_map(|point| Some((*point.values.get(axis)?, point)))
            .collect();
        line.sort_by(|(a, one), (b, other)| {
            let better = other.likelihood.ln_prob.total_cmp(&one.likelihood.ln_prob);
            a.total_cmp(b).then(better)
        });
        line.dedup_by(|(a, _), (b, _)| (*a - *b).abs() < 1e-9);
        line
    }

    /// Returns the interval of each axis, or `None` if no known settings can generate the texts.
    ///
    /// The intervals of a map are as fine as its grid; those of a curve are refined.
    pub fn intervals(&self) -> Option<Vec<FitInterval>> {
        let most = self.max_ln_prob()?;
        let axes = self.setup.axes().len();
        let intervals = (0..axes).map(|axis| {
            let line = self.profile(axis);
            let least = most - self.setup.interval_nats(axis);
            let is_in = |(_, point): &&(f64, FitPoint)| point.likelihood.ln_prob >= least;
            let inside: Vec<f64> = line.iter().filter(is_in).map(|(value, _)| *value).collect();
            let (low, high) = (inside.first().copied()?, inside.last().copied()?);
            Some(FitInterval {
                low,
                high,
                is_open_below: line.first().is_some_and(|(value, _)| *value >= low),
                is_open_above: line.last().is_some_and(|(value, _)| *value <= high),
            })
        });
        intervals.collect()
    }
}

/// A value of the varied number, and the settings there.
type Placed = (f64, FitPoint);

/// Returns the pairs of neighbors of which one can generate the texts and the other can't.
pub(super) fn edges(line: &Line) -> Vec<(&Placed, &Placed)> {
    let is_possible = |point: &FitPoint| point.likelihood.ruled_out.is_none();
    let pairs = line.windows(2).filter_map(|pair| match pair {
        [a, b] if is_possible(&a.1) != is_possible(&b.1) => Some((a, b)),
        _ => None,
    });
    pairs.collect()
}

//! The setup of a fit: its axes, its cells and the settings at each cell.

use serde::{Deserialize, Serialize};

use crate::analysis::sweep::{Axis, Parameter, label};
use crate::decoding::{ChainConfig, Refusal, SettingError};
use crate::generation::hosts::FIT;

/// What a fit varies, and what it holds fixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitSetup {
    /// The settings that are not varied.
    pub base: ChainConfig,
    /// The number that a curve varies, or the rows of a map.
    pub rows: Axis,
    /// The columns of a map, or `None` for a curve.
    pub columns: Option<Axis>,
}

/// Why a fit can't be computed with this setup. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    #[error("{0}")]
    Setting(#[from] SettingError),
    #[error("Choose two different numbers to vary: both are {name}")]
    SameParameter { name: String },
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("{name} can only be varied in settings with guidance, such as guide 1.5 against model")]
    NoGuidance { name: String },
}

impl FitSetup {
    /// Returns the axes: the rows, then the columns.
    pub fn axes(&self) -> Vec<&Axis> {
        std::iter::once(&self.rows).chain(&self.columns).collect()
    }

    /// Returns the number of columns, 1 for a curve.
    pub fn n_columns(&self) -> usize {
        self.columns.as_ref().map_or(1, |axis| axis.values().len())
    }

    /// Returns the number of cells, which are numbered row by row.
    pub fn n_cells(&self) -> usize {
        self.rows.values().len() * self.n_columns()
    }

    /// Returns the varied values of a cell: its row's, then its column's.
    pub fn values_of(&self, cell: usize) -> Vec<f64> {
        let (row, column) = (cell / self.n_columns(), cell % self.n_columns());
        let row = self.rows.values().get(row);
        let columns = self.columns.as_ref();
        let column = columns.and_then(|axis| axis.values().get(column));
        row.into_iter().chain(column).copied().collect()
    }

    /// Returns the settings with these values.
    pub fn chain_at(&self, values: &[f64]) -> ChainConfig {
        let mut chain = self.base.clone();
        for (axis, value) in self.axes().into_iter().zip(values) {
            axis.parameter.set(&mut chain, *value);
        }
        chain
    }

    /// Formats values: "T 0.8 · top-p 0.9".
    pub fn words(&self, values: &[f64]) -> String {
        let words = self.axes().into_iter().zip(values).map(|(axis, value)| {
            let chip = axis.parameter.chip();
            format!("{chip} {}", label(*value))
        });
        words.collect::<Vec<_>>().join(" · ")
    }

    /// Returns the cell nearest to the settings that are not varied, or `None` if they lack one of
    /// the numbers.
    pub fn base_cell(&self) -> Option<usize> {
        let nearest = |axis: &Axis| {
            let own = axis.parameter.get(&self.base)?;
            let distances = axis.values().iter().map(|value| (value - own).abs());
            let mut by_distance = distances.enumerate().collect::<Vec<_>>();
            by_distance.sort_by(|(_, a), (_, b)| a.total_cmp(b));
            by_distance.first().map(|(place, _)| *place)
        };
        let row = nearest(&self.rows)?;
        let column = self.columns.as_ref().map_or(Some(0), nearest)?;
        Some(row * self.n_columns() + column)
    }

    /// Checks everything but the texts.
    pub fn validate(&self) -> Result<(), FitError> {
        if let Some(columns) = &self.columns
            && columns.parameter == self.rows.parameter
        {
            let name = columns.parameter.name();
            return Err(FitError::SameParameter { name });
        }
        FIT.check(&self.chain_at(&self.values_of(0)))?;
        let axes = self.axes();
        let mut guided = axes.iter().filter(|axis| axis.parameter.is_guidance());
        if let Some(axis) = guided.next().filter(|_| self.base.guidance.is_none()) {
            let name = axis.parameter.name();
            return Err(FitError::NoGuidance { name });
        }
        (0..self.n_cells()).try_for_each(|cell| {
            let chain = self.chain_at(&self.values_of(cell));
            Ok(chain.validate()?)
        })
    }
}

/// Returns up to `n` values that are evenly spaced between two others, excluding both.
pub(super) fn between(parameter: Parameter, [low, high]: [f64; 2], n: usize) -> Vec<f64> {
    let n_parts = (n + 1) as f64;
    let mut values: Vec<f64> = (1..=n)
        .map(|part| low + (high - low) * part as f64 / n_parts)
        .map(|value| rounded(parameter, value))
        .filter(|value| *value > low && *value < high)
        .collect();
    values.dedup();
    values
}

/// Rounds a value to one that suits the chain: counts are whole, and rounding errors do not show.
pub(super) fn rounded(parameter: Parameter, value: f64) -> f64 {
    if parameter.is_count() {
        value.round()
    } else {
        (value * 1e6).round() / 1e6
    }
}

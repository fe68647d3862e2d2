//! How far a text stays the same, over two numbers.

use super::{Stability, stability};
use crate::analysis::sweep::Axis;
use crate::decoding::ChainConfig;
use crate::generation::Generation;

/// The distances between the cells of the passes, the first pass first.
const STRIDES: [usize; 3] = [4, 2, 1];

/// How far a text stays the same under each pair of values, filled coarse first.
#[derive(Debug, Clone, PartialEq)]
pub struct StabilityMap {
    base: ChainConfig,
    /// What changes from row to row, the top one first.
    pub rows: Axis,
    /// What changes from column to column.
    pub columns: Axis,
    /// The cells in the order in which they are computed.
    order: Vec<usize>,
    n_done: usize,
    cells: Vec<Option<Stability>>,
}

impl StabilityMap {
    /// Prepares the map of a text, whose settings it varies.
    pub fn new(generation: &Generation, rows: Axis, columns: Axis) -> Self {
        let (n_rows, n_columns) = (rows.values().len(), columns.values().len());
        let mut order = Vec::new();
        let mut is_ordered = vec![false; n_rows * n_columns];
        for stride in STRIDES {
            for row in (0..n_rows).step_by(stride) {
                for column in (0..n_columns).step_by(stride) {
                    let cell = row * n_columns + column;
                    if let Some(known) = is_ordered.get_mut(cell).filter(|known| !**known) {
                        *known = true;
                        order.push(cell);
                    }
                }
            }
        }
        Self {
            base: generation.config.chain.clone(),
            rows,
            columns,
            cells: vec![None; order.len()],
            order,
            n_done: 0,
        }
    }

    /// Computes cells while `has_time` returns true. Returns whether all are known.
    pub fn advance(&mut self, text: &Generation, mut has_time: impl FnMut() -> bool) -> bool {
        while let Some(cell) = self.order.get(self.n_done).copied() {
            if !has_time() {
                return false;
            }
            let found = stability(text, &self.chain_of(cell));
            if let Some(place) = self.cells.get_mut(cell) {
                *place = Some(found);
            }
            self.n_done += 1;
        }
        true
    }

    /// Returns the number of cells.
    pub const fn n_cells(&self) -> usize {
        self.order.len()
    }

    /// Returns the number of cells that are known.
    pub const fn n_done(&self) -> usize {
        self.n_done
    }

    /// Returns how many of the known cells are lower bounds.
    pub fn n_bounded(&self) -> usize {
        let known = self.cells.iter().flatten();
        known.filter(|stability| !stability.exact).count()
    }

    /// Returns whether this cell itself was computed.
    pub fn is_known(&self, cell: usize) -> bool {
        self.cells.get(cell).is_some_and(Option::is_some)
    }

    /// Returns the value of a cell, or of the nearest coarse cell above and to the left.
    pub fn shown(&self, cell: usize) -> Option<Stability> {
        let n_columns = self.columns.values().len().max(1);
        let (row, column) = (cell / n_columns, cell % n_columns);
        STRIDES.iter().rev().find_map(|stride| {
            let coarse = (row - row % stride) * n_columns + (column - column % stride);
            self.cells.get(coarse).copied().flatten()
        })
    }

    /// Returns the values of a cell: the row's, then the column's.
    pub fn values_of(&self, cell: usize) -> Option<[f64; 2]> {
        let n_columns = self.columns.values().len().max(1);
        let row = self.rows.values().get(cell / n_columns)?;
        let column = self.columns.values().get(cell % n_columns)?;
        Some([*row, *column])
    }

    /// Returns the settings of a cell.
    pub fn chain_of(&self, cell: usize) -> ChainConfig {
        let mut chain = self.base.clone();
        if let Some([row, column]) = self.values_of(cell) {
            self.rows.parameter.set(&mut chain, row);
            self.columns.parameter.set(&mut chain, column);
        }
        chain
    }

    /// Returns the cell whose values are nearest to those of the text, or `None` if the text's
    /// settings lack one of them.
    pub fn own_cell(&self) -> Option<usize> {
        let row = nearest(&self.rows, &self.base)?;
        let column = nearest(&self.columns, &self.base)?;
        Some(row * self.columns.values().len() + column)
    }
}

/// Returns the index of the value nearest to the chain's own.
fn nearest(axis: &Axis, chain: &ChainConfig) -> Option<usize> {
    let own = axis.parameter.get(chain)?;
    let distances = axis.values().iter().map(|value| (value - own).abs());
    let nearest = distances
        .enumerate()
        .min_by(|(_, a), (_, b)| a.total_cmp(b));
    nearest.map(|(place, _)| place)
}

//! How far a text stays the same as two numbers vary.

use super::{HeldToken, Stability, stability};
use crate::analysis::sweep::Axis;
use crate::analysis::{coarse_order, stand_ins};
use crate::decoding::ChainConfig;
use crate::generation::Generation;

/// How far a text stays the same under each pair of values, filled coarse first.
#[derive(Debug, Clone, PartialEq)]
pub struct StabilityMap {
    base: ChainConfig,
    /// The token whose choice is mapped, or `None` for the whole text.
    held: Option<HeldToken>,
    /// What varies from row to row, top row first.
    pub rows: Axis,
    /// What varies from column to column.
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
        let order = coarse_order(n_rows, n_columns);
        Self {
            base: generation.config.chain.clone(),
            held: None,
            rows,
            columns,
            cells: vec![None; order.len()],
            order,
            n_done: 0,
        }
    }

    /// Prepares the map of one token of a text.
    pub fn of_token(generation: &Generation, held: HeldToken, rows: Axis, columns: Axis) -> Self {
        Self {
            held: Some(held),
            ..Self::new(generation, rows, columns)
        }
    }

    /// Returns the token whose choice is mapped, or `None` for the whole text.
    pub const fn held(&self) -> Option<&HeldToken> {
        self.held.as_ref()
    }

    /// Computes cells while `has_time` returns true. Returns whether all are known.
    pub fn advance(&mut self, text: &Generation, mut has_time: impl FnMut() -> bool) -> bool {
        while let Some(cell) = self.order.get(self.n_done).copied() {
            if !has_time() {
                return false;
            }
            let chain = self.chain_of(cell);
            let found = match &self.held {
                Some(held) => held.stability(text, &chain),
                None => stability(text, &chain),
            };
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
        let mut cells = stand_ins(cell, self.columns.values().len());
        cells.find_map(|cell| self.cells.get(cell).copied().flatten())
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

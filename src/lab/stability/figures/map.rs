//! How far a text stays the same as two numbers vary.

use serde::{Deserialize, Serialize};

use super::{Choice, HeldToken, Stability, stability};
use crate::analysis::sweep::Axis;
use crate::analysis::{coarse_order, stand_ins};
use crate::decoding::{ChainConfig, TokenId};
use crate::generation::Generation;

/// How far a text stays the same under each pair of values, filled coarse first.
#[derive(Debug, Clone, PartialEq)]
pub struct StabilityMap {
    base: ChainConfig,
    /// The index of the token whose choice is mapped, or `None` for the whole text.
    held: Option<usize>,
    /// What varies from row to row, top row first.
    pub rows: Axis,
    /// What varies from column to column.
    pub columns: Axis,
    /// The cells in the order in which they are computed.
    order: Vec<usize>,
    n_done: usize,
    cells: Vec<Option<Stability>>,
    /// What becomes of the held token in each cell.
    choices: Vec<Option<Choice>>,
}

/// A complete map as the history keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptMap {
    base: ChainConfig,
    held: Option<usize>,
    rows: Axis,
    columns: Axis,
    cells: Vec<Stability>,
    /// Empty for a whole text.
    choices: Vec<Choice>,
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
            choices: Vec::new(),
            order,
            n_done: 0,
        }
    }

    /// Prepares the map of one token of a text.
    pub fn of_token(generation: &Generation, step: usize, rows: Axis, columns: Axis) -> Self {
        let map = Self::new(generation, rows, columns);
        Self {
            held: Some(step),
            choices: vec![None; map.cells.len()],
            ..map
        }
    }

    /// Returns the index of the token whose choice is mapped, or `None` for the whole text.
    pub const fn held(&self) -> Option<usize> {
        self.held
    }

    /// Computes cells while `has_time` returns true. Returns whether all are known.
    pub fn advance(&mut self, text: &Generation, mut has_time: impl FnMut() -> bool) -> bool {
        let held = self.held.and_then(|step| HeldToken::new(text, step));
        while let Some(cell) = self.order.get(self.n_done).copied() {
            if !has_time() {
                return false;
            }
            let chain = self.chain_of(cell);
            let found = match &held {
                Some(held) => {
                    let choice = held.choice(&chain);
                    if let Some(place) = self.choices.get_mut(cell) {
                        *place = Some(choice);
                    }
                    held.stability(choice)
                }
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
        self.shown_of(&self.cells, cell)
    }

    /// Returns what becomes of the held token in a cell, or in the nearest coarse cell.
    pub fn shown_choice(&self, cell: usize) -> Option<Choice> {
        self.shown_of(&self.choices, cell)
    }

    fn shown_of<T: Copy>(&self, values: &[Option<T>], cell: usize) -> Option<T> {
        let mut cells = stand_ins(cell, self.columns.values().len());
        cells.find_map(|cell| values.get(cell).copied().flatten())
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

    /// Returns what the history keeps, once all cells are known.
    pub fn kept(&self) -> Option<KeptMap> {
        Some(KeptMap {
            base: self.base.clone(),
            held: self.held,
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            cells: self.cells.iter().copied().collect::<Option<_>>()?,
            choices: self.choices.iter().copied().collect::<Option<_>>()?,
        })
    }

    /// Returns a map of a text of `n_tokens` tokens that the history has kept. Fails, with the
    /// reason, if it contradicts itself.
    pub fn of_kept(kept: KeptMap, n_tokens: usize) -> Result<Self, String> {
        let (n_rows, n_columns) = (kept.rows.values().len(), kept.columns.values().len());
        let order = coarse_order(n_rows, n_columns);
        let n_choices = kept.held.map_or(0, |_| order.len());
        let n_mapped = kept.held.map_or(n_tokens, |_| 1);
        let fits = kept.cells.len() == order.len()
            && kept.choices.len() == n_choices
            && kept.held.is_none_or(|step| step < n_tokens)
            && kept.cells.iter().all(|cell| cell.n_same <= n_mapped);
        if !fits {
            return Err("its cells do not fit its text".to_owned());
        }
        Ok(Self {
            base: kept.base,
            held: kept.held,
            rows: kept.rows,
            columns: kept.columns,
            n_done: order.len(),
            order,
            cells: kept.cells.into_iter().map(Some).collect(),
            choices: kept.choices.into_iter().map(Some).collect(),
        })
    }

    /// Returns the tokens that take the place of the held one.
    pub fn tokens(&self) -> impl Iterator<Item = TokenId> {
        let choices = self.choices.iter().flatten();
        choices.filter_map(|choice| match choice {
            Choice::Other(token) => Some(*token),
            Choice::Same
            | Choice::Unrecorded
            | Choice::Changed
            | Choice::Open
            | Choice::Unknown => None,
        })
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

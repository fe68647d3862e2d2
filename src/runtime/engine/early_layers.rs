//! The rows that guide texts, above all those that come from early layers of the texts' own passes.

use super::{EarlyExit, Logits};
use crate::decoding::most_divergent;

/// The logits that guide a text at one position.
#[derive(Debug, Clone)]
pub(super) struct GuidingRow {
    pub logits: Vec<f32>,
    /// The early layer that they come from. `None` if another sequence gives them.
    pub layer: Option<u32>,
}

impl GuidingRow {
    /// Chooses among early layers the one that is farthest from the last. `early` has a row for each
    /// of the layers.
    pub(super) fn of_layers(last: &[f32], early: &[&[f32]], layers: &[u32]) -> Self {
        let chosen = most_divergent(last, early);
        Self {
            logits: early.get(chosen).copied().unwrap_or_default().to_vec(),
            layer: layers.get(chosen).copied(),
        }
    }
}

impl From<Vec<f32>> for GuidingRow {
    fn from(logits: Vec<f32>) -> Self {
        Self {
            logits,
            layer: None,
        }
    }
}

/// Returns the early exits that give the rows of these layers, for each of these rows of a pass.
pub(super) fn exits_of(
    rows: impl IntoIterator<Item = usize>,
    layers: &[u32],
) -> impl Iterator<Item = EarlyExit> {
    rows.into_iter().flat_map(move |row| {
        layers.iter().map(move |layer| EarlyExit {
            row,
            n_layers: *layer as usize,
        })
    })
}

/// A pass over the own rows of texts, and what it gave at early exits.
pub(super) struct OwnPass<'a> {
    /// The logits of the last layer, one row for each position.
    pub last: &'a Logits,
    pub early: &'a Logits,
    /// The index of the first early row that belongs to the positions.
    pub first: usize,
}

impl OwnPass<'_> {
    /// Chooses the layer that guides each position.
    pub(super) fn guiding_rows(&self, layers: &[u32]) -> Vec<GuidingRow> {
        if layers.is_empty() {
            return Vec::new();
        }
        let positions = (0..self.last.n_rows()).filter_map(|index| {
            let first = self.first + index * layers.len();
            let early = (first..first + layers.len()).map(|index| self.early.row(index));
            let early: Vec<&[f32]> = early.collect::<Option<_>>()?;
            Some(GuidingRow::of_layers(self.last.row(index)?, &early, layers))
        });
        positions.collect()
    }
}

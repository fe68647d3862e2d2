//! A fit as the history keeps it.

use serde::{Deserialize, Serialize};

use super::{Fit, FitPoint, FitSetup};
use crate::decoding::TokenId;
use crate::generation::{FitTokens, Likelihood};

/// What was computed of a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptFigures {
    setup: FitSetup,
    texts: Vec<FitTokens>,
    cells: Vec<Option<Likelihood>>,
    points: Vec<FitPoint>,
    base: Option<Likelihood>,
    n_rounds: usize,
}

impl Fit {
    /// Returns all tokens of its texts.
    pub fn tokens(&self) -> impl Iterator<Item = TokenId> {
        self.texts.iter().flat_map(|text| &text.tokens).copied()
    }

    /// Returns what the history keeps.
    pub fn kept(&self) -> KeptFigures {
        KeptFigures {
            setup: self.setup.clone(),
            texts: self.texts.clone(),
            cells: self.cells.clone(),
            points: self.points.clone(),
            base: self.base,
            n_rounds: self.n_rounds,
        }
    }

    /// Returns a fit that the history has kept. Fails, with the reason, if it contradicts itself.
    pub fn of_kept(kept: KeptFigures) -> Result<Self, String> {
        kept.setup.validate().map_err(|error| error.to_string())?;
        let n_values = kept.setup.axes().len();
        let fits = |point: &FitPoint| point.values.len() == n_values;
        if kept.cells.len() != kept.setup.n_cells() || !kept.points.iter().all(fits) {
            return Err("its values do not fit its settings".to_owned());
        }
        Ok(Self {
            setup: kept.setup,
            texts: kept.texts,
            cells: kept.cells,
            points: kept.points,
            base: kept.base,
            batch: Vec::new(),
            n_rounds: kept.n_rounds,
        })
    }
}

//! Fits: under which settings a model would most likely generate given texts, and under which it
//! can't.
//!
//! A grid of settings is computed first, coarse first. Then the best settings, the ends of their
//! interval and the limits beyond which the texts are impossible are refined in a few rounds. The
//! likelihoods themselves come from the engine, batch by batch.

mod confidence;
mod kept;
mod limits;
mod refine;
mod setup;
#[cfg(test)]
mod tests;
mod words;

pub use kept::KeptFigures;
pub use limits::{FitInterval, FitLimit};
pub use setup::{FitError, FitSetup};

use serde::{Deserialize, Serialize};

use crate::analysis::{coarse_order, stand_ins};
use crate::decoding::ChainConfig;
use crate::generation::{FitPlace, FitTokens, Likelihood};

/// Settings whose likelihood is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitPoint {
    /// The value of each varied number.
    pub values: Vec<f64>,
    pub likelihood: Likelihood,
}

/// What a likelihood of the current batch is for.
#[derive(Debug, Clone, PartialEq)]
enum Target {
    /// The settings that are not varied, as they are.
    Base,
    Cell(usize),
    /// Settings between those of the cells.
    Point(Vec<f64>),
}

/// A fit, as far as it has been computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub setup: FitSetup,
    texts: Vec<FitTokens>,
    cells: Vec<Option<Likelihood>>,
    /// Settings between those of the cells.
    points: Vec<FitPoint>,
    base: Option<Likelihood>,
    /// What the likelihoods of the current batch are for.
    batch: Vec<Target>,
    n_rounds: usize,
}

impl Fit {
    /// Prepares a fit of which nothing is computed yet.
    pub fn new(setup: FitSetup) -> Self {
        Self {
            cells: vec![None; setup.n_cells()],
            setup,
            texts: Vec::new(),
            points: Vec::new(),
            base: None,
            batch: Vec::new(),
            n_rounds: 0,
        }
    }

    /// Stores the tokenized texts.
    pub fn set_texts(&mut self, texts: Vec<FitTokens>) {
        self.texts = texts;
    }

    /// Returns the tokenized texts. Empty until they are known.
    pub fn texts(&self) -> &[FitTokens] {
        &self.texts
    }

    /// Returns the settings to compute next, or `None` if nothing is left to compute.
    pub fn next_batch(&mut self) -> Option<Vec<ChainConfig>> {
        self.batch = if self.n_rounds == 0 {
            let n_columns = self.setup.n_columns();
            let n_rows = self.setup.rows.values().len();
            let cells = coarse_order(n_rows, n_columns).into_iter();
            std::iter::once(Target::Base)
                .chain(cells.map(Target::Cell))
                .collect()
        } else {
            let points = refine::points(self, self.n_rounds);
            points.into_iter().map(Target::Point).collect()
        };
        self.n_rounds += 1;
        let chains: Vec<ChainConfig> = self
            .batch
            .iter()
            .map(|target| match target {
                Target::Base => self.setup.base.clone(),
                Target::Cell(cell) => self.setup.chain_at(&self.setup.values_of(*cell)),
                Target::Point(values) => self.setup.chain_at(values),
            })
            .collect();
        (!chains.is_empty()).then_some(chains)
    }

    /// Stores a likelihood, given by its index in the current batch.
    pub fn add(&mut self, index: usize, likelihood: Likelihood) {
        match self.batch.get(index) {
            Some(Target::Base) => self.base = Some(likelihood),
            Some(Target::Cell(cell)) => {
                if let Some(place) = self.cells.get_mut(*cell) {
                    *place = Some(likelihood);
                }
            }
            Some(Target::Point(values)) => self.points.push(FitPoint {
                values: values.clone(),
                likelihood,
            }),
            None => {}
        }
    }

    /// Returns the number of cells that are known.
    pub fn n_done(&self) -> usize {
        self.cells.iter().flatten().count()
    }

    /// Returns the likelihood of a cell.
    pub fn cell(&self, cell: usize) -> Option<Likelihood> {
        self.cells.get(cell).copied().flatten()
    }

    /// Returns the likelihood of a cell, or of the nearest coarse cell above and to the left.
    pub fn shown(&self, cell: usize) -> Option<Likelihood> {
        let mut cells = stand_ins(cell, self.setup.n_columns());
        cells.find_map(|cell| self.cell(cell))
    }

    /// Returns the likelihood under the settings that are not varied.
    pub const fn base(&self) -> Option<Likelihood> {
        self.base
    }

    /// Returns the settings that were computed between those of the cells.
    pub fn points(&self) -> &[FitPoint] {
        &self.points
    }

    /// Returns the number of tokens whose likelihood is computed.
    pub fn n_tokens(&self) -> usize {
        self.texts.iter().map(|text| text.fitted().len()).sum()
    }

    /// Returns the mean surprise of a token in bits, or `None` if the texts are impossible.
    pub fn bits_per_token(&self, likelihood: Likelihood) -> Option<f64> {
        let bits = -likelihood.ln_prob / std::f64::consts::LN_2;
        // A sum of zeros must not be shown as −0.
        let bits = bits / self.n_tokens().max(1) as f64 + 0.0;
        bits.is_finite().then_some(bits)
    }

    /// Returns everything that is known: the cells, then the settings between them.
    pub fn known(&self) -> impl Iterator<Item = FitPoint> + '_ {
        let cells = self
            .cells
            .iter()
            .enumerate()
            .filter_map(|(cell, likelihood)| {
                let likelihood = (*likelihood)?;
                let values = self.setup.values_of(cell);
                Some(FitPoint { values, likelihood })
            });
        cells.chain(self.points.iter().cloned())
    }

    /// Returns the settings under which the texts are most likely, or `None` if no known settings
    /// can generate them. Of settings that are exactly as good, those with the fewest digits.
    pub fn best(&self) -> Option<FitPoint> {
        let most = self.max_ln_prob()?;
        let best = |point: &FitPoint| point.likelihood.ln_prob >= most;
        let n_digits = |point: &FitPoint| self.setup.words(&point.values).len();
        self.known().filter(best).min_by_key(n_digits)
    }

    /// Returns the largest known log-likelihood, or `None` if all are −∞.
    fn max_ln_prob(&self) -> Option<f64> {
        let known = self.known().map(|point| point.likelihood.ln_prob);
        let most = known.fold(f64::NEG_INFINITY, f64::max);
        most.is_finite().then_some(most)
    }

    /// If all settings are ruled out, returns the token that rules out those that get furthest.
    pub fn ruled_out_everywhere(&self) -> Option<FitPlace> {
        if self.max_ln_prob().is_some() {
            return None;
        }
        self.known()
            .filter_map(|point| point.likelihood.ruled_out)
            .max()
    }
}

/// Where likelihoods differ by at most this much, in nats, the search for the best ends.
const SAME_NATS: f64 = 0.005;

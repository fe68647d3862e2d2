//! Sampling by hand: a user-supplied row of logits instead of a model's, and many draws from it.

mod chi_squared;
mod draws;
mod recorded;

pub use chi_squared::ChiSquared;
pub use draws::{Draws, Tally, Untested};
pub use recorded::{N_COIN_BINS, StepDraws};

use crate::decoding::{ChainConfig, Coins, DecodingError, History, Sampled, SamplerChain, TokenId};

/// One row of logits, with the tokens that precede it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogitRow {
    /// One logit per token, indexed by token id.
    pub logits: Vec<f32>,
    /// The tokens before the one to sample.
    pub history: Vec<TokenId>,
    /// How many tokens of `history` belong to the prompt.
    pub n_prompt: usize,
}

impl LogitRow {
    /// Returns the tokens that penalties look at.
    pub fn history(&self) -> History<'_> {
        History::new(&self.history, self.n_prompt)
    }

    /// Returns the coins for the position after the history.
    pub fn coins(&self, seed: u64) -> Coins {
        Coins {
            seed,
            position: self.history.len() as u64,
        }
    }

    /// Samples one token with a new chain, without state from earlier draws.
    pub fn sample(&self, chain: &ChainConfig, coins: Coins) -> Result<Sampled, DecodingError> {
        SamplerChain::new(chain.clone()).sample(&self.logits, self.history(), coins)
    }
}

//! Sampling by hand: a row of numbers in place of a model's, and many draws from it.

mod chi_squared;
mod draws;

pub use chi_squared::ChiSquared;
pub use draws::{Draws, Tally, Untested};

use crate::decoding::{ChainConfig, Coins, DecodingError, History, Sampled, SamplerChain, TokenId};

/// Scores, and what stands before the token that they are for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoreRow {
    /// A logit for each token, by its id.
    pub logits: Vec<f32>,
    /// The tokens before the one that is drawn.
    pub history: Vec<TokenId>,
    /// How many of these are the prompt's.
    pub n_prompt: usize,
}

impl ScoreRow {
    /// What a chain looks back on.
    pub fn history(&self) -> History<'_> {
        History::new(&self.history, self.n_prompt)
    }

    /// The coins of the token after the history.
    pub fn coins(&self, seed: u64) -> Coins {
        Coins {
            seed,
            position: self.history.len() as u64,
        }
    }

    /// Draws one token as the first of its text.
    pub fn sample(&self, chain: &ChainConfig, coins: Coins) -> Result<Sampled, DecodingError> {
        SamplerChain::new(chain.clone()).sample(&self.logits, self.history(), coins)
    }
}

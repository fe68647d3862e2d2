//! Sweeps: one or more prompts continued under many settings and seeds.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{FinishReason, GenerationConfig, Limits, Piece, PromptText};
use crate::decoding::{ChainConfig, TokenId, Trace};

/// Which texts a sweep writes: every prompt, under the settings of every cell, with every seed.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepPlan {
    pub prompts: Vec<PromptText>,
    /// The settings of each cell.
    pub cells: Vec<ChainConfig>,
    pub limits: Limits,
    /// The first seed.
    pub seed: u64,
    pub n_seeds: usize,
    /// The most texts that are decoded in one batch, which bounds the memory of the KV cache.
    pub width: usize,
}

impl SweepPlan {
    /// The width to use unless the user chose another. Wider batches are hardly faster, and their
    /// results arrive later.
    pub const DEFAULT_WIDTH: usize = 96;

    /// Returns the seed at this index: the first seed plus the index, wrapping. All cells use
    /// the same seeds, so only the settings make them differ, and a pane with this seed writes the
    /// same text.
    pub const fn seed_of(&self, index: usize) -> u64 {
        self.seed.wrapping_add(index as u64)
    }

    /// Returns the number of texts that continue each prompt.
    pub const fn n_texts_per_prompt(&self) -> usize {
        self.cells.len().saturating_mul(self.n_seeds)
    }
}

/// Texts that continue one prompt as panes would: each is written by what its settings call for, such
/// as a beam search. A text's cell is its index here.
#[derive(Debug, Clone, PartialEq)]
pub struct PaneTextsPlan {
    pub prompt: PromptText,
    pub texts: Vec<GenerationConfig>,
}

/// One text of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepText {
    /// The index of its prompt.
    pub prompt: usize,
    /// The index of its cell.
    pub cell: usize,
    /// The index of its seed.
    pub seed: usize,
    /// The generated tokens.
    pub tokens: Vec<TokenId>,
    /// What the model thought of each token, before the chain.
    pub measures: Vec<TokenMeasures>,
    pub finish: FinishReason,
    /// Whether its grammar accepts it. `None` without a grammar.
    pub grammar_complete: Option<bool>,
}

/// A text that a server has written, one of several for a prompt. Servers number tokens in their own way
/// or not at all, so it has no token ids.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedText {
    /// The index of its settings.
    pub settings: usize,
    /// The index of its seed.
    pub seed: usize,
    /// The prompt as it was sent, after the chat template.
    pub rendered: Arc<str>,
    pub pieces: Vec<Piece>,
    /// What the model thought of each token, before the chain. Empty if the server left out the
    /// probability of a token.
    pub measures: Vec<TokenMeasures>,
    pub finish: FinishReason,
    /// How long it took, in seconds.
    pub secs: f64,
}

/// What the model thought of one generated token, before the chain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TokenMeasures {
    /// Minus the binary logarithm of its probability.
    pub surprise_bits: f32,
    /// The entropy of the distribution that it was drawn from.
    pub entropy_bits: f32,
    /// Whether it was the most likely token, which greedy decoding takes.
    pub is_top: bool,
}

impl TokenMeasures {
    /// Reads the record of a step. Returns `None` if a server left out the token's probability.
    pub fn of(trace: &Trace) -> Option<Self> {
        let entropy_bits = trace.raw.entropy_nats / std::f64::consts::LN_2;
        Some(Self {
            surprise_bits: trace.known_surprise_bits()?.max(0.0) as f32,
            entropy_bits: entropy_bits.max(0.0) as f32,
            is_top: trace.raw_rank == 1,
        })
    }
}

/// What a sweep reports.
#[derive(Debug, Clone, PartialEq)]
pub enum SweepUpdate {
    /// The prompts were tokenized.
    Started {
        /// The tokens of each prompt.
        prompts: Vec<Vec<TokenId>>,
    },
    /// The texts have grown.
    Advanced {
        /// How many tokens have been generated so far, including those of incomplete texts.
        n_tokens: usize,
        /// How long the engine has worked on the sweep so far.
        secs: f64,
        /// The texts that are now complete.
        complete: Vec<SweepText>,
    },
}

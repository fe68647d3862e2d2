//! What the KV cache costs and saves: the same text generated with the cache and without it.

use serde::{Deserialize, Serialize};

use crate::decoding::TokenId;
use crate::generation::{CacheShape, PromptText};

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachePlan {
    pub prompt: PromptText,
    /// How many tokens to generate after the prompt, as far as the context goes.
    pub n_tokens: usize,
}

/// The facts about a measurement that are known when it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheFacts {
    pub n_prompt: usize,
    /// How many tokens are generated, which the context may limit.
    pub n_tokens: usize,
    /// The size of the cache, or `None` if the backend can't tell.
    pub shape: Option<CacheShape>,
    /// The lengths at which a token is generated without the cache, in order.
    pub off_lengths: Vec<usize>,
    /// The prompt lengths at which reading is timed, in order.
    pub read_lengths: Vec<usize>,
    /// How many panes share a prompt or read it separately.
    pub n_panes: usize,
}

/// What one part of a measurement found.
#[derive(Debug, Clone, PartialEq)]
pub enum CacheSample {
    /// A token was generated with the cache.
    On {
        /// How many tokens the text has before it.
        length: usize,
        token: TokenId,
        secs: f64,
        /// The memory of the cache, if the backend can tell.
        n_bytes: Option<u64>,
    },
    /// The same token was generated without the cache, from the whole text before it.
    Off {
        length: usize,
        secs: f64,
        /// The largest difference between a logit and the one with the cache.
        largest_difference: f32,
        /// Whether both picked the same token.
        is_same_token: bool,
    },
    /// A prompt was read in parallel, and one token at a time.
    Read {
        length: usize,
        parallel_secs: f64,
        one_by_one_secs: f64,
    },
    /// A prompt was read for several panes.
    Panes { shared: PaneCost, apart: PaneCost },
}

/// What a prompt costs several panes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaneCost {
    /// How often it was read.
    pub n_reads: usize,
    pub secs: f64,
    /// The memory of the caches together, if the backend can tell.
    pub n_bytes: Option<u64>,
}

/// The parts of a measurement, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheStage {
    /// The prompt is read.
    Prompt,
    /// The text is generated with the cache.
    On,
    /// The text is read one token at a time.
    OneByOne,
    /// Prompts are read in parallel.
    Parallel,
    /// The prompt is read once for all panes.
    Shared,
    /// The prompt is read for each pane.
    Apart,
    /// Tokens are generated without the cache.
    Off,
    Done,
}

impl CacheStage {
    /// Names the stage while it lasts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "Reading the prompt",
            Self::On => "With the cache",
            Self::OneByOne => "Reading one by one",
            Self::Parallel => "Reading in parallel",
            Self::Shared | Self::Apart => "Reading the prompt for four panes",
            Self::Off => "Without the cache",
            Self::Done => "Done",
        }
    }
}

/// What a measurement reports.
#[derive(Debug, Clone, PartialEq)]
pub enum CacheUpdate {
    Started(CacheFacts),
    Measured(CacheSample),
    /// A pass was run that measured nothing on its own.
    Advanced {
        stage: CacheStage,
        n_done: usize,
        n_all: usize,
    },
}

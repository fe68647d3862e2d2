//! What the KV cache costs and saves: the same text generated with the cache and without it.

use super::PromptText;
use crate::decoding::TokenId;

/// What to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachePlan {
    pub prompt: PromptText,
    /// How many tokens to generate after the prompt, as far as the context goes.
    pub n_tokens: usize,
}

/// The size of the keys and values of one token, and of what a text takes besides.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheShape {
    /// Number of layers with keys and values.
    pub n_layers: usize,
    /// Key heads per layer. Each has as many value heads.
    pub n_kv_heads: usize,
    /// Numbers per head.
    pub head_dim: usize,
    /// Keys and values of one token in one head of one layer, in bytes.
    pub n_head_bytes: usize,
    /// The number format: "f32".
    pub format: String,
    /// The states of the layers without attention, in bytes for each text, whatever its length.
    pub n_state_bytes: u64,
}

impl CacheShape {
    /// Returns the keys and values of one token in all layers, in bytes.
    pub const fn n_bytes_per_token(&self) -> u64 {
        (self.n_layers * self.n_kv_heads * self.n_head_bytes) as u64
    }

    /// Returns how many numbers a head is stored as. Small heads are padded, so that they fill the
    /// CPU's registers.
    pub fn stored_dim(&self) -> usize {
        let n_bytes = match self.format.as_str() {
            "f32" => 4,
            "f16" | "bf16" => 2,
            // Scales are stored between the numbers.
            _ => return self.head_dim,
        };
        self.n_head_bytes / (2 * n_bytes)
    }

    /// Returns the bytes per stored number. Scales make it a fraction.
    pub fn bytes_per_number(&self) -> f64 {
        self.n_head_bytes as f64 / (2 * self.stored_dim()).max(1) as f64
    }
}

/// The facts about a measurement that are known when it begins.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq)]
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

//! What is asked of one generation.

use serde::{Deserialize, Serialize};

use crate::decoding::ChainConfig;

/// All that decides what a generation writes, given a model and a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GenerationConfig {
    /// How each token is chosen.
    pub chain: ChainConfig,
    /// What the coins depend on, beside the position.
    pub seed: u64,
    /// When it ends.
    pub limits: Limits,
}

/// When a generation ends, the same for all panes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The most tokens to generate; the one that ends the text counts.
    pub max_new_tokens: usize,
    /// The texts after which to stop; empty ones are passed over.
    pub stop_strings: Vec<String>,
    /// What the model's own end-of-text tokens mean.
    pub end_of_text: EndOfText,
}

/// What is done when the model draws one of its end-of-text tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndOfText {
    /// The generation ends.
    Stops,
    /// The token counts as any other, and writing goes on.
    Ignored,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_new_tokens: 200,
            stop_strings: Vec::new(),
            end_of_text: EndOfText::Stops,
        }
    }
}

//! The settings of one generation: chain, seed and limits.

use serde::{Deserialize, Serialize};

use crate::decoding::ChainConfig;

/// Everything that determines the generated text, given a model and a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GenerationConfig {
    pub chain: ChainConfig,
    /// Together with the position, determines every coin.
    pub seed: u64,
    pub limits: Limits,
}

impl GenerationConfig {
    /// The seed of a generation for which none was chosen.
    pub const DEFAULT_SEED: u64 = 42;
}

/// Stopping criteria, shared by all panes of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The maximum number of tokens to generate, including an end-of-text token.
    pub max_new_tokens: usize,
    /// Stop sequences; empty strings are ignored.
    pub stop_strings: Vec<String>,
    pub end_of_text: EndOfText,
}

/// What happens when the chain samples one of the model's end-of-text tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndOfText {
    /// Generation ends.
    Stops,
    /// The token is treated like any other, and generation continues.
    Ignored,
}

impl EndOfText {
    /// What [`EndOfText::Ignored`] asks for, in a sentence.
    pub const IGNORED_WORDS: &'static str = "going on after the end of text";
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

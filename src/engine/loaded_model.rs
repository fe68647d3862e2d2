//! A model that is ready: weights, tokenizer, and what is known of both.

use std::sync::Arc;

use super::{CausalLm, Tokenizer};
use crate::decoding::TokenId;
use crate::generation::{ModelInfo, Vocabulary};

/// A model that is ready to read and write.
pub struct LoadedModel {
    /// The weights, and the sequences that they have read.
    pub lm: Box<dyn CausalLm>,
    /// Text to tokens.
    pub tokenizer: Tokenizer,
    /// What each token stands for.
    pub vocabulary: Arc<Vocabulary>,
    /// The tokens with which the model ends a text.
    pub end_tokens: Vec<TokenId>,
    /// What it is.
    pub info: Arc<ModelInfo>,
}

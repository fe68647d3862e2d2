//! A model's architecture as data: what the decoder needs to know to run it.
//!
//! This module reads `config.json` and GGUF metadata; it knows no weight and no device.

mod config;
mod gguf;
mod names;

use super::EngineError;
use crate::decoding::TokenId;

pub use config::end_tokens_of_generation_config;
pub use names::{Naming, TensorRole};

/// The families that the decoder runs, for messages.
const KNOWN: &str = "llama and mistral (without a sliding window)";

/// The architecture of a decoder of the Llama family.
///
/// Touvron et al. 2023, "`LLaMA`: Open and Efficient Foundation Language Models".
#[derive(Debug, Clone, PartialEq)]
pub struct Blueprint {
    /// The family, as the file names it: "llama".
    pub architecture: String,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// How many decoder layers follow one another.
    pub n_layers: usize,
    /// How many query heads a layer has.
    pub n_heads: usize,
    /// How many key and value heads a layer has; each serves `n_heads / n_kv_heads` query heads.
    pub n_kv_heads: usize,
    /// The width of a head.
    pub head_dim: usize,
    /// The width between the two halves of the feed-forward network.
    pub ffn_size: usize,
    /// What is added to the mean square before its root is taken.
    pub norm_eps: f32,
    /// How positions enter.
    pub rope: Rope,
    /// How many tokens a sequence can hold.
    pub n_context: usize,
    /// Rows of the embedding table; `None` where only the table itself says.
    pub n_vocab: Option<usize>,
    /// Whether the output head is the embedding table; `None` where only the presence of a head says.
    pub tied_head: Option<bool>,
    /// The tokens that end a text, as far as this file names them.
    pub end_tokens: Vec<TokenId>,
}

/// Rotary position embedding.
///
/// Su et al. 2021, "`RoFormer`: Enhanced Transformer with Rotary Position Embedding".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rope {
    /// The base of the wavelengths.
    pub theta: f32,
    /// Which dimensions of a head turn together.
    pub form: RopeForm,
}

/// Which dimensions of a head turn together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RopeForm {
    /// 2i and 2i + 1, as GGUF stores Llama's weights.
    Interleaved,
    /// i and i + half the head, as transformers stores them.
    HalfSplit,
}

impl Rope {
    /// How far a head turns in each of its planes from one position to the next, in radians.
    pub fn inverse_wavelengths(self, head_dim: usize) -> Vec<f32> {
        (0..head_dim)
            .step_by(2)
            .map(|i| 1.0 / self.theta.powf(i as f32 / head_dim as f32))
            .collect()
    }
}

impl Blueprint {
    /// From the content of a `config.json`. `path` is named where it can't be understood.
    pub fn from_config(json: &[u8], path: &str) -> Result<Self, EngineError> {
        config::read(json, path)?.checked("The model's configuration", path)
    }

    /// From the metadata of a GGUF file. `path` is named where it can't be understood.
    pub fn from_gguf(
        content: &candle_core::quantized::gguf_file::Content,
        path: &str,
    ) -> Result<Self, EngineError> {
        gguf::read(content, path)?.checked("The model's metadata", path)
    }

    /// The values of all query heads of a token.
    pub const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    /// The values of all key heads of a token, and as many of its value heads.
    pub const fn kv_width(&self) -> usize {
        self.n_kv_heads * self.head_dim
    }

    /// Refuses numbers with which no model can be built.
    fn checked(self, what: &'static str, path: &str) -> Result<Self, EngineError> {
        match self.fault() {
            None => Ok(self),
            Some(reason) => Err(EngineError::malformed(what, reason, path)),
        }
    }

    fn fault(&self) -> Option<String> {
        let sizes = [
            ("the hidden size", self.hidden_size),
            ("the number of layers", self.n_layers),
            ("the number of heads", self.n_heads),
            ("the number of key-value heads", self.n_kv_heads),
            ("the head size", self.head_dim),
            ("the feed-forward size", self.ffn_size),
            ("the context length", self.n_context),
            ("the vocabulary size", self.n_vocab.unwrap_or(1)),
        ];
        for (name, size) in sizes {
            if !(1..=MAX_SIZE).contains(&size) {
                return Some(format!("{name} is {size}"));
            }
        }
        if !self.n_heads.is_multiple_of(self.n_kv_heads) {
            let (n_heads, n_kv_heads) = (self.n_heads, self.n_kv_heads);
            return Some(format!(
                "{n_heads} heads can't share {n_kv_heads} key-value heads"
            ));
        }
        if !self.head_dim.is_multiple_of(2) {
            return Some(format!("the head size {} is odd", self.head_dim));
        }
        if !(self.norm_eps.is_finite() && self.norm_eps >= 0.0) {
            return Some(format!("the norm's epsilon is {}", self.norm_eps));
        }
        if !(self.rope.theta.is_finite() && self.rope.theta > 0.0) {
            return Some(format!("the rotary base is {}", self.rope.theta));
        }
        None
    }
}

/// Beyond this a size is a broken file, and products of two sizes would no longer be safe.
const MAX_SIZE: usize = 1 << 28;

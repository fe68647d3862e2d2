//! A model's architecture as data: what the decoder needs to know to run it.
//!
//! This module reads `config.json` and GGUF metadata; it knows no weight and no device. What a family
//! does differently from the others stands in its file under `families`, and nowhere else.

mod base;
mod block;
mod check;
mod end_tokens;
mod facts;
mod families;
mod names;
mod rope;
mod rope_facts;
#[cfg(test)]
mod tests;

use candle_core::quantized::gguf_file::Content;

use super::EngineError;
use crate::decoding::TokenId;

pub use block::{
    Activation, Biases, Caps, FeedForward, HeadNorm, LayerPlan, Matrices, Norm, NormKind,
    NormPlaces, Scales,
};
pub use check::{MAX_LAYERS, MAX_SIZE};
pub use end_tokens::{end_tokens_of_generation_config, of_facts as end_tokens_of};
pub use facts::{Facts, Key};
pub use names::{Naming, TensorRole};
pub use rope::{Rope, RopeForm, RopeScaling, Rotation};
pub use rope_facts::linear_factor_of_gguf;

/// The architecture of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct Blueprint {
    /// The family, as the file names it: "llama".
    pub architecture: String,
    /// How the file names its tensors.
    pub naming: Naming,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// How many query heads a layer has.
    pub n_heads: usize,
    /// How many key and value heads a layer has; each serves `n_heads / n_kv_heads` query heads.
    pub n_kv_heads: usize,
    /// The width of a head.
    pub head_dim: usize,
    /// The width between the two halves of the feed-forward network.
    pub ffn_size: usize,
    /// The layers, in their order.
    pub layers: Vec<LayerPlan>,
    /// The rotations that layers name.
    pub ropes: Vec<Rope>,
    /// Whether a vector for its position is added to each token's.
    pub learned_positions: bool,
    /// How vectors are brought to one length.
    pub norm: Norm,
    /// Where that happens in a layer.
    pub norm_places: NormPlaces,
    /// Whether it happens to queries and keys too.
    pub head_norm: Option<HeadNorm>,
    /// Which projections add a vector.
    pub biases: Biases,
    /// How the file stores the matrices of one input.
    pub matrices: Matrices,
    /// What happens between the two halves of the feed-forward network.
    pub feed_forward: FeedForward,
    /// Numbers that something is multiplied with.
    pub scales: Scales,
    /// Bounds that something is kept within.
    pub caps: Caps,
    /// How many tokens a sequence can hold.
    pub n_context: usize,
    /// Rows of the embedding table; `None` where only the table itself says.
    pub n_vocab: Option<usize>,
    /// Whether the output head is the embedding table; `None` where only the presence of a head says.
    pub tied_head: Option<bool>,
    /// The tokens that end a text, as far as a `config.json` names them.
    pub end_tokens: Vec<TokenId>,
}

impl Blueprint {
    /// From the content of a `config.json`. `path` is named where it can't be understood.
    pub fn from_config(json: &[u8], path: &str) -> Result<Self, EngineError> {
        families::of_config(json, path)?.checked("The model's configuration", path)
    }

    /// From the metadata of a GGUF file. `path` is named where it can't be understood.
    pub fn from_gguf(content: &Content, path: &str) -> Result<Self, EngineError> {
        families::of_gguf(content, path)?.checked("The model's metadata", path)
    }

    /// How many decoder layers follow one another.
    pub const fn n_layers(&self) -> usize {
        self.layers.len()
    }

    /// The values of all query heads of a token.
    pub const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    /// The values of all key heads of a token, and as many of its value heads.
    pub const fn kv_width(&self) -> usize {
        self.n_kv_heads * self.head_dim
    }
}

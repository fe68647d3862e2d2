//! A model's architecture as data: everything that the decoder needs to know to run it.
//!
//! This module reads `config.json` and GGUF metadata. It knows nothing about weights and devices.
//! What distinguishes a family from the others is in its file under `families`, and nowhere else.

mod base;
mod block;
mod check;
mod end_tokens;
mod experts;
mod facts;
mod families;
mod names;
mod recurrence;
mod rope;
mod rope_facts;
mod sublayers;
#[cfg(test)]
mod tests;
mod unread;

use candle_core::quantized::gguf_file::Content;

use super::EngineError;
use crate::decoding::TokenId;

pub(super) use block::{
    Activation, AltUp, Biases, Caps, ClampedGate, FeedForward, HeadNorm, HeadSizes, KvSource,
    LatentAttention, LayerInputs, LayerPlan, Matrices, Multipliers, Norm, NormKind, NormPlaces,
    Scales, Temperature, Xielu,
};
pub(super) use check::{MAX_LAYERS, MAX_SIZE};
pub(super) use end_tokens::{end_tokens_of_generation_config, of_facts as end_tokens_of};
pub(super) use experts::{Beside, ExpertGroups, Experts, Router, Scoring};
pub(super) use facts::{Facts, Key};
pub(super) use names::{ExpertMatrix, Naming, Spelling, TensorRole};
pub(super) use recurrence::{
    DeltaNet, GatedNorm, HeadOrder, Mamba, Mamba2, Recurrence, ShortConv, StepLimits,
};
pub(super) use rope::{Rope, RopeForm, RopeScaling, Rotation};
pub(super) use rope_facts::linear_factor_of_gguf;
pub(super) use sublayers::Sublayers;

/// The architecture of a decoder-only model.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a part that a model has or lacks, whatever the others are"
)]
pub(super) struct Blueprint {
    /// The family's name in the file, such as "llama".
    pub architecture: String,
    pub naming: Naming,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// Number of query heads in a layer.
    pub n_heads: usize,
    /// Number of key-value heads in a layer, except in layers that state another. Each serves
    /// `n_heads / n_kv_heads` query heads.
    pub n_kv_heads: usize,
    /// The size of a head, except in layers that state another.
    pub head_dim: usize,
    /// The inner width of the feed-forward network, except in layers that state another.
    pub ffn_size: usize,
    pub layers: Vec<LayerPlan>,
    /// The block that predicts the token after the next one, which follows the layers if the file has
    /// it: a multi-token-prediction head.
    pub mtp_block: Option<LayerPlan>,
    /// The rotary embeddings that layers refer to by index.
    pub ropes: Vec<Rope>,
    /// Whether the model has a position embedding table.
    pub learned_positions: bool,
    pub norm: Norm,
    pub norm_places: NormPlaces,
    /// The norm of queries and keys, if the model has one.
    pub head_norm: Option<HeadNorm>,
    /// Whether the values of each head are normalized, without weights.
    pub value_norm: bool,
    /// Whether each head's output is multiplied by a gate, which the query projection computes.
    pub gated_heads: bool,
    /// Whether each head has a learned score that takes part in its softmax, but has no value: an
    /// attention sink. Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks".
    pub sinks: bool,
    pub biases: Biases,
    pub matrices: Matrices,
    pub feed_forward: FeedForward,
    /// The mixture in the layers that have one.
    pub experts: Option<Experts>,
    /// The parameters of xIELU in each layer, if the file's metadata list them. Otherwise they are
    /// stored as tensors.
    pub xielus: Vec<Xielu>,
    pub scales: Scales,
    pub caps: Caps,
    /// The factors of projections, if the model has some.
    pub multipliers: Option<Multipliers>,
    /// The vectors that each layer reads besides the residual stream, if it does.
    pub layer_inputs: Option<LayerInputs>,
    /// What queries, keys and values are computed from, if it is not the layer's input.
    pub latent: Option<LatentAttention>,
    /// The copies of the residual stream, if the model has some.
    pub alt_up: Option<AltUp>,
    /// For each layer, how many standard deviations above their mean its gates are cut off. Shorter
    /// than the layers if the last ones keep all gates.
    pub gate_cutoffs: Vec<Option<f32>>,
    /// Whether each layer's output is multiplied by a learned number, if the file has it.
    pub layer_scales: bool,
    /// Queries, keys and values are clamped to ± this value.
    pub qkv_limit: Option<f32>,
    /// How queries grow with their position, if they do.
    pub temperature: Option<Temperature>,
    /// The context length: the most tokens that a sequence can hold.
    pub n_context: usize,
    /// Number of rows in the embedding table. `None` if the file does not say, so that it must be
    /// taken from the table itself.
    pub n_vocab: Option<usize>,
    /// Whether the embedding table is also the output head. `None` if that depends on whether the
    /// file has a separate head.
    pub tied_head: Option<bool>,
    /// The end-of-text tokens listed in the `config.json`. Empty for a GGUF file.
    pub end_tokens: Vec<TokenId>,
}

impl Blueprint {
    /// Reads a `config.json`. `path` appears in error messages.
    pub(super) fn from_config(json: &[u8], path: &str) -> Result<Self, EngineError> {
        families::of_config(json, path)?.checked("The model’s configuration", path)
    }

    /// Reads the metadata of a GGUF file. `path` appears in error messages.
    pub(super) fn from_gguf(content: &Content, path: &str) -> Result<Self, EngineError> {
        families::of_gguf(content, path)?.checked("The model’s metadata", path)
    }

    /// Returns whether a `config.json` with this `model_type` and this first class is of a family
    /// that the decoder supports.
    pub(super) fn knows_config(model_type: Option<&str>, class: Option<&str>) -> bool {
        families::knows_config(model_type, class)
    }

    /// Returns whether a `config.json` with this `model_type` and this first class is of a model
    /// that also reads images, of which the decoder runs the text part.
    pub(super) fn is_text_part(model_type: Option<&str>, class: Option<&str>) -> bool {
        families::is_wrapper(model_type, class)
    }

    /// Returns whether the decoder supports this `general.architecture` in GGUF metadata.
    pub(super) fn knows_gguf(architecture: &str) -> bool {
        families::knows_gguf(architecture)
    }

    /// Returns the number of layers.
    pub(super) const fn n_layers(&self) -> usize {
        self.layers.len()
    }

    /// Returns the blueprint with the multi-token-prediction block as its last layer, or `None` if
    /// the family has no such block.
    pub(super) fn with_mtp_block(&self) -> Option<Self> {
        let mut extended = self.clone();
        extended.layers.push(extended.mtp_block.take()?);
        Some(extended)
    }

    /// Returns the sizes of a layer's keys and values.
    pub(super) fn heads(&self, layer: usize) -> HeadSizes {
        let stated = self.layers.get(layer).and_then(|layer| layer.heads);
        stated.unwrap_or(HeadSizes {
            n_kv_heads: self.n_kv_heads,
            head_dim: self.head_dim,
        })
    }

    /// Returns the inner width of a layer's feed-forward network.
    pub(super) fn ffn_size_of(&self, layer: usize) -> usize {
        let stated = self.layers.get(layer).and_then(|layer| layer.ffn_size);
        stated.unwrap_or(self.ffn_size)
    }

    /// Returns where a layer's keys and values come from.
    pub(super) fn kv_source(&self, layer: usize) -> KvSource {
        let layer = self.layers.get(layer);
        layer.map_or(KvSource::Projected, |layer| layer.kv_source)
    }
}

//! The weights of a decoder in the form in which they are used.

use candle_core::Device;

use super::attention::AttentionLayer;
use super::loader::Loader;
use super::norm::{NormWeights, Norms};
use super::projection::Projection;
use crate::engine::EngineError;
use crate::engine::blueprint::{Blueprint, Rotation, TensorRole};
use crate::engine::weights::Checkpoint;

/// All weights of a model.
pub struct Weights {
    /// Token ids to vectors.
    pub embedding: Projection,
    /// Positions to vectors, where they are learned.
    pub positions: Option<Projection>,
    /// How far queries and keys turn from one position to the next.
    pub rotations: Vec<Rotation>,
    /// The layers, in their order.
    pub layers: Vec<Layer>,
    /// The norm before the head.
    pub final_norm: NormWeights,
    /// Vectors to logits.
    pub head: Projection,
    /// Rows of the embedding table and of the head.
    pub n_vocab: usize,
    /// How many weights there are; a shared table counts once.
    pub n_params: u64,
}

/// One layer's weights.
pub struct Layer {
    /// What its attention does differently from another's.
    pub attention: AttentionLayer,
    /// The norms around attention.
    pub attention_norms: Norms,
    /// Queries, keys and values side by side.
    pub qkv: Projection,
    /// What the heads found, back into the residual stream.
    pub attention_output: Projection,
    /// The norms around the feed-forward network.
    pub ffn_norms: Norms,
    /// Into the feed-forward network; where it has a gate, that and what it lets through.
    pub ffn_in: Projection,
    /// Back into the residual stream.
    pub ffn_down: Projection,
}

impl Weights {
    /// Takes the tensors that the blueprint asks for out of the checkpoint.
    pub fn load(
        blueprint: &Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        device: &Device,
    ) -> Result<Self, EngineError> {
        let mut loader = Loader::new(blueprint, checkpoint, device);
        let n_stored = loader.shape(TensorRole::Embedding).and_then(<[_]>::first);
        let n_vocab = blueprint.n_vocab.or(n_stored.copied()).unwrap_or_default();
        let has_head = loader.shape(TensorRole::Head).is_some();
        let embedding = loader.table(TensorRole::Embedding, n_vocab)?;
        let positions = blueprint
            .learned_positions
            .then(|| loader.table(TensorRole::PositionEmbedding, blueprint.n_context))
            .transpose()?;
        let rotations = loader.rotations()?;
        let mut layers = Vec::new();
        for layer in 0..blueprint.n_layers() {
            layers.push(loader.layer(layer)?);
        }
        let final_norm = loader.final_norm()?;
        let head = if blueprint.tied_head.unwrap_or(!has_head) {
            embedding.clone()
        } else {
            loader.table(TensorRole::Head, n_vocab)?
        };
        Ok(Self {
            embedding,
            positions,
            rotations,
            layers,
            final_norm,
            head,
            n_vocab,
            n_params: loader.n_params,
        })
    }
}

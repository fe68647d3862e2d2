//! The weights of a decoder in the form in which they are used.

use super::attention::AttentionLayer;
use super::backend::{Facts, Form};
use super::loader::Loader;
use super::norm::{NormWeights, Norms};
use crate::engine::EngineError;
use crate::engine::blueprint::{Blueprint, TensorRole};
use crate::engine::weights::Checkpoint;

/// All weights of a model, in the form of a backend.
pub struct Weights<F: Form> {
    /// What is known of them.
    pub facts: Facts,
    /// Token ids to vectors.
    pub embedding: F::Matrix,
    /// Positions to vectors, where they are learned.
    pub positions: Option<F::Matrix>,
    /// The layers, in their order.
    pub layers: Vec<Layer<F>>,
    /// The norm before the head.
    pub final_norm: NormWeights<F::Vector>,
    /// Vectors to logits; `None` where the embedding table does that too.
    own_head: Option<F::Matrix>,
}

/// One layer's weights.
pub struct Layer<F: Form> {
    /// What its attention does differently from another's.
    pub attention: AttentionLayer<F::Vector>,
    /// The norms around attention.
    pub attention_norms: Norms<F::Vector>,
    /// Queries, keys and values side by side.
    pub qkv: F::Matrix,
    /// What the heads found, back into the residual stream.
    pub attention_output: F::Matrix,
    /// The norms around the feed-forward network.
    pub ffn_norms: Norms<F::Vector>,
    /// Into the feed-forward network; where it has a gate, that and what it lets through.
    pub ffn_in: F::Matrix,
    /// Back into the residual stream.
    pub ffn_down: F::Matrix,
}

impl<F: Form> Weights<F> {
    /// Takes the tensors that the blueprint asks for out of the checkpoint.
    pub fn load(
        blueprint: &Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        form: &F,
    ) -> Result<Self, EngineError> {
        let mut loader = Loader::new(blueprint, checkpoint, form);
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
        let has_own_head = !blueprint.tied_head.unwrap_or(!has_head);
        let own_head = has_own_head
            .then(|| loader.table(TensorRole::Head, n_vocab))
            .transpose()?;
        Ok(Self {
            facts: Facts {
                n_vocab,
                n_params: loader.n_params,
                rotations,
            },
            embedding,
            positions,
            layers,
            final_norm,
            own_head,
        })
    }

    /// Vectors to logits.
    pub fn head(&self) -> &F::Matrix {
        self.own_head.as_ref().unwrap_or(&self.embedding)
    }
}

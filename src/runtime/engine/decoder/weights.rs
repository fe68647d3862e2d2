//! The weights of a decoder, in a backend's own representation.

use super::attention::AttentionLayer;
use super::backend::{Facts, Form};
use super::experts::ExpertLayer;
use super::loader::Loader;
use super::norm::{NormWeights, Norms};
use super::recurrent::RecurrentLayer;
use crate::engine::blueprint::{Blueprint, FeedForward, TensorRole};
use crate::engine::weights::{Checkpoint, LoadStop};

/// All weights of a model.
pub(super) struct Weights<F: Form> {
    pub facts: Facts,
    /// The token embedding table.
    pub embedding: F::Matrix,
    /// The position embedding table, if positions are learned.
    pub positions: Option<F::Matrix>,
    /// What computes the per-layer embeddings, if the model has some.
    pub layer_inputs: Option<LayerInputWeights<F>>,
    pub layers: Vec<Layer<F>>,
    /// The norm before the output head.
    pub final_norm: NormWeights<F::Vector>,
    /// The output head. `None` if it is tied to the embedding table.
    own_head: Option<F::Matrix>,
}

/// The weights of one layer.
pub(super) struct Layer<F: Form> {
    pub mixer: Mixer<F::Vector>,
    pub mixer_norms: Norms<F::Vector>,
    /// The projections that the mixer reads, side by side: queries, keys and values for attention.
    pub mixer_in: F::Matrix,
    /// The projection of the mixer's output.
    pub mixer_out: F::Matrix,
    pub ffn_norms: Norms<F::Vector>,
    /// The feed-forward network. `None` for a layer with experts only.
    pub dense: Option<DenseNetwork<F>>,
    pub experts: Option<ExpertLayer<F>>,
    /// What adds the layer's per-layer embedding, if the model has some.
    pub input: Option<InputWeights<F>>,
    /// Multiplies the layer's output.
    pub scale: Option<f32>,
}

/// A feed-forward network that every token uses.
pub(super) struct DenseNetwork<F: Form> {
    pub feed_forward: FeedForward,
    /// The up projection, after the gate projection if the network is gated.
    pub input: F::Matrix,
    pub down: F::Matrix,
}

/// What computes the per-layer embeddings of a token.
pub(super) struct LayerInputWeights<F: Form> {
    /// The width of a layer's vector.
    pub width: usize,
    /// One row for each token, with the vectors of all layers side by side.
    pub table: F::Matrix,
    /// Computes the vectors of all layers from a token's embedding.
    pub projection: F::Matrix,
    /// The norm of each vector that the projection computes.
    pub norm: NormWeights<F::Vector>,
}

/// What adds a per-layer embedding to the residual stream.
pub(super) struct InputWeights<F: Form> {
    pub gate: F::Matrix,
    pub output: F::Matrix,
    /// Applied to the output.
    pub norm: NormWeights<F::Vector>,
}

/// What passes information from earlier tokens to later ones.
pub(super) enum Mixer<V> {
    Attention(AttentionLayer<V>),
    Recurrent(Box<RecurrentLayer>),
}

impl<F: Form> Weights<F> {
    /// Loads the tensors that the blueprint asks for.
    pub(super) fn load(
        blueprint: &Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        form: &F,
    ) -> Result<Self, LoadStop> {
        let mut loader = Loader::new(blueprint, checkpoint, form);
        let n_stored = loader.shape(TensorRole::Embedding).and_then(<[_]>::first);
        let n_vocab = blueprint.n_vocab.or(n_stored.copied()).unwrap_or_default();
        let has_own_head = match blueprint.tied_head {
            Some(false) => true,
            // As in transformers, a head that is stored counts, unless it only repeats the table.
            Some(true) => loader.has_differing_head()?,
            None => loader.shape(TensorRole::Head).is_some(),
        };
        let embedding = loader.table(TensorRole::Embedding, n_vocab)?;
        let positions = blueprint
            .learned_positions
            .then(|| loader.table(TensorRole::PositionEmbedding, blueprint.n_context))
            .transpose()?;
        let layer_inputs = loader.layer_inputs(n_vocab)?;
        let rotations = loader.rotations()?;
        let mut layers = Vec::new();
        for layer in 0..blueprint.n_layers() {
            layers.push(loader.layer(layer)?);
        }
        let final_norm = loader.final_norm()?;
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
            layer_inputs,
            layers,
            final_norm,
            own_head,
        })
    }

    /// Returns the output head, which may be the embedding table.
    pub(super) fn head(&self) -> &F::Matrix {
        self.own_head.as_ref().unwrap_or(&self.embedding)
    }
}

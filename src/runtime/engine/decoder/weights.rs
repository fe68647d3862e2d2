//! The weights of a decoder, in a backend's own representation.

use super::attention::AttentionLayer;
use super::backend::{Facts, Form};
use super::experts::ExpertLayer;
use super::latent::LatentLayer;
use super::loader::Loader;
use super::norm::{NormWeights, Norms};
use super::recurrent::RecurrentLayer;
use crate::engine::blueprint::{Blueprint, FeedForward, Mamba, TensorRole};
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
    /// What divides the residual stream into several, if the model does so.
    pub alt_up: Option<AltUpWeights<F>>,
    pub layers: Vec<Layer<F>>,
    /// What predicts the token after the next one, if the file has it.
    pub mtp_head: Option<MtpHeadWeights<F>>,
    /// The norm before the output head.
    pub final_norm: NormWeights<F::Vector>,
    /// The output head. `None` if it is tied to the embedding table.
    own_head: Option<F::Matrix>,
}

/// The weights of one layer.
pub(super) struct Layer<F: Form> {
    /// Counts from 0; the layer of a multi-token-prediction head follows those of the model.
    pub index: usize,
    /// What passes information from earlier tokens to later ones: one mixer, two side by side whose
    /// outputs are added, or none.
    pub mixers: Vec<MixerWeights<F>>,
    pub mixer_norms: Norms<F::Vector>,
    pub ffn_norms: Norms<F::Vector>,
    /// The feed-forward network. `None` for a layer without, or with experts only.
    pub dense: Option<DenseNetwork<F>>,
    pub experts: Option<ExpertLayer<F>>,
    /// How many standard deviations above their mean the gates are cut off, if they are.
    pub gate_cutoff: Option<f32>,
    /// A path beside attention.
    pub laurel: Option<LaurelWeights<F>>,
    /// What predicts and corrects the streams, if there are several.
    pub alt_up: Option<AltUpLayer<F>>,
    /// What adds the layer's per-layer embedding, if the model has some.
    pub input: Option<InputWeights<F>>,
    /// Multiplies the layer's output.
    pub scale: Option<f32>,
}

/// A block that predicts the token after the next one, from the hidden state before a token and this
/// token's embedding. It shares the embedding table and the output head with the model.
pub(super) struct MtpHeadWeights<F: Form> {
    pub token_norm: NormWeights<F::Vector>,
    pub hidden_norm: NormWeights<F::Vector>,
    /// Reads the normed embedding, then the normed hidden state.
    pub input: F::Matrix,
    pub layer: Layer<F>,
    /// The norm before the output head. `None` if it is that of the model.
    pub final_norm: Option<NormWeights<F::Vector>>,
}

/// A mixer with its projections.
pub(super) struct MixerWeights<F: Form> {
    pub mixer: Mixer<F>,
    /// The projections that the mixer reads, side by side: queries, keys and values for attention.
    pub input: F::Matrix,
    /// The projection of the mixer's output.
    pub output: F::Matrix,
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
    /// Number of rows in the table. Later tokens use the first row.
    pub n_rows: usize,
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

/// What divides the residual stream into several, and merges these.
pub(super) struct AltUpWeights<F: Form> {
    pub n_streams: usize,
    /// One square matrix for each stream but the first, side by side.
    pub projections: F::Matrix,
    /// As the projections.
    pub merging: F::Matrix,
}

/// What predicts and corrects the streams in a layer.
pub(super) struct AltUpLayer<F: Form> {
    pub router_norm: NormWeights<F::Vector>,
    pub router: F::Matrix,
    /// `[streams × streams, streams]`.
    pub prediction: F::Vector,
    /// `[streams, streams]`.
    pub correction: F::Vector,
    /// Scales the source of the per-layer embedding.
    pub output_scale: Option<F::Vector>,
}

/// A low-rank path beside attention. Menghani, Kumar, Kumar 2024, "`LAuReL`: Learned Augmented
/// Residual Layer".
pub(super) struct LaurelWeights<F: Form> {
    pub left: F::Matrix,
    pub right: F::Matrix,
    pub norm: NormWeights<F::Vector>,
}

/// What passes information from earlier tokens to later ones.
pub(super) enum Mixer<F: Form> {
    Attention(AttentionLayer<F::Vector>),
    Latent(Box<LatentLayer<F>>),
    Recurrent(Box<RecurrentLayer>),
    Mamba(Box<MambaLayer<F>>),
}

/// Mamba 1, which has projections within its recurrence.
pub(super) struct MambaLayer<F: Form> {
    pub mamba: Mamba,
    pub convolution: RecurrentLayer,
    /// Computes what a token selects from the output of the convolution.
    pub selection: F::Matrix,
    /// Computes the time steps of all channels.
    pub steps: F::Matrix,
    pub scan: RecurrentLayer,
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
        let alt_up = loader.alt_up()?;
        let rotations = loader.rotations()?;
        let mut layers = Vec::new();
        for layer in 0..blueprint.n_layers() {
            layers.push(loader.layer(layer)?);
        }
        let mtp_head = loader.mtp_head()?;
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
            alt_up,
            layers,
            mtp_head,
            final_norm,
            own_head,
        })
    }

    /// Returns the output head, which may be the embedding table.
    pub(super) fn head(&self) -> &F::Matrix {
        self.own_head.as_ref().unwrap_or(&self.embedding)
    }
}

//! The weights of a decoder in the form in which they are used.

use candle_core::{Device, Tensor};

use super::projection::{Policy, Projection};
use crate::engine::EngineError;
use crate::engine::blueprint::{Blueprint, Naming, TensorRole};
use crate::engine::weights::{Checkpoint, StoredTensor};

/// All weights of a model.
pub struct Weights {
    /// Token ids to vectors.
    pub embedding: Projection,
    /// The layers, in their order.
    pub layers: Vec<Layer>,
    /// The norm before the head.
    pub final_norm: Tensor,
    /// Vectors to logits.
    pub head: Projection,
    /// Rows of the embedding table and of the head.
    pub n_vocab: usize,
    /// How many weights there are; a shared table counts once.
    pub n_params: u64,
}

/// One layer's weights.
pub struct Layer {
    /// Its place among the layers.
    pub index: usize,
    /// The norm before attention.
    pub attention_norm: Tensor,
    /// Queries, keys and values side by side.
    pub qkv: Projection,
    /// What the heads found, back into the residual stream.
    pub attention_output: Projection,
    /// The norm before the feed-forward network.
    pub ffn_norm: Tensor,
    /// The gate and what it lets through, side by side.
    pub gate_up: Projection,
    /// Back into the residual stream.
    pub ffn_down: Projection,
}

impl Weights {
    /// Takes the tensors that the blueprint asks for out of the checkpoint.
    pub fn load(
        blueprint: &Blueprint,
        naming: Naming,
        checkpoint: &mut Checkpoint,
        device: &Device,
    ) -> Result<Self, EngineError> {
        let hidden = blueprint.hidden_size;
        let shape = checkpoint.shape(&naming.name(TensorRole::Embedding, 0));
        let n_vocab = blueprint
            .n_vocab
            .or_else(|| shape.and_then(|shape| shape.first().copied()))
            .unwrap_or_default();
        let has_head = checkpoint
            .shape(&naming.name(TensorRole::Head, 0))
            .is_some();
        let mut loader = Loader {
            naming,
            policy: Policy::new(checkpoint, device),
            checkpoint,
            n_params: 0,
        };
        let embedding = loader.projection(0, &[(TensorRole::Embedding, n_vocab)], hidden)?;
        let mut layers = Vec::new();
        for layer in 0..blueprint.n_layers {
            layers.push(loader.layer(blueprint, layer)?);
        }
        let final_norm = loader.norm(TensorRole::FinalNorm, 0, hidden)?;
        let head = if blueprint.tied_head.unwrap_or(!has_head) {
            embedding.clone()
        } else {
            loader.projection(0, &[(TensorRole::Head, n_vocab)], hidden)?
        };
        Ok(Self {
            embedding,
            layers,
            final_norm,
            head,
            n_vocab,
            n_params: loader.n_params,
        })
    }
}

struct Loader<'a> {
    naming: Naming,
    policy: Policy,
    checkpoint: &'a mut Checkpoint,
    n_params: u64,
}

impl Loader<'_> {
    fn layer(&mut self, blueprint: &Blueprint, layer: usize) -> Result<Layer, EngineError> {
        let hidden = blueprint.hidden_size;
        let (q_width, kv_width) = (blueprint.q_width(), blueprint.kv_width());
        let ffn = blueprint.ffn_size;
        let qkv = [
            (TensorRole::Query, q_width),
            (TensorRole::Key, kv_width),
            (TensorRole::Value, kv_width),
        ];
        let gate_up = [(TensorRole::FfnGate, ffn), (TensorRole::FfnUp, ffn)];
        let output = [(TensorRole::AttentionOutput, hidden)];
        let down = [(TensorRole::FfnDown, hidden)];
        Ok(Layer {
            index: layer,
            attention_norm: self.norm(TensorRole::AttentionNorm, layer, hidden)?,
            qkv: self.projection(layer, &qkv, hidden)?,
            attention_output: self.projection(layer, &output, q_width)?,
            ffn_norm: self.norm(TensorRole::FfnNorm, layer, hidden)?,
            gate_up: self.projection(layer, &gate_up, hidden)?,
            ffn_down: self.projection(layer, &down, ffn)?,
        })
    }

    fn norm(
        &mut self,
        role: TensorRole,
        layer: usize,
        width: usize,
    ) -> Result<Tensor, EngineError> {
        self.take(role, layer, &[width])?
            .vector(self.policy.device())
    }

    /// Matrices of these heights side by side, with inputs of this width.
    fn projection(
        &mut self,
        layer: usize,
        matrices: &[(TensorRole, usize)],
        width: usize,
    ) -> Result<Projection, EngineError> {
        let matrices: Result<Vec<_>, _> = matrices
            .iter()
            .map(|(role, n_rows)| self.take(*role, layer, &[*n_rows, width]))
            .collect();
        Projection::new(&matrices?, &self.policy)
    }

    fn take(
        &mut self,
        role: TensorRole,
        layer: usize,
        shape: &[usize],
    ) -> Result<StoredTensor, EngineError> {
        let name = self.naming.name(role, layer);
        let tensor = self.checkpoint.take(&name, shape)?;
        self.n_params += tensor.n_values() as u64;
        Ok(tensor)
    }
}

//! The tensor backend: the forward pass in candle operations. It runs on every device, and is the
//! reference for the CPU backend.

mod activation;
mod attention;
mod norm;
mod projection;

use candle_core::{DType, Device, Tensor};

use self::activation::activated;
use self::attention::{Batch, TensorAttention, TensorRun};
use self::norm::normed;
use self::projection::{Policy, Projection};
use super::attention::HeadShape;
use super::backend::{Backend, Facts, Form};
use super::batch::Place;
use super::cache::Cache;
use super::weights::{Layer, Weights};
use crate::engine::blueprint::Blueprint;
use crate::engine::weights::{Checkpoint, LoadStop, StoredTensor};
use crate::engine::{EngineError, Logits, Precision, Row};

/// A model in tensors on one device.
pub(crate) struct TensorBackend {
    blueprint: Blueprint,
    weights: Weights<Tensors>,
    attention: TensorAttention,
    device: Device,
    /// The type of the residual stream, keys, values and unquantized weights. Norms, attention
    /// probabilities and logits are computed in 32 bits.
    dtype: DType,
}

/// Keeps weights as tensors.
struct Tensors(Policy);

impl Form for Tensors {
    type Matrix = Projection;
    type Vector = Tensor;

    fn matrix(
        &self,
        parts: Vec<StoredTensor>,
        bias: Option<Vec<f32>>,
    ) -> Result<Projection, EngineError> {
        let Self(policy) = self;
        let bias = match bias {
            Some(bias) => Some(self.vector(bias)?.to_dtype(policy.dtype())?),
            None => None,
        };
        Projection::new(&parts, bias, policy)
    }

    fn vector(&self, values: Vec<f32>) -> Result<Tensor, EngineError> {
        let n_values = values.len();
        let Self(policy) = self;
        Ok(Tensor::from_vec(values, n_values, policy.device())?)
    }
}

impl TensorBackend {
    /// Loads the weights that the blueprint asks for.
    pub(crate) fn load(
        blueprint: &Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        device: Device,
        precision: Precision,
    ) -> Result<Self, LoadStop> {
        let dtype = precision.dtype();
        let form = Tensors(Policy::new(checkpoint.catalog(), &device, dtype));
        Ok(Self {
            weights: Weights::load(blueprint, checkpoint, &form)?,
            blueprint: blueprint.clone(),
            attention: TensorAttention::new(HeadShape::new(blueprint)),
            device,
            dtype,
        })
    }

    fn logits(
        &self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<TensorRun>],
        n_layers: usize,
    ) -> candle_core::Result<Option<Tensor>> {
        let tokens: Vec<u32> = rows.iter().map(|row| row.token.0).collect();
        let wanted: Vec<u32> = (0..)
            .zip(rows)
            .filter(|(_, row)| row.logits_wanted)
            .map(|(index, _)| index)
            .collect();
        let mut hidden = self.rows(&self.weights.embedding, &tokens)?;
        if let Some(scale) = self.blueprint.scales.embedding {
            hidden = (hidden * f64::from(scale))?;
        }
        if let Some(table) = &self.weights.positions {
            let positions: Vec<u32> = places.iter().map(|place| place.position as u32).collect();
            hidden = (hidden + self.rows(table, &positions)?)?;
        }
        let batch = Batch::new(
            places,
            &self.weights.facts.rotations,
            &self.device,
            self.dtype,
        )?;
        for layer in self.weights.layers.iter().take(n_layers) {
            hidden = self.layer(layer, &hidden, &batch, caches)?;
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        if wanted.len() < rows.len() {
            hidden = hidden.index_select(&Tensor::new(wanted, &self.device)?, 0)?;
        }
        let hidden = normed(Some(&self.weights.final_norm), &hidden)?;
        let logits = self.weights.head().forward(&hidden)?;
        let mut logits = logits.to_dtype(DType::F32)?;
        if let Some(scale) = self.blueprint.scales.logit {
            logits = (logits * f64::from(scale))?;
        }
        if let Some(cap) = self.blueprint.caps.logit.map(f64::from) {
            logits = ((logits / cap)?.tanh()? * cap)?;
        }
        Ok(Some(logits))
    }

    /// Looks up rows of an embedding table.
    fn rows(&self, table: &Projection, indices: &[u32]) -> candle_core::Result<Tensor> {
        table.rows(indices, &self.device)?.to_dtype(self.dtype)
    }

    fn layer(
        &self,
        layer: &Layer<Tensors>,
        hidden: &Tensor,
        batch: &Batch<'_>,
        caches: &mut [Cache<TensorRun>],
    ) -> candle_core::Result<Tensor> {
        let norms = &layer.attention_norms;
        let qkv = layer.qkv.forward(&normed(norms.before.as_ref(), hidden)?)?;
        let mixed = self
            .attention
            .forward(&layer.attention, &qkv, batch, caches)?;
        let found = layer.attention_output.forward(&mixed)?;
        let hidden = self.joined(hidden, &normed(norms.after.as_ref(), &found)?)?;
        let norms = &layer.ffn_norms;
        let inner = layer
            .ffn_in
            .forward(&normed(norms.before.as_ref(), &hidden)?)?;
        let inner = activated(self.blueprint.feed_forward, &inner)?;
        let found = layer.ffn_down.forward(&inner)?;
        self.joined(&hidden, &normed(norms.after.as_ref(), &found)?)
    }

    /// Adds a sublayer's output to the residual stream.
    fn joined(&self, hidden: &Tensor, found: &Tensor) -> candle_core::Result<Tensor> {
        match self.blueprint.scales.residual {
            Some(scale) => hidden + (found * f64::from(scale))?,
            None => hidden + found,
        }
    }
}

impl Backend for TensorBackend {
    type Run = TensorRun;

    fn n_run_bytes(run: &TensorRun) -> usize {
        run.n_bytes()
    }

    fn facts(&self) -> &Facts {
        &self.weights.facts
    }

    fn cached_head(&self, head_dim: usize) -> (usize, String) {
        let format = self.dtype.as_str().to_owned();
        (2 * head_dim * self.dtype.size_in_bytes(), format)
    }

    fn run(
        &mut self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<TensorRun>],
        n_layers: usize,
    ) -> Result<Logits, EngineError> {
        let logits = match self.logits(rows, places, caches, n_layers)? {
            Some(logits) => logits.flatten_all()?.to_vec1()?,
            None => Vec::new(),
        };
        Ok(Logits::new(logits, self.weights.facts.n_vocab))
    }
}

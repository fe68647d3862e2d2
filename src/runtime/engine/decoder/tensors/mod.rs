//! The tensor backend: the forward pass in candle operations. It runs on every device, and is the
//! reference for the CPU backend.

mod activation;
mod alt_up;
mod attention;
mod batch;
mod experts;
mod masks;
mod mixers;
mod norm;
mod projection;
mod run;
mod tail_pool;
mod tail_rows;

use std::collections::BTreeSet;

use candle_core::{DType, Device, Tensor};

use self::activation::activated;
use self::batch::{Batch, Model};
use self::experts::{DeviceExpert, with_experts};
use self::mixers::mixed;
use self::norm::normed;
use self::projection::{Policy, Projection};
use self::run::TensorRun;
use self::tail_pool::{Memory, TailPool};
use super::attention::LayerKind;
use super::backend::{Backend, Depth, Facts, Form};
use super::batch::Place;
use super::cache::Cache;
use super::experts::StoredExpert;
use super::weights::{AltUpLayer, InputWeights, Layer, Mixer, Weights};
use crate::engine::blueprint::{Blueprint, NormPlaces};
use crate::engine::weights::{Checkpoint, LoadStop, StoredTensor};
use crate::engine::{EngineError, Logits, Precision, Row};

/// Up to this many tokens, a fork copies the tail within the pool; a longer tail becomes a shared
/// run.
const N_MAX_COPIED_TOKENS: usize = 256;

/// A model as tensors on one device.
pub(crate) struct TensorBackend {
    blueprint: Blueprint,
    weights: Weights<Tensors>,
    /// The distinct kinds of layers.
    kinds: Vec<LayerKind>,
    tails: TailPool,
    device: Device,
    /// The type of the residual stream, keys, values and unquantized weights. Norms, attention
    /// probabilities and logits are computed in 32 bits.
    dtype: DType,
}

/// What the first layer reads.
struct Start {
    /// The residual stream.
    hidden: Tensor,
    /// The per-layer embeddings, if the model has some: `[rows, layers, width]`.
    layer_inputs: Option<Tensor>,
}

/// Keeps weights as tensors.
struct Tensors(Policy);

impl Form for Tensors {
    type Matrix = Projection;
    type Vector = Tensor;
    type Expert = DeviceExpert;

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

    fn expert(&self, stored: StoredExpert) -> Result<DeviceExpert, EngineError> {
        DeviceExpert::load(stored, self)
    }

    fn scaled(&self, matrix: Projection, factors: Vec<f32>) -> Result<Projection, EngineError> {
        let Self(policy) = self;
        let factors = self.vector(factors)?.to_dtype(policy.dtype())?;
        Ok(matrix.scaled(factors))
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
        let form = Tensors(Policy::new(&device, dtype));
        let weights = Weights::load(blueprint, checkpoint, &form)?;
        let kinds: BTreeSet<LayerKind> = weights
            .layers
            .iter()
            .flat_map(|layer| &layer.mixers)
            .filter_map(|weights| match &weights.mixer {
                Mixer::Attention(attention) => Some(attention.kind()),
                Mixer::Latent(latent) => Some(latent.attention.kind()),
                Mixer::Recurrent(_) | Mixer::Mamba(_) => None,
            })
            .collect();
        Ok(Self {
            weights,
            blueprint: blueprint.clone(),
            kinds: kinds.into_iter().collect(),
            tails: TailPool::default(),
            device,
            dtype,
        })
    }

    fn logits(
        &mut self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<TensorRun>],
        depth: Depth<'_>,
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
        let layer_inputs = self.layer_inputs(&tokens, &hidden)?;
        // Taken out of the backend, since the layers borrow it.
        let mut pool = std::mem::take(&mut self.tails);
        let mut memory = Memory {
            caches,
            pool: &mut pool,
        };
        let start = Start {
            hidden,
            layer_inputs,
        };
        let passed = self.layers(start, places, &mut memory, depth);
        self.tails = pool;
        let (mut hidden, before_layers) = passed?;
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
        if !depth.exits.is_empty() {
            let exits = depth.exits.iter().filter_map(|exit| {
                let hidden = before_layers.get(exit.n_layers)?;
                Some(hidden.narrow(0, exit.row, 1))
            });
            let exits: Vec<Tensor> = exits.collect::<candle_core::Result<_>>()?;
            let early = self.weights.head().forward(&Tensor::cat(&exits, 0)?)?;
            logits = Tensor::cat(&[logits, early.to_dtype(DType::F32)?], 0)?;
        }
        Ok(Some(logits))
    }

    /// Runs the layers over the residual stream, and returns it. Also returns what it was before
    /// each layer if any of them gives logits.
    fn layers(
        &self,
        start: Start,
        places: &[Place],
        memory: &mut Memory<'_>,
        depth: Depth<'_>,
    ) -> candle_core::Result<(Tensor, Vec<Tensor>)> {
        let model = Model {
            rotations: &self.weights.facts.rotations,
            temperature: self.blueprint.temperature,
            kinds: &self.kinds,
            device: &self.device,
            dtype: self.dtype,
        };
        let batch = Batch::new(&model, places, memory)?;
        // Kernels over strided tensors read shapes and strides from the device. The layers use the
        // same few, so they are sent once. Nothing else is sent from here on, except the outputs of
        // layers without attention and the choice of experts, which must not be kept.
        #[cfg(feature = "cuda")]
        let _kept_shapes = match &self.device {
            Device::Cuda(device)
                if self.blueprint.n_state_bytes() == 0 && self.blueprint.experts.is_none() =>
            {
                Some(device.enable_cuda_graph_htod_cache())
            }
            Device::Cuda(_) | Device::Cpu | Device::Metal(_) => None,
        };
        let Start {
            mut hidden,
            layer_inputs,
        } = start;
        let mut streams = match &self.weights.alt_up {
            Some(alt_up) => Some(alt_up::divided(alt_up, &hidden)?),
            None => None,
        };
        let mut before_layers = Vec::new();
        let layers = self.weights.layers.iter().take(depth.n_layers);
        for (index, layer) in layers.enumerate() {
            if !depth.exits.is_empty() {
                before_layers.push(hidden.clone());
            }
            let input = match &layer_inputs {
                Some(inputs) => Some(inputs.narrow(1, index, 1)?.squeeze(1)?),
                None => None,
            };
            if let (Some(alt_up), Some(streams)) = (&layer.alt_up, &mut streams) {
                let predicted = alt_up::predicted(alt_up, streams)?;
                let output = self.layer(layer, &predicted.get(0)?, &batch, memory)?;
                *streams = alt_up::corrected(alt_up, &predicted, &output)?;
                if let (Some(weights), Some(input)) = (&layer.input, &input) {
                    *streams = self.with_input_in_streams(weights, alt_up, streams, input)?;
                }
                continue;
            }
            hidden = self.layer(layer, &hidden, &batch, memory)?;
            if let (Some(weights), Some(input)) = (&layer.input, &input) {
                let found = self.found_input(weights, &hidden, input)?;
                hidden = self.joined(&hidden, &found)?;
            }
            if let Some(scale) = layer.scale {
                hidden = (hidden * f64::from(scale))?;
            }
        }
        if let (Some(alt_up), Some(streams)) = (&self.weights.alt_up, streams) {
            hidden = alt_up::merged(alt_up, &streams)?;
        }
        Ok((hidden, before_layers))
    }

    /// Adds a layer's per-layer embedding to all streams but the first.
    fn with_input_in_streams(
        &self,
        weights: &InputWeights<Tensors>,
        alt_up: &AltUpLayer<Tensors>,
        streams: &Tensor,
        input: &Tensor,
    ) -> candle_core::Result<Tensor> {
        let first = streams.get(0)?;
        let source = match &alt_up.output_scale {
            Some(scale) => first.broadcast_mul(&scale.to_dtype(first.dtype())?)?,
            None => first.clone(),
        };
        let found = self.found_input(weights, &source, input)?;
        let others = streams.narrow(0, 1, streams.dim(0)? - 1)?;
        let others = others.broadcast_add(&found.unsqueeze(0)?)?;
        Tensor::cat(&[first.unsqueeze(0)?, others], 0)
    }

    /// Computes the per-layer embeddings from the embeddings of the tokens, if the model has some:
    /// `[rows, layers, width]`.
    fn layer_inputs(&self, tokens: &[u32], hidden: &Tensor) -> candle_core::Result<Option<Tensor>> {
        let Some(weights) = &self.weights.layer_inputs else {
            return Ok(None);
        };
        let (n_layers, width) = (self.blueprint.n_layers(), weights.width);
        let scale = (self.blueprint.hidden_size as f64).sqrt().recip();
        let projected = (weights.projection.forward(hidden)? * scale)?;
        let projected = projected.reshape((tokens.len() * n_layers, width))?;
        let projected = normed(Some(&weights.norm), &projected)?;
        let rows = tokens.iter().map(|token| match *token {
            token if (token as usize) < weights.n_rows => token,
            _ => 0,
        });
        let rows: Vec<u32> = rows.collect();
        let known = (self.rows(&weights.table, &rows)? * (width as f64).sqrt())?;
        let sum = (projected + known.reshape((tokens.len() * n_layers, width))?)?;
        let inputs = (sum * std::f64::consts::FRAC_1_SQRT_2)?;
        inputs.reshape((tokens.len(), n_layers, width)).map(Some)
    }

    /// Computes a layer's per-layer embedding.
    fn found_input(
        &self,
        weights: &InputWeights<Tensors>,
        source: &Tensor,
        input: &Tensor,
    ) -> candle_core::Result<Tensor> {
        let gate = weights.gate.forward(source)?;
        let gated = Tensor::cat(&[&gate, input], 1)?;
        let gated = activated(self.blueprint.feed_forward, &gated)?;
        normed(Some(&weights.norm), &weights.output.forward(&gated)?)
    }

    /// Looks up rows of an embedding table.
    fn rows(&self, table: &Projection, indices: &[u32]) -> candle_core::Result<Tensor> {
        table.rows(indices, &self.device)?.to_dtype(self.dtype)
    }

    fn layer(
        &self,
        layer: &Layer<Tensors>,
        hidden: &Tensor,
        batch: &Batch,
        memory: &mut Memory<'_>,
    ) -> candle_core::Result<Tensor> {
        let norms = &layer.mixer_norms;
        let mixer_input = normed(norms.before.as_ref(), hidden)?;
        let outputs = layer
            .mixers
            .iter()
            .map(|weights| mixed(weights, &mixer_input, batch, memory));
        let output = outputs.reduce(|sum, output| sum? + output?).transpose()?;
        let hidden = match output {
            Some(output) => self.joined(hidden, &normed(norms.after.as_ref(), &output)?)?,
            None => hidden.clone(),
        };
        let hidden = match &layer.laurel {
            Some(laurel) => {
                let path = alt_up::laurel(laurel, &mixer_input)?;
                ((hidden + path)? * std::f64::consts::FRAC_1_SQRT_2)?
            }
            None => hidden,
        };
        if layer.dense.is_none() && layer.experts.is_none() {
            return Ok(hidden);
        }
        let norms = &layer.ffn_norms;
        let input = match self.blueprint.norm_places {
            NormPlaces::Parallel => mixer_input,
            _ => normed(norms.before.as_ref(), &hidden)?,
        };
        let dense = match &layer.dense {
            Some(dense) => {
                let inner = dense.input.forward(&input)?;
                let inner = match layer.gate_cutoff {
                    Some(cutoff) => alt_up::cut_off(&inner, cutoff)?,
                    None => inner,
                };
                let inner = activated(dense.feed_forward, &inner)?;
                Some(dense.down.forward(&inner)?)
            }
            None => None,
        };
        let found = match (&layer.experts, dense) {
            (Some(experts), dense) => with_experts(experts, &input, &hidden, dense)?,
            (None, Some(dense)) => dense,
            (None, None) => return Ok(hidden),
        };
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

    fn fork(&mut self, cache: &mut Cache<TensorRun>) -> Result<Cache<TensorRun>, EngineError> {
        let slot = cache.tail().slot().filter(|_| cache.n_tail() > 0);
        let Some(slot) = slot.cloned() else {
            return Ok(cache.fork());
        };
        if cache.n_tail() > N_MAX_COPIED_TOKENS {
            *cache.tail_mut() = self.tails.extract(&slot, cache.n_tail())?;
            return Ok(cache.fork());
        }
        let copy = self.tails.take_slot();
        self.tails.copy_slot(&slot, &copy)?;
        Ok(cache.fork_with(TensorRun::in_slot(copy)))
    }

    fn run(
        &mut self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<TensorRun>],
        depth: Depth<'_>,
    ) -> Result<Logits, EngineError> {
        let logits = match self.logits(rows, places, caches, depth)? {
            Some(logits) => logits.flatten_all()?.to_vec1()?,
            None => Vec::new(),
        };
        Ok(Logits::new(logits, self.weights.facts.n_vocab))
    }
}

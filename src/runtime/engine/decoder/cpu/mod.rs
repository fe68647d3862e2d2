//! The CPU backend: the forward pass over slices, on our own kernels.
//!
//! This module defines what a layer does, and in which order. The matrix products themselves are in
//! [`crate::kernels`].

mod alt_up;
mod attention;
mod experts;
mod head;
mod layer_inputs;
mod mixers;
mod mtp_head;
mod output;
mod projection;
mod rows;
mod run;

use std::time::Instant;

use self::alt_up::{Streams, cut_off};
use self::attention::CpuAttention;
use self::experts::{ExpertMemory, Mixture};
use self::rows::{ActivateRow, AddResidual, NormRow, each_row};
use self::run::CpuRun;
use super::backend::{Backend, Depth, Facts, MtpOutput, MtpRows};
use super::batch::{Place, RotaryAngles};
use super::cache::Cache;
use super::norm::NormWeights;
use super::weights::{Layer, Weights};
use crate::engine::blueprint::{Blueprint, FeedForward, NormPlaces};
use crate::engine::weights::{Checkpoint, LoadStop};
use crate::engine::{Compute, EngineError, ForwardTimes, Logits, Row, free_memory};
use crate::kernels::{CpuContext, Inputs, InstructionSet, N_LANES, ThreadPool};

/// Up to this many tokens, a fork copies the tail, unless it is the start of the text. A run takes
/// memory, and attention takes time, for whole blocks of this many positions.
const N_MAX_COPIED_TOKENS: usize = N_LANES;

/// A model on the CPU.
pub(crate) struct CpuBackend {
    model: Model,
    buffers: Buffers,
    times: ForwardTimes,
}

/// A model's weights, and the threads and instructions that compute with them.
struct Model {
    blueprint: Blueprint,
    weights: Weights<Slices>,
    form: Slices,
    attention: CpuAttention,
    context: CpuContext,
}

/// Keeps matrices as packed tiles and vectors as slices.
struct Slices {
    /// Whether to widen all matrices to f32.
    widens: bool,
}

/// The activations of a forward pass. Kept, so that the next pass need not allocate them.
#[derive(Debug)]
struct Buffers {
    /// The residual stream.
    hidden: Vec<f32>,
    /// A sublayer's input or output after its norm.
    normed: Vec<f32>,
    qkv: Vec<f32>,
    /// The output of the attention heads.
    mixed: Vec<f32>,
    /// The inside of the feed-forward network, before and after its activation.
    inner: Vec<f32>,
    activated: Vec<f32>,
    /// The per-layer embeddings of all layers: `[rows, layers × width]`.
    layer_inputs: Vec<f32>,
    /// A sublayer's output before it is added to the residual stream.
    found: Vec<f32>,
    /// The residual stream at the early exits.
    exits: Vec<f32>,
    streams: Streams,
    inputs: Inputs,
    experts: ExpertMemory,
}

/// The rows of one forward pass.
struct Batch<'a> {
    context: &'a CpuContext,
    places: &'a [Place],
    /// The rotary angles of the rows, for each of the model's rotations.
    rotary_angles: Vec<RotaryAngles>,
    /// The caches of the rows' sequences, indexed by their places.
    caches: &'a mut [Cache<CpuRun>],
}

impl CpuBackend {
    /// Loads the weights that the blueprint asks for.
    pub(crate) fn load(
        blueprint: &Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        compute: &Compute,
    ) -> Result<Self, LoadStop> {
        let instructions = match compute.instructions {
            Some(instructions) => instructions,
            None => InstructionSet::chosen()
                .map_err(|reason| EngineError::UnsupportedInstructions { reason })?,
        };
        let form = Slices {
            widens: compute.widens_weights,
        };
        let threads = ThreadPool::new(compute.n_threads.get())
            .map_err(|source| EngineError::ThreadsUnavailable { source })?;
        let model = Model {
            weights: Weights::load(blueprint, checkpoint, &form)?,
            form,
            blueprint: blueprint.clone(),
            attention: CpuAttention::new(compute.cache),
            context: CpuContext {
                threads,
                instructions,
            },
        };
        Ok(Self {
            model,
            buffers: Buffers::new(
                Inputs::new(instructions, compute.inputs),
                ExpertMemory::new(n_max_expert_bytes()),
            ),
            times: ForwardTimes::default(),
        })
    }
}

#[cfg(test)]
impl CpuBackend {
    /// Keeps no more than `n_bytes` of experts in memory, besides those of the current layer.
    pub(super) const fn keep_experts_up_to(&mut self, n_bytes: usize) {
        self.buffers.experts.read.n_max_bytes = n_bytes;
    }
}

impl Buffers {
    fn new(inputs: Inputs, experts: ExpertMemory) -> Self {
        Self {
            hidden: Vec::new(),
            normed: Vec::new(),
            qkv: Vec::new(),
            mixed: Vec::new(),
            inner: Vec::new(),
            activated: Vec::new(),
            layer_inputs: Vec::new(),
            found: Vec::new(),
            exits: Vec::new(),
            streams: Streams::default(),
            inputs,
            experts,
        }
    }
}

impl Model {
    /// Looks up the token embeddings, and adds position embeddings if the model has them.
    fn embed(&self, rows: &[Row], places: &[Place], buffers: &mut Buffers) {
        let (weights, hidden) = (&self.weights, &mut buffers.hidden);
        hidden.clear();
        let tokens = rows.iter().map(|row| row.token.index());
        weights.embedding.extend_with_rows(tokens, hidden);
        if let Some(scale) = self.blueprint.scales.embedding {
            for value in hidden.iter_mut() {
                *value *= scale;
            }
        }
        if let Some(table) = &weights.positions {
            buffers.found.clear();
            let positions = places.iter().map(|place| place.position);
            table.extend_with_rows(positions, &mut buffers.found);
            for (value, position) in buffers.hidden.iter_mut().zip(&buffers.found) {
                *value += position;
            }
        }
        if let Some(inputs) = &weights.layer_inputs {
            self.compute_layer_inputs(inputs, rows, buffers);
        }
        if let Some(alt_up) = &weights.alt_up {
            self.divide(alt_up, buffers);
        }
    }

    fn layer(
        &self,
        layer: &Layer<Slices>,
        batch: &mut Batch<'_>,
        buffers: &mut Buffers,
        times: &mut ForwardTimes,
    ) -> Result<(), EngineError> {
        if let Some(laurel) = &layer.laurel {
            self.compute_laurel(layer, laurel, buffers);
        }
        if !layer.mixers.is_empty() {
            self.mix_tokens(layer, batch, buffers, times);
        }
        if layer.laurel.is_some() {
            Self::join_laurel(buffers);
        }
        if layer.dense.is_some() || layer.experts.is_some() {
            self.feed_forward(layer.index, layer, buffers, times)?;
        }
        Ok(())
    }

    /// Adds the outputs of a layer's feed-forward network and of its experts to the residual stream.
    fn feed_forward(
        &self,
        index: usize,
        layer: &Layer<Slices>,
        buffers: &mut Buffers,
        times: &mut ForwardTimes,
    ) -> Result<(), EngineError> {
        let threads = &self.context.threads;
        let Buffers {
            hidden,
            normed,
            inner,
            activated,
            found,
            inputs,
            experts: memory,
            ..
        } = buffers;
        let values = match self.blueprint.norm_places {
            // The mixer's input is still there.
            NormPlaces::Parallel => normed.as_slice(),
            _ => self.normed(layer.ffn_norms.before.as_ref(), hidden, normed),
        };
        let mut clock = Instant::now();
        if let Some(dense) = &layer.dense {
            dense.input.forward(threads, values, inputs, inner);
            lap(&mut clock, &mut times.product_secs);
            let n_inner = dense.input.n_rows();
            if let Some(cutoff) = layer.gate_cutoff {
                cut_off(inner, n_inner, cutoff);
            }
            self.activate(dense.feed_forward, n_inner, inner, activated);
            clock = Instant::now();
            dense.down.forward(threads, activated, inputs, found);
        } else {
            found.clear();
            found.resize(hidden.len(), 0.0);
        }
        if let Some(experts) = &layer.experts {
            let mixture = Mixture {
                model: self,
                index,
                layer: experts,
                inputs,
                memory,
            };
            mixture.add(values, hidden, found)?;
        }
        lap(&mut clock, &mut times.product_secs);
        self.join(layer.ffn_norms.after.as_ref(), found, normed, hidden);
        Ok(())
    }

    /// Returns the rows after the norm, or unchanged if there is none.
    fn normed<'a>(
        &self,
        norm: Option<&NormWeights<Vec<f32>>>,
        values: &'a [f32],
        normed: &'a mut Vec<f32>,
    ) -> &'a [f32] {
        let Some(norm) = norm else {
            return values;
        };
        let width = norm.width().max(1);
        normed.resize(values.len(), 0.0);
        let rows = values
            .chunks_exact(width)
            .zip(normed.chunks_exact_mut(width));
        let arch = self.context.instructions.arch();
        each_row(&self.context.threads, rows, |(input, output)| {
            arch.dispatch(NormRow {
                norm,
                input,
                output,
            });
        });
        normed
    }

    /// Adds a sublayer's output to the residual stream, after its norm if there is one.
    fn join(
        &self,
        norm: Option<&NormWeights<Vec<f32>>>,
        found: &[f32],
        normed: &mut Vec<f32>,
        hidden: &mut [f32],
    ) {
        let found = self.normed(norm, found, normed);
        let scale = self.blueprint.scales.residual.unwrap_or(1.0);
        let width = self.blueprint.hidden_size;
        let rows = hidden
            .chunks_exact_mut(width)
            .zip(found.chunks_exact(width));
        let arch = self.context.instructions.arch();
        each_row(&self.context.threads, rows, |(hidden, found)| {
            arch.dispatch(AddResidual {
                hidden,
                found,
                scale,
            });
        });
    }

    /// Applies the activation to rows of `n_inner` values.
    fn activate(
        &self,
        feed_forward: FeedForward,
        n_inner: usize,
        inner: &[f32],
        activated: &mut Vec<f32>,
    ) {
        let width = match feed_forward {
            FeedForward::Gated(_) | FeedForward::Clamped(_) => n_inner / 2,
            FeedForward::Plain(_) => n_inner,
        };
        activated.resize(inner.len() / n_inner * width, 0.0);
        let rows = inner
            .chunks_exact(n_inner)
            .zip(activated.chunks_exact_mut(width));
        let arch = self.context.instructions.arch();
        each_row(&self.context.threads, rows, |(input, output)| {
            arch.dispatch(ActivateRow {
                feed_forward,
                input,
                output,
            });
        });
    }
}

impl Backend for CpuBackend {
    type Run = CpuRun;

    fn n_run_bytes(run: &CpuRun) -> usize {
        run.n_bytes()
    }

    fn facts(&self) -> &Facts {
        &self.model.weights.facts
    }

    fn threads(&self) -> Option<&ThreadPool> {
        Some(&self.model.context.threads)
    }

    fn cached_head(&self, head_dim: usize) -> (usize, String) {
        let cache_type = self.model.attention.cache_type();
        let format = cache_type.name().to_owned();
        (cache_type.n_bytes(head_dim), format)
    }

    fn has_mtp_head(&self) -> bool {
        self.model.weights.mtp_head.is_some()
    }

    fn hidden_states(&mut self, rows: impl Iterator<Item = usize>) -> Vec<f32> {
        self.model.hidden_states(rows, &mut self.buffers)
    }

    fn run_mtp_head(
        &mut self,
        rows: MtpRows<'_>,
        cache: &mut Cache<CpuRun>,
    ) -> Result<MtpOutput, EngineError> {
        let n_before = cache.n_read();
        cache.begin_pass(rows.tokens.len(), n_before);
        let output = self.model.run_mtp_head(rows, cache, &mut self.buffers);
        if output.is_ok() {
            cache.commit(rows.tokens.len());
            cache.end_pass();
        } else {
            cache.abandon_pass();
        }
        output
    }

    fn fork(&mut self, cache: &mut Cache<CpuRun>) -> Result<Cache<CpuRun>, EngineError> {
        if cache.n_shared() > 0 && (1..=N_MAX_COPIED_TOKENS).contains(&cache.n_tail()) {
            return Ok(cache.fork_with(cache.tail().clone()));
        }
        Ok(cache.fork())
    }

    fn run(
        &mut self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<CpuRun>],
        depth: Depth<'_>,
    ) -> Result<Logits, EngineError> {
        let Self {
            model,
            buffers,
            times,
        } = self;
        let started_at = Instant::now();
        model.embed(rows, places, buffers);
        let rotations = model.weights.facts.rotations.iter();
        let mut batch = Batch {
            context: &model.context,
            places,
            rotary_angles: rotations
                .map(|rotation| RotaryAngles::new(rotation, places))
                .collect(),
            caches,
        };
        let n_exit_values = depth.exits.len() * model.blueprint.hidden_size;
        buffers.exits.clear();
        buffers.exits.resize(n_exit_values, 0.0);
        let layers = model.weights.layers.iter().take(depth.n_layers);
        for (index, layer) in layers.enumerate() {
            model.exit(index, depth.exits, buffers);
            if let Some(alt_up) = &layer.alt_up {
                model.predict(alt_up, buffers);
            }
            model.layer(layer, &mut batch, buffers, times)?;
            match (&layer.alt_up, &layer.input) {
                (Some(alt_up), input) => model.correct(alt_up, input.as_ref(), index, buffers),
                (None, Some(input)) => model.add_input(input, index, buffers),
                (None, None) => {}
            }
            if let Some(scale) = layer.scale {
                for value in &mut buffers.hidden {
                    *value *= scale;
                }
            }
        }
        let mut clock = Instant::now();
        if let Some(alt_up) = &model.weights.alt_up {
            model.merge(alt_up, rows, buffers);
        }
        let logits = model.head(rows, buffers);
        lap(&mut clock, &mut times.head_secs);
        times.total_secs += started_at.elapsed().as_secs_f64();
        Ok(Logits::new(logits, model.weights.facts.n_vocab))
    }

    fn times(&self) -> ForwardTimes {
        self.times
    }
}

/// Returns how many bytes of experts stay in memory: most of what is free once all other weights are
/// loaded.
fn n_max_expert_bytes() -> usize {
    usize::try_from(free_memory() / 4 * 3).unwrap_or(usize::MAX)
}

/// Adds the time since the last lap to `spent`, and starts the next lap.
fn lap(clock: &mut Instant, spent: &mut f64) {
    let now = Instant::now();
    *spent += now.duration_since(*clock).as_secs_f64();
    *clock = now;
}

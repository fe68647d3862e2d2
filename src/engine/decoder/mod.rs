//! Our own forward pass for the Llama family: a flat batch of rows of any sequences.
//!
//! It is written once over candle's tensors; attention and the activation have a second form over
//! slices for the processor, where a small model would otherwise spend its time between operations.
//! This module knows no file and no tokenizer.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for the processor that is there"
)]

mod attention;
mod cache;
mod cpu_attention;
mod cpu_head;
mod cpu_run;
mod cpu_tensor;
mod exp;
mod packed;
mod projection;
mod swiglu;
mod tensor_attention;
mod weights;

use std::collections::BTreeMap;

use candle_core::{Device, Tensor};
use rayon::prelude::*;

use self::attention::{Attention, Batch, HeadShape, Place};
use self::cache::Cache;
use self::cpu_attention::CpuAttention;
use self::tensor_attention::TensorAttention;
use self::weights::{Layer, Weights};
use super::blueprint::{Blueprint, Naming};
use super::weights::Checkpoint;
use super::{CausalLm, EngineError, Logits, Row, SequenceId};

/// A model's weights, ready to run, and what is known only once they are there.
pub struct Decoder<A: Attention> {
    blueprint: Blueprint,
    weights: Weights,
    attention: A,
    inverse_wavelengths: Vec<f32>,
    device: Device,
    sequences: BTreeMap<SequenceId, Cache<A::Run>>,
    n_opened: u64,
}

impl Decoder<CpuAttention> {
    /// On the processor.
    pub fn on_cpu(
        blueprint: Blueprint,
        naming: Naming,
        checkpoint: &mut Checkpoint,
    ) -> Result<Self, EngineError> {
        let attention = CpuAttention::new(HeadShape::new(&blueprint));
        Self::new(blueprint, naming, checkpoint, attention, Device::Cpu)
    }
}

impl Decoder<TensorAttention> {
    /// On any device, in tensor operations only.
    pub fn on_device(
        blueprint: Blueprint,
        naming: Naming,
        checkpoint: &mut Checkpoint,
        device: Device,
    ) -> Result<Self, EngineError> {
        let attention = TensorAttention::new(HeadShape::new(&blueprint));
        Self::new(blueprint, naming, checkpoint, attention, device)
    }
}

impl<A: Attention> Decoder<A> {
    fn new(
        blueprint: Blueprint,
        naming: Naming,
        checkpoint: &mut Checkpoint,
        attention: A,
        device: Device,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            inverse_wavelengths: blueprint.rope.inverse_wavelengths(blueprint.head_dim),
            weights: Weights::load(&blueprint, naming, checkpoint, &device)?,
            blueprint,
            attention,
            device,
            sequences: BTreeMap::new(),
            n_opened: 0,
        })
    }

    /// How many weights the model has.
    pub const fn n_params(&self) -> u64 {
        self.weights.n_params
    }

    /// Where each row stands, and the caches of the sequences in the order in which rows name them.
    fn plan(&self, rows: &[Row]) -> Result<(Vec<SequenceId>, Vec<Place>), EngineError> {
        let mut sequences = Vec::new();
        let mut n_read = Vec::new();
        let mut places = Vec::new();
        for row in rows {
            self.check_token(row)?;
            let known = sequences.iter().position(|id| *id == row.sequence);
            let cache = known.unwrap_or(sequences.len());
            if known.is_none() {
                n_read.push(self.sequence(row.sequence)?.n_read());
                sequences.push(row.sequence);
            }
            if let Some(position) = n_read.get_mut(cache) {
                if *position >= self.blueprint.n_context {
                    let n_max = self.blueprint.n_context;
                    return Err(EngineError::ContextFull { n_max });
                }
                places.push(Place {
                    cache,
                    position: *position,
                });
                *position += 1;
            }
        }
        Ok((sequences, places))
    }

    fn check_token(&self, row: &Row) -> Result<(), EngineError> {
        let n_vocab = self.weights.n_vocab;
        if row.token.index() < n_vocab {
            Ok(())
        } else {
            let token = row.token.0;
            Err(EngineError::TokenUnknown { token, n_vocab })
        }
    }

    fn sequence(&self, id: SequenceId) -> Result<&Cache<A::Run>, EngineError> {
        self.sequences
            .get(&id)
            .ok_or(EngineError::SequenceUnknown(id.0))
    }

    fn sequence_mut(&mut self, id: SequenceId) -> Result<&mut Cache<A::Run>, EngineError> {
        self.sequences
            .get_mut(&id)
            .ok_or(EngineError::SequenceUnknown(id.0))
    }

    fn add(&mut self, cache: Cache<A::Run>) -> SequenceId {
        self.n_opened += 1;
        let id = SequenceId(self.n_opened);
        self.sequences.insert(id, cache);
        id
    }

    /// Runs the rows, each core some of the sequences where that pays: where each has one row, and
    /// the weights are so few that a core reads them in less time than all cores take to meet for
    /// each product.
    fn run_on_cores(
        &self,
        rows: &[Row],
        places: &[Place],
        caches: &mut [Cache<A::Run>],
    ) -> candle_core::Result<Logits> {
        let n_part = caches.len().div_ceil(rayon::current_num_threads());
        let pays = self.weights.head.is_packed() && rows.len() == caches.len();
        if !pays || n_part == caches.len() {
            return self.run(rows, places.to_vec(), caches);
        }
        let parts: candle_core::Result<Vec<Logits>> = rows
            .par_chunks(n_part)
            .zip(caches.par_chunks_mut(n_part))
            .zip(places.par_chunks(n_part))
            .map(|((rows, caches), places)| {
                // A row's cache is at its own place, because each sequence has one row.
                let places = places.iter().enumerate();
                let places = places.map(|(cache, place)| Place { cache, ..*place });
                self.run(rows, places.collect(), caches)
            })
            .collect();
        Ok(Logits::joined(parts?, self.weights.n_vocab))
    }

    fn run(
        &self,
        rows: &[Row],
        places: Vec<Place>,
        caches: &mut [Cache<A::Run>],
    ) -> candle_core::Result<Logits> {
        let tokens: Vec<u32> = rows.iter().map(|row| row.token.0).collect();
        let wanted: Vec<u32> = (0..)
            .zip(rows)
            .filter(|(_, row)| row.logits_wanted)
            .map(|(index, _)| index)
            .collect();
        let batch = Batch::new(places, &self.inverse_wavelengths, &self.device)?;
        let mut hidden = self.weights.embedding.rows(&tokens, &self.device)?;
        for layer in &self.weights.layers {
            hidden = self.layer(layer, &hidden, &batch, caches)?;
        }
        if wanted.is_empty() {
            return Ok(Logits::new(Vec::new(), self.weights.n_vocab));
        }
        if wanted.len() < rows.len() {
            hidden = hidden.index_select(&Tensor::new(wanted, &self.device)?, 0)?;
        }
        let hidden = self.normed(&hidden, &self.weights.final_norm)?;
        let logits = self.weights.head.forward(&hidden)?;
        Ok(Logits::new(
            logits.flatten_all()?.to_vec1()?,
            self.weights.n_vocab,
        ))
    }

    fn layer(
        &self,
        layer: &Layer,
        hidden: &Tensor,
        batch: &Batch,
        caches: &mut [Cache<A::Run>],
    ) -> candle_core::Result<Tensor> {
        let qkv = layer
            .qkv
            .forward(&self.normed(hidden, &layer.attention_norm)?)?;
        let mixed = self.attention.forward(layer.index, &qkv, batch, caches)?;
        let hidden = (hidden + layer.attention_output.forward(&mixed)?)?;
        let gate_up = layer
            .gate_up
            .forward(&self.normed(&hidden, &layer.ffn_norm)?)?;
        let gated = swiglu::swiglu(&gate_up)?;
        hidden + layer.ffn_down.forward(&gated)?
    }

    fn normed(&self, hidden: &Tensor, weights: &Tensor) -> candle_core::Result<Tensor> {
        candle_nn::ops::rms_norm(hidden, weights, self.blueprint.norm_eps)
    }
}

impl<A: Attention> CausalLm for Decoder<A> {
    fn n_vocab(&self) -> usize {
        self.weights.n_vocab
    }

    fn n_context(&self) -> usize {
        self.blueprint.n_context
    }

    fn open(&mut self) -> SequenceId {
        self.add(Cache::new())
    }

    fn fork(&mut self, parent: SequenceId) -> Result<SequenceId, EngineError> {
        let child = self.sequence_mut(parent)?.fork();
        Ok(self.add(child))
    }

    fn truncate(&mut self, sequence: SequenceId, n: usize) -> Result<(), EngineError> {
        self.sequence_mut(sequence)?.truncate(n);
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.remove(&sequence);
    }

    fn n_read(&self, sequence: SequenceId) -> usize {
        self.sequences.get(&sequence).map_or(0, Cache::n_read)
    }

    fn forward(&mut self, rows: &[Row]) -> Result<Logits, EngineError> {
        if rows.is_empty() {
            return Ok(Logits::new(Vec::new(), self.weights.n_vocab));
        }
        let (sequences, places) = self.plan(rows)?;
        let mut caches: Vec<_> = sequences
            .iter()
            .filter_map(|id| self.sequences.remove(id))
            .collect();
        let logits = self.run_on_cores(rows, &places, &mut caches);
        if logits.is_ok() {
            for place in places {
                if let Some(cache) = caches.get_mut(place.cache) {
                    cache.commit(1);
                }
            }
        }
        self.sequences.extend(sequences.into_iter().zip(caches));
        Ok(logits?)
    }
}

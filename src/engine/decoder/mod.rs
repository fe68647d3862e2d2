//! Our own forward pass for all families of a blueprint: a flat batch of rows of any sequences.
//!
//! It is written once over candle's tensors; attention and the activation have a second form over
//! slices for the processor, where a small model would otherwise spend its time between operations.
//! This module knows no file and no tokenizer.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for the processor that is there"
)]

mod activation;
#[cfg(test)]
mod architecture_tests;
mod attention;
#[cfg(test)]
mod attention_tests;
mod cache;
mod cap;
mod cpu_attention;
mod cpu_head;
mod cpu_run;
mod cpu_tensor;
mod exp;
mod forward;
mod loader;
mod norm;
mod packed;
mod projection;
mod sequence;
mod tensor_attention;
mod weights;

use std::collections::BTreeMap;

use candle_core::Device;

use self::attention::{Attention, HeadShape, Place};
use self::cache::Cache;
use self::cpu_attention::CpuAttention;
use self::sequence::{Sequence, Text};
use self::tensor_attention::TensorAttention;
use self::weights::Weights;
use super::blueprint::Blueprint;
use super::weights::Checkpoint;
use super::{CausalLm, EngineError, Logits, Row, SequenceId};
use crate::decoding::TokenId;

pub use cpu_run::N_LANES;
pub use projection::Policy;

/// How many tokens are read at once where a text must be read again.
const N_CHUNK: usize = 128;

/// A model's weights, ready to run, and what is known only once they are there.
pub struct Decoder<A: Attention> {
    blueprint: Blueprint,
    weights: Weights,
    attention: A,
    device: Device,
    sequences: BTreeMap<SequenceId, Sequence<A::Run>>,
    n_opened: u64,
}

impl Decoder<CpuAttention> {
    /// On the processor.
    pub fn on_cpu(
        blueprint: Blueprint,
        checkpoint: &mut Checkpoint<'_>,
    ) -> Result<Self, EngineError> {
        let attention = CpuAttention::new(HeadShape::new(&blueprint));
        Self::new(blueprint, checkpoint, attention, Device::Cpu)
    }
}

impl Decoder<TensorAttention> {
    /// On any device, in tensor operations only.
    pub fn on_device(
        blueprint: Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        device: Device,
    ) -> Result<Self, EngineError> {
        let attention = TensorAttention::new(HeadShape::new(&blueprint));
        Self::new(blueprint, checkpoint, attention, device)
    }
}

impl<A: Attention> Decoder<A> {
    fn new(
        blueprint: Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        attention: A,
        device: Device,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            // First, because the sizes that a file names are true only once its tensors have them.
            weights: Weights::load(&blueprint, checkpoint, &device)?,
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

    /// Where each row stands, and the sequences in the order in which rows name them.
    fn plan(&self, rows: &[Row]) -> Result<(Vec<SequenceId>, Vec<Place>), EngineError> {
        let mut sequences = Vec::new();
        let mut n_read = Vec::new();
        let mut places = Vec::new();
        for row in rows {
            self.check_token(row)?;
            let known = sequences.iter().position(|id| *id == row.sequence);
            let cache = known.unwrap_or(sequences.len());
            if known.is_none() {
                n_read.push(self.sequence(row.sequence)?.cache.n_read());
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
                    far: false,
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

    fn sequence(&self, id: SequenceId) -> Result<&Sequence<A::Run>, EngineError> {
        self.sequences
            .get(&id)
            .ok_or(EngineError::SequenceUnknown(id.0))
    }

    fn sequence_mut(&mut self, id: SequenceId) -> Result<&mut Sequence<A::Run>, EngineError> {
        self.sequences
            .get_mut(&id)
            .ok_or(EngineError::SequenceUnknown(id.0))
    }

    fn add(&mut self, sequence: Sequence<A::Run>) -> SequenceId {
        self.n_opened += 1;
        let id = SequenceId(self.n_opened);
        self.sequences.insert(id, sequence);
        id
    }

    /// Where a rotation tells long texts from short ones, and these rows make one of the other: reads
    /// again what was read, as all of it must have turned alike.
    fn settle(
        &self,
        places: &mut [Place],
        texts: &mut [Text],
        caches: &mut [Cache<A::Run>],
    ) -> candle_core::Result<()> {
        let rotations = self.weights.rotations.iter();
        let borders = rotations.filter_map(|rotation| rotation.far.as_ref());
        let Some(n_near) = borders.map(|(n_near, _)| *n_near).min() else {
            return Ok(());
        };
        for (index, (text, cache)) in texts.iter_mut().zip(caches).enumerate() {
            let own = places.iter_mut().filter(|place| place.cache == index);
            let own: Vec<&mut Place> = own.collect();
            let far = own.iter().any(|place| place.position >= n_near);
            if far != text.far {
                *cache = self.read_again(&text.tokens, far)?;
                text.far = far;
            }
            for place in own {
                place.far = far;
            }
        }
        Ok(())
    }

    fn read_again(&self, tokens: &[TokenId], far: bool) -> candle_core::Result<Cache<A::Run>> {
        let mut caches = [Cache::new()];
        for (chunk, tokens) in tokens.chunks(N_CHUNK).enumerate() {
            let rows = tokens.iter().map(|token| Row {
                sequence: SequenceId(0),
                token: *token,
                logits_wanted: false,
            });
            let rows: Vec<Row> = rows.collect();
            let positions = (chunk * N_CHUNK..).take(rows.len());
            let places = positions.map(|position| Place {
                cache: 0,
                position,
                far,
            });
            self.run(&rows, places.collect(), &mut caches)?;
            for cache in &mut caches {
                cache.commit(rows.len());
            }
        }
        let [cache] = caches;
        Ok(cache)
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
        self.add(Sequence::new())
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
        self.sequences
            .get(&sequence)
            .map_or(0, |sequence| sequence.cache.n_read())
    }

    fn forward(&mut self, rows: &[Row]) -> Result<Logits, EngineError> {
        if rows.is_empty() {
            return Ok(Logits::new(Vec::new(), self.weights.n_vocab));
        }
        let (ids, mut places) = self.plan(rows)?;
        let (mut texts, mut caches): (Vec<Text>, Vec<Cache<A::Run>>) = ids
            .iter()
            .filter_map(|id| self.sequences.remove(id))
            .map(|sequence| (sequence.text, sequence.cache))
            .unzip();
        let logits = self
            .settle(&mut places, &mut texts, &mut caches)
            .and_then(|()| self.run_on_cores(rows, &places, &mut caches));
        if logits.is_ok() {
            for (row, place) in rows.iter().zip(&places) {
                if let Some(cache) = caches.get_mut(place.cache) {
                    cache.commit(1);
                }
                if let Some(text) = texts.get_mut(place.cache) {
                    text.tokens.push(row.token);
                }
            }
        }
        let sequences = texts.into_iter().zip(caches);
        let sequences = sequences.map(|(text, cache)| Sequence { text, cache });
        self.sequences.extend(ids.into_iter().zip(sequences));
        Ok(logits?)
    }
}

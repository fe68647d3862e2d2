//! Our own forward pass for all families of a blueprint: a flat batch of rows of any sequences.
//!
//! What a layer does is written twice: over candle's tensors for any device, and over slices for the
//! processor. Sequences, their caches and where rows stand are one matter for both. This module knows no
//! file and no tokenizer.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for the processor that is there"
)]

#[cfg(test)]
mod architecture_tests;
mod attention;
mod backend;
mod batch;
mod cache;
mod cpu;
mod loader;
mod norm;
mod sequence;
mod tensors;
mod weights;

use candle_core::Device;

use self::backend::Backend;
use self::batch::Place;
use self::cache::Cache;
use self::cpu::CpuBackend;
use self::sequence::{Sequence, Text};
use self::tensors::TensorBackend;
use super::blueprint::Blueprint;
use super::sequences::{Reach, Sequences};
use super::weights::Checkpoint;
use super::{CausalLm, Compute, EngineError, ForwardTimes, Logits, Precision, Row, SequenceId};

/// A model's weights, ready to run, and the sequences that they have read.
pub struct Decoder<B: Backend> {
    blueprint: Blueprint,
    backend: B,
    sequences: Sequences<Sequence<B::Run>>,
}

impl Decoder<CpuBackend> {
    /// On the processor, in kernels of our own.
    pub fn on_cpu(
        blueprint: Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        compute: &Compute,
    ) -> Result<Self, EngineError> {
        let backend = CpuBackend::load(&blueprint, checkpoint, compute)?;
        Ok(Self::new(blueprint, backend))
    }
}

impl Decoder<TensorBackend> {
    /// On any device, in tensor operations of this precision.
    pub fn on_device(
        blueprint: Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        device: Device,
        precision: Precision,
    ) -> Result<Self, EngineError> {
        let backend = TensorBackend::load(&blueprint, checkpoint, device, precision)?;
        Ok(Self::new(blueprint, backend))
    }
}

impl<B: Backend> Decoder<B> {
    const fn new(blueprint: Blueprint, backend: B) -> Self {
        Self {
            blueprint,
            backend,
            sequences: Sequences::new(),
        }
    }

    /// How many weights the model has.
    pub fn n_params(&self) -> u64 {
        self.backend.facts().n_params
    }

    /// Whose rows these are, in the order in which they name them, and where each row stands.
    fn plan(&self, rows: &[Row]) -> Result<(Vec<SequenceId>, Vec<Place>), EngineError> {
        let reach = Reach {
            n_vocab: self.n_vocab(),
            n_context: self.blueprint.n_context,
        };
        let n_read = |sequence: &Sequence<B::Run>| sequence.cache.n_read();
        let plan = self.sequences.plan(rows, reach, n_read)?;
        let ids = plan.sequences.into_iter().map(|(id, _)| id);
        let places = plan.places.into_iter().map(|(cache, position)| Place {
            cache,
            position,
            far: false,
        });
        Ok((ids.collect(), places.collect()))
    }

    /// The most tokens of a short text, where a rotation tells long texts from short ones.
    fn n_near(&self) -> Option<usize> {
        let rotations = self.backend.facts().rotations.iter();
        let borders = rotations.filter_map(|rotation| rotation.far.as_ref());
        borders.map(|(n_near, _)| *n_near).min()
    }

    /// Where these rows make a long text of a short one, or the other way round: reads again what was
    /// read, as all of it must have turned alike.
    fn settle(
        &mut self,
        places: &mut [Place],
        texts: &mut [Text],
        caches: &mut [Cache<B::Run>],
    ) -> Result<(), EngineError> {
        let Some(n_near) = self.n_near() else {
            return Ok(());
        };
        for (index, (text, cache)) in texts.iter_mut().zip(caches).enumerate() {
            let far = is_far(places, index, text, n_near);
            if far != text.far {
                let mut again = Cache::new();
                while again.n_read() < text.tokens.len() {
                    self.backend.read_on(&text.tokens, far, &mut again)?;
                }
                *cache = again;
                text.far = far;
            }
            for place in places.iter_mut().filter(|place| place.cache == index) {
                place.far = far;
            }
        }
        Ok(())
    }
}

/// Whether a text is a long one once these rows are read.
fn is_far(places: &[Place], index: usize, text: &Text, n_near: usize) -> bool {
    let mut own = places.iter().filter(|place| place.cache == index);
    text.n_expected > n_near || own.any(|place| place.position >= n_near)
}

impl<B: Backend> CausalLm for Decoder<B> {
    fn n_vocab(&self) -> usize {
        self.backend.facts().n_vocab
    }

    fn n_context(&self) -> usize {
        self.blueprint.n_context
    }

    fn open(&mut self) -> SequenceId {
        self.sequences.add(Sequence::new())
    }

    fn fork(&mut self, parent: SequenceId) -> Result<SequenceId, EngineError> {
        let child = self.sequences.get_mut(parent)?.fork();
        Ok(self.sequences.add(child))
    }

    fn truncate(&mut self, sequence: SequenceId, n: usize) -> Result<(), EngineError> {
        self.sequences.get_mut(sequence)?.truncate(n);
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.remove(sequence);
    }

    fn n_read(&self, sequence: SequenceId) -> usize {
        self.sequences
            .get(sequence)
            .map_or(0, |sequence| sequence.cache.n_read())
    }

    fn n_held(&self, sequence: SequenceId) -> usize {
        self.sequences
            .get(sequence)
            .map_or(0, |sequence| sequence.cache.n_held())
    }

    fn expect(&mut self, sequence: SequenceId, n: usize) -> bool {
        let n_near = self.n_near();
        let (Some(n_near), Ok(sequence)) = (n_near, self.sequences.get_mut(sequence)) else {
            return true;
        };
        let far = n > n_near;
        let stays = far == sequence.text.far || sequence.text.tokens.is_empty();
        if !stays {
            sequence.truncate(0);
        }
        sequence.text.n_expected = n;
        sequence.text.far = far;
        stays
    }

    fn get_ready(&mut self, rows: &[Row]) -> Result<bool, EngineError> {
        let Some(n_near) = self.n_near() else {
            return Ok(true);
        };
        let (ids, places) = self.plan(rows)?;
        for (index, id) in ids.into_iter().enumerate() {
            let sequence = self.sequences.get_mut(id)?;
            let text = &mut sequence.text;
            let far = is_far(&places, index, text, n_near);
            if far == text.far || text.tokens.is_empty() {
                continue;
            }
            let mut again = sequence.again.take().unwrap_or_else(Cache::new);
            self.backend.read_on(&text.tokens, far, &mut again)?;
            if again.n_read() < text.tokens.len() {
                sequence.again = Some(again);
            } else {
                sequence.cache = again;
                text.far = far;
            }
            return Ok(false);
        }
        Ok(true)
    }

    fn forward(&mut self, rows: &[Row]) -> Result<Logits, EngineError> {
        if rows.is_empty() {
            return Ok(Logits::new(Vec::new(), self.backend.facts().n_vocab));
        }
        let (ids, mut places) = self.plan(rows)?;
        let (mut texts, mut caches): (Vec<Text>, Vec<Cache<B::Run>>) = ids
            .iter()
            .filter_map(|id| self.sequences.remove(*id))
            .map(|sequence| (sequence.text, sequence.cache))
            .unzip();
        let logits = self
            .settle(&mut places, &mut texts, &mut caches)
            .and_then(|()| self.backend.run(rows, &places, &mut caches));
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
        let sequences = sequences.map(|(text, cache)| Sequence {
            text,
            cache,
            again: None,
        });
        self.sequences.restore(ids.into_iter().zip(sequences));
        logits
    }

    fn times(&self) -> ForwardTimes {
        self.backend.times()
    }
}

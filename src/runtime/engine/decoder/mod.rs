//! Our own decoder: the forward pass of every family that a [`Blueprint`] can describe, over a flat
//! batch of rows from any number of sequences.
//!
//! The layers are implemented twice: with candle tensors for any device, and with our own kernels
//! for the CPU. Both share the sequences, their KV caches and the row positions. This module knows
//! nothing about files and tokenizers.

#![allow(
    clippy::inline_always,
    reason = "only code inlined into a dispatch is compiled for the instruction set found at run time"
)]

#[cfg(test)]
mod architecture_tests;
mod attention;
mod backend;
mod batch;
mod cache;
mod check;
mod cpu;
mod experts;
mod latent;
mod loader;
mod mtp;
mod norm;
mod recurrent;
mod reread;
mod sequence;
mod tensors;
mod weights;

use std::collections::BTreeMap;

use candle_core::Device;

use self::backend::{Backend, Depth};
use self::batch::Place;
use self::cache::Cache;
use self::cpu::CpuBackend;
use self::mtp::MtpState;
use self::reread::PassRows;
use self::sequence::{OpenParts, Sequence, Text};
use self::tensors::TensorBackend;
use super::blueprint::Blueprint;
use super::sequences::{RowLimits, Sequences};
use super::weights::{Checkpoint, LoadStop};
use super::{
    CausalLm, Compute, EarlyExit, EngineError, ForwardTimes, Logits, Precision, Row, SequenceId,
};
use crate::decoding::TokenId;
use crate::generation::CacheShape;
use crate::kernels::ThreadPool;

pub(super) use self::check::check_tensors;

/// A model that is ready to run, and its open sequences.
pub(super) struct Decoder<B: Backend> {
    blueprint: Blueprint,
    backend: B,
    sequences: Sequences<Sequence<B::Run>>,
    /// Whether new sequences keep what the multi-token-prediction head reads.
    keeps_hidden: bool,
}

impl Decoder<CpuBackend> {
    /// Loads a model for the CPU, where it runs on our own kernels.
    pub(super) fn on_cpu(
        blueprint: Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        compute: &Compute,
    ) -> Result<Self, LoadStop> {
        let backend = CpuBackend::load(&blueprint, checkpoint, compute)?;
        Ok(Self::new(blueprint, backend))
    }
}

impl Decoder<TensorBackend> {
    /// Loads a model for any device, where it runs on candle tensors of the given precision.
    pub(super) fn on_device(
        blueprint: Blueprint,
        checkpoint: &mut Checkpoint<'_>,
        device: Device,
        precision: Precision,
    ) -> Result<Self, LoadStop> {
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
            keeps_hidden: false,
        }
    }

    /// Returns the number of parameters. A table shared with the output head counts once.
    pub(super) fn n_params(&self) -> u64 {
        self.backend.facts().n_params
    }

    /// Returns the sequences in the order in which rows first mention them, and each row's place.
    fn plan(&self, rows: &[Row]) -> Result<(Vec<SequenceId>, Vec<Place>), EngineError> {
        let limits = RowLimits {
            n_vocab: self.n_vocab(),
            n_context: self.blueprint.n_context,
        };
        let n_read = |sequence: &Sequence<B::Run>| sequence.text.tokens.len();
        let plan = self.sequences.plan(rows, limits, n_read)?;
        let ids = plan.sequences.into_iter().map(|(id, _)| id);
        let places = plan.places.into_iter().map(|(cache, position)| Place {
            cache,
            position,
            is_long: false,
        });
        Ok((ids.collect(), places.collect()))
    }
}

impl<B: Backend> CausalLm for Decoder<B> {
    fn n_vocab(&self) -> usize {
        self.backend.facts().n_vocab
    }

    fn n_context(&self) -> usize {
        self.blueprint.n_context
    }

    fn open(&mut self) -> SequenceId {
        self.open_for(0)
    }

    fn open_for(&mut self, n_expected: usize) -> SequenceId {
        let mut sequence = Sequence::new();
        sequence.text.n_expected = n_expected;
        sequence.text.is_long = self.is_long_text(n_expected);
        sequence.mtp = self.keeps_hidden.then(MtpState::new);
        self.sequences.add(sequence)
    }

    fn fork(&mut self, parent: SequenceId) -> Result<SequenceId, EngineError> {
        let parent = self.sequences.get_mut(parent)?;
        let child = parent.fork_with(|cache| self.backend.fork(cache))?;
        Ok(self.sequences.add(child))
    }

    fn truncate(&mut self, sequence: SequenceId, n: usize) -> Result<(), EngineError> {
        let width = self.blueprint.hidden_size;
        self.sequences.get_mut(sequence)?.truncate(n, width);
        Ok(())
    }

    fn truncate_for(
        &mut self,
        sequence: SequenceId,
        n: usize,
        n_expected: usize,
    ) -> Result<usize, EngineError> {
        let is_long = self.is_long_text(n_expected);
        let width = self.blueprint.hidden_size;
        let sequence = self.sequences.get_mut(sequence)?;
        // Keys that were rotated for a short text are of no use in a long one.
        let n = if is_long == sequence.text.is_long {
            n
        } else {
            0
        };
        sequence.truncate(n, width);
        // What a restored state lacks is for the caller to read, who counts it.
        let n_kept = sequence.cache.n_read();
        sequence.truncate(n_kept, width);
        sequence.text.n_expected = n_expected;
        sequence.text.is_long = is_long;
        Ok(n_kept)
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.remove(sequence);
    }

    fn n_read(&self, sequence: SequenceId) -> usize {
        self.sequences
            .get(sequence)
            .map_or(0, |sequence| sequence.text.tokens.len())
    }

    fn n_held(&self, sequence: SequenceId) -> usize {
        self.sequences
            .get(sequence)
            .map_or(0, |sequence| sequence.cache.n_held())
    }

    fn n_cache_bytes(&self, sequences: &[SequenceId]) -> Option<u64> {
        let (mut runs, mut states) = (BTreeMap::new(), BTreeMap::new());
        for id in sequences {
            if let Ok(sequence) = self.sequences.get(*id) {
                runs.extend(sequence.cache.held_runs());
                runs.extend(sequence.mtp.iter().flat_map(|mtp| mtp.cache().held_runs()));
                states.extend(sequence.cache.held_states());
            }
        }
        let runs = runs.into_values().map(|run| B::n_run_bytes(run) as u64);
        Some(runs.chain(states.into_values()).sum())
    }

    fn cache_shape(&self) -> Option<CacheShape> {
        let head_dim = self.blueprint.head_dim;
        let n_layers = self.blueprint.n_attention_layers();
        let n_usual = self.blueprint.n_kv_heads * head_dim * n_layers;
        // The attention layers of some models keep keys and values of different sizes, or none.
        if self.blueprint.n_cached_values() != n_usual {
            return None;
        }
        let (n_head_bytes, format) = self.backend.cached_head(head_dim);
        Some(CacheShape {
            n_layers,
            n_kv_heads: self.blueprint.n_kv_heads,
            head_dim,
            n_head_bytes,
            format,
            n_state_bytes: self.blueprint.n_state_bytes(),
        })
    }

    fn get_ready(&mut self, rows: &[Row]) -> Result<bool, EngineError> {
        let (ids, places) = self.plan(rows)?;
        for (index, id) in ids.into_iter().enumerate() {
            if self.reread_chunk(id, index, &places)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn n_layers(&self) -> Option<usize> {
        Some(self.blueprint.layers.len())
    }

    fn forward_first(&mut self, rows: &[Row], n_layers: usize) -> Result<Logits, EngineError> {
        self.forward_through(rows, Depth::first(n_layers))
    }

    fn has_mtp_head(&self) -> bool {
        self.backend.has_mtp_head()
    }

    fn keep_hidden_states(&mut self) {
        self.keeps_hidden = self.backend.has_mtp_head();
    }

    fn draft_with_mtp_head(
        &mut self,
        sequence: SequenceId,
        token: TokenId,
        n_drafted: usize,
    ) -> Result<Logits, EngineError> {
        self.predict(sequence, token, n_drafted)
    }

    fn n_exit_layers(&self) -> Option<usize> {
        // Between layers, the residual stream of AltUp is several streams.
        let is_one_stream = self.blueprint.alt_up.is_none();
        is_one_stream.then(|| self.blueprint.n_layers())
    }

    fn forward_with_exits(
        &mut self,
        rows: &[Row],
        exits: &[EarlyExit],
    ) -> Result<(Logits, Logits), EngineError> {
        if exits.is_empty() {
            let none = Logits::new(Vec::new(), self.n_vocab());
            return Ok((self.forward(rows)?, none));
        }
        let n_layers = self.n_exit_layers().ok_or(EngineError::NoEarlyExits)?;
        if let Some(exit) = exits.iter().find(|exit| exit.n_layers >= n_layers) {
            let layer = exit.n_layers;
            return Err(EngineError::NoSuchLayer { layer, n_layers });
        }
        let depth = Depth {
            exits,
            ..Depth::ALL
        };
        let mut logits = self.forward_through(rows, depth)?;
        let early = logits.split_off(logits.n_rows().saturating_sub(exits.len()));
        Ok((logits, early))
    }

    fn forward(&mut self, rows: &[Row]) -> Result<Logits, EngineError> {
        self.forward_through(rows, Depth::ALL)
    }

    fn threads(&self) -> Option<&ThreadPool> {
        self.backend.threads()
    }

    fn times(&self) -> ForwardTimes {
        self.backend.times()
    }
}

impl<B: Backend> Decoder<B> {
    fn forward_through(&mut self, rows: &[Row], depth: Depth<'_>) -> Result<Logits, EngineError> {
        if rows.is_empty() {
            return Ok(Logits::new(Vec::new(), self.backend.facts().n_vocab));
        }
        let (ids, mut places) = self.plan(rows)?;
        let removed = ids.iter().filter_map(|id| self.sequences.remove(*id));
        let mut parts = OpenParts::of(removed);
        let OpenParts { texts, caches, .. } = &mut parts;
        let mut n_reread = 0;
        let logits = self
            .reread_changed(&mut places, texts, caches)
            .and_then(|()| self.reread_missing(texts, caches))
            .and_then(|()| {
                let pass = PassRows::new(rows, &places, texts, caches);
                n_reread = pass.rows.len() - rows.len();
                let exits = depth.exits.iter().map(|exit| EarlyExit {
                    row: n_reread + exit.row,
                    ..*exit
                });
                let depth = Depth {
                    exits: &exits.collect::<Vec<_>>(),
                    ..depth
                };
                self.run(&pass, texts, caches, depth)
            });
        if logits.is_ok() {
            for (row, place) in rows.iter().zip(&places) {
                if let Some(text) = texts.get_mut(place.cache) {
                    text.tokens.push(row.token);
                }
            }
            self.follow(&mut parts, &places, n_reread, depth);
        }
        self.sequences.restore(ids.into_iter().zip(parts.joined()));
        logits
    }

    /// Runs a pass, and commits it if it succeeds.
    fn run(
        &mut self,
        pass: &PassRows,
        texts: &[Text],
        caches: &mut [Cache<B::Run>],
        depth: Depth<'_>,
    ) -> Result<Logits, EngineError> {
        for (index, (cache, text)) in caches.iter_mut().zip(texts).enumerate() {
            cache.begin_pass(pass.n_rows_of(index), text.tokens.len());
        }
        let logits = self.backend.run(&pass.rows, &pass.places, caches, depth);
        for (index, cache) in caches.iter_mut().enumerate() {
            if logits.is_ok() {
                cache.commit(pass.n_rows_of(index));
                cache.end_pass();
            } else {
                cache.abandon_pass();
            }
        }
        logits
    }
}

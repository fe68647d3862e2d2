//! The slots that are decoding: one batched forward pass per step for all of them.

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::prefix_cache::{CachedPrefix, PrefixCache, PrefixKind};
use super::slot::{ForwardPass, ModelContext, Slot};
use super::{LoadedModel, Logits, Progress, Row, SequenceId};
use crate::generation::GenerationId;

/// With fewer logits than this, waking other threads costs more than it saves.
const N_MIN_PARALLEL_LOGITS: usize = 1 << 16;

/// The slots that are decoding together.
#[derive(Debug)]
pub(super) struct Batch {
    /// In the order in which they joined, which is the order of the rows of a pass.
    slots: Vec<ActiveSlot>,
    /// Seconds spent so far on preparing the next forward pass. Counted as part of that pass.
    ready_secs: f64,
}

/// A slot whose prompt has been prefilled, with its own sequence in the KV cache.
///
/// The sequence holds all tokens of the slot except the last.
#[derive(Debug)]
struct ActiveSlot {
    slot: Slot,
    sequence: SequenceId,
}

impl Batch {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            ready_secs: 0.0,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Adds a slot, which decodes from the next step on. The sequence must hold all of its tokens
    /// except the last, and goes to the prefix cache when the slot finishes or leaves.
    pub(super) fn join(&mut self, slot: Slot, sequence: SequenceId) {
        if self.slots.is_empty() {
            // The time was spent for slots that have left since.
            self.ready_secs = 0.0;
        }
        self.slots.push(ActiveSlot { slot, sequence });
    }

    /// Removes a slot and keeps its sequence for reuse. Returns whether it was present.
    pub(super) fn leave(
        &mut self,
        id: GenerationId,
        model: &mut LoadedModel,
        cache: &mut PrefixCache,
    ) -> bool {
        let is_it = |active: &ActiveSlot| active.slot.id() == id;
        let index = self.slots.iter().position(is_it);
        if let Some(index) = index {
            self.slots.remove(index).retire(model, cache);
        }
        index.is_some()
    }

    /// Leaves a pause out of the times of the steps.
    pub(super) fn exclude(&mut self, pause: Duration) {
        for active in &mut self.slots {
            active.slot.exclude(pause);
        }
    }

    /// The ids of the slots, in the order in which they joined.
    pub(super) fn ids(&self) -> impl Iterator<Item = GenerationId> {
        self.slots.iter().map(|active| active.slot.id())
    }

    /// Runs one batched decode step: feeds each sequence's last token to the model and samples the
    /// next. Finished slots leave the batch.
    ///
    /// If the model must first recompute part of its cache, the call does one chunk of that work
    /// instead.
    pub(super) fn step(
        &mut self,
        model: &mut LoadedModel,
        cache: &mut PrefixCache,
        progress: &mut Vec<Progress>,
    ) {
        let rows: Vec<Row> = self.slots.iter().filter_map(ActiveSlot::row).collect();
        let started_at = Instant::now();
        let ready = model.lm.get_ready(&rows);
        if let Ok(false) = ready {
            self.ready_secs += started_at.elapsed().as_secs_f64();
            return;
        }
        let ready_secs = std::mem::take(&mut self.ready_secs);
        let logits = match ready.and_then(|_| model.lm.forward(&rows)) {
            Ok(logits) => logits,
            Err(error) => return self.fail(&error.to_string(), model, cache, progress),
        };
        let pass = ForwardPass {
            secs: ready_secs + started_at.elapsed().as_secs_f64(),
            n_batch: rows.len(),
        };
        let slots = std::mem::take(&mut self.slots);
        for sampled in sample_all(slots, &logits, pass, ModelContext::of(model)) {
            progress.extend(sampled.progress);
            if sampled.continues {
                self.slots.push(sampled.active);
            } else {
                sampled.active.retire(model, cache);
            }
        }
    }

    fn fail(
        &mut self,
        error: &str,
        model: &mut LoadedModel,
        cache: &mut PrefixCache,
        progress: &mut Vec<Progress>,
    ) {
        for active in self.slots.drain(..) {
            progress.push(Progress::failed(active.slot.id(), error));
            active.retire(model, cache);
        }
    }
}

/// A slot after it has sampled a token.
struct SampledSlot {
    active: ActiveSlot,
    continues: bool,
    progress: Vec<Progress>,
}

/// Samples the next token of every slot, in parallel if the vocabulary is large enough to pay off.
fn sample_all(
    slots: Vec<ActiveSlot>,
    logits: &Logits,
    pass: ForwardPass,
    model: ModelContext<'_>,
) -> Vec<SampledSlot> {
    let advance = |(index, mut active): (usize, ActiveSlot)| {
        let row = logits.row(index).unwrap_or_default();
        let mut progress = Vec::new();
        let continues = active.slot.advance(row, pass, model, &mut progress);
        SampledSlot {
            active,
            continues,
            progress,
        }
    };
    if slots.len() * model.vocabulary.n_tokens() < N_MIN_PARALLEL_LOGITS {
        slots.into_iter().enumerate().map(advance).collect()
    } else {
        slots.into_par_iter().enumerate().map(advance).collect()
    }
}

impl ActiveSlot {
    /// Keeps the sequence for reuse.
    fn retire(self, model: &mut LoadedModel, cache: &mut PrefixCache) {
        let n_read = model.lm.n_read(self.sequence);
        let mut tokens = self.slot.into_tokens();
        tokens.truncate(n_read);
        let text = CachedPrefix {
            sequence: self.sequence,
            tokens,
            kind: PrefixKind::Text,
        };
        cache.keep(text, &mut *model.lm);
    }

    /// The last token of the slot, to be read by the next forward pass.
    fn row(&self) -> Option<Row> {
        self.slot.last_token().map(|token| Row {
            sequence: self.sequence,
            token,
            logits_wanted: true,
        })
    }
}

//! The writers that are decoding: one batched forward pass per step for all of them.

use std::time::{Duration, Instant};

use super::prefix_cache::PrefixCache;
use super::row_threads::map_rows;
use super::slot::{ForwardPass, ModelContext};
use super::writer::Writer;
use super::{CausalLm, EarlyExit, LoadedModel, Logits, Progress, Row};
use crate::generation::{FinishReason, GenerationId};

/// The writers that are decoding together. Their prompts have been prefilled, and they have their
/// own sequences in the KV cache.
pub(super) struct Batch {
    /// In the order in which they joined, which is also the order of their rows in a pass.
    writers: Vec<Box<dyn Writer>>,
    /// Seconds spent so far on preparing the next forward pass. Counted as part of that pass.
    ready_secs: f64,
}

impl Batch {
    pub(super) const fn new() -> Self {
        Self {
            writers: Vec::new(),
            ready_secs: 0.0,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.writers.is_empty()
    }

    /// Returns the number of writers.
    pub(super) const fn len(&self) -> usize {
        self.writers.len()
    }

    /// Adds a writer, which decodes from the next step on. Its sequences go to the prefix cache
    /// when it finishes or leaves.
    pub(super) fn join(&mut self, writer: Box<dyn Writer>) {
        if self.writers.is_empty() {
            // That time was spent on writers that have since left.
            self.ready_secs = 0.0;
        }
        self.writers.push(writer);
    }

    /// Removes a writer, which reports what is complete and keeps what can be reused. Returns
    /// whether it was present.
    pub(super) fn leave(
        &mut self,
        id: GenerationId,
        model: &mut LoadedModel,
        cache: &mut PrefixCache,
        progress: &mut Vec<Progress>,
    ) -> bool {
        let index = self.writers.iter().position(|writer| writer.id() == id);
        if let Some(index) = index {
            let mut writer = self.writers.remove(index);
            writer.interrupt(progress);
            writer.retire(model, cache);
        }
        index.is_some()
    }

    /// Excludes a pause from the step times.
    pub(super) fn exclude(&mut self, pause: Duration) {
        for writer in &mut self.writers {
            for slot in writer.slots_mut() {
                slot.exclude(pause);
            }
        }
    }

    /// The ids of the writers, in the order in which they joined.
    pub(super) fn ids(&self) -> impl Iterator<Item = GenerationId> {
        self.writers.iter().map(|writer| writer.id())
    }

    /// Runs one batched decode step: lets the second model draft and guide, feeds the last token of
    /// each sequence to the model and lets the writers choose the next. Finished writers leave the
    /// batch.
    ///
    /// If the model must first recompute part of its cache, the call does one chunk of that work
    /// instead.
    pub(super) fn step(
        &mut self,
        model: &mut LoadedModel,
        cache: &mut PrefixCache,
        progress: &mut Vec<Progress>,
    ) {
        self.read_second(model, cache, progress);
        let (rows, mut shares) = self.rows_of(|writer, rows| writer.push_rows(rows));
        let exits = self.exits_of(&mut shares);
        let started_at = Instant::now();
        let ready = model.lm.get_ready(&rows);
        if let Ok(false) = ready {
            self.ready_secs += started_at.elapsed().as_secs_f64();
            return;
        }
        let ready_secs = std::mem::take(&mut self.ready_secs);
        let forward = |lm: &mut dyn CausalLm| {
            if rows.is_empty() {
                // No writer needs the main model in this step.
                let none = Logits::new(Vec::new(), lm.n_vocab());
                return Ok((none.clone(), none));
            }
            lm.forward_with_exits(&rows, &exits)
        };
        let (logits, early) = match ready.and_then(|_| forward(&mut *model.lm)) {
            Ok(logits) => logits,
            Err(error) => return self.fail(&error.to_string(), model, cache, progress),
        };
        let pass = ForwardPass {
            secs: ready_secs + started_at.elapsed().as_secs_f64(),
            n_batch: rows.len(),
        };
        let writers = std::mem::take(&mut self.writers);
        let with_rows = distribute(writers, &shares, &logits, &early);
        for chosen in choose_all(with_rows, pass, ModelContext::of(model)) {
            let mut writer = chosen.writer;
            progress.extend(chosen.progress);
            let finish = chosen.finish.or_else(|| {
                let settled = writer.settle(model);
                settled.err().map(FinishReason::failed)
            });
            match finish {
                None => self.writers.push(writer),
                Some(reason) => {
                    let id = writer.id();
                    progress.push(Progress::Finished { id, reason });
                    writer.retire(model, cache);
                }
            }
        }
    }

    /// Collects the rows of all writers and counts those of each.
    fn rows_of(&self, push: impl Fn(&dyn Writer, &mut Vec<Row>)) -> (Vec<Row>, Vec<Share>) {
        let (mut rows, mut shares) = (Vec::new(), Vec::new());
        for writer in &self.writers {
            let n_before = rows.len();
            push(&**writer, &mut rows);
            let own = rows.iter().skip(n_before);
            shares.push(Share {
                n_rows: rows.len() - n_before,
                n_logits: own.filter(|row| row.logits_wanted).count(),
                n_exits: 0,
            });
        }
        (rows, shares)
    }

    /// Collects the early exits of all writers and counts those of each.
    fn exits_of(&self, shares: &mut [Share]) -> Vec<EarlyExit> {
        let (mut n_rows, mut exits) = (0, Vec::new());
        for (writer, share) in self.writers.iter().zip(shares) {
            let n_before = exits.len();
            writer.push_exits(n_rows, &mut exits);
            share.n_exits = exits.len() - n_before;
            n_rows += share.n_rows;
        }
        exits
    }

    /// Feeds the second model the rows that the writers need, in shared passes.
    fn read_second(
        &mut self,
        model: &mut LoadedModel,
        cache: &mut PrefixCache,
        progress: &mut Vec<Progress>,
    ) {
        loop {
            let (rows, shares) = self.rows_of(|writer, rows| writer.push_second_rows(rows));
            if rows.is_empty() {
                return;
            }
            let started_at = Instant::now();
            let logits = model.second_lm().and_then(|lm| lm.forward(&rows));
            let secs = started_at.elapsed().as_secs_f64();
            let logits = logits.map_err(|error| error.to_string());
            let mut index = 0;
            let writers = std::mem::take(&mut self.writers);
            for (mut writer, share) in writers.into_iter().zip(shares) {
                let own = index..index + share.n_logits;
                index = own.end;
                let noted = match &logits {
                    _ if share.n_rows == 0 => Ok(()),
                    Ok(logits) => {
                        let own: Vec<&[f32]> = own.filter_map(|index| logits.row(index)).collect();
                        let noted = writer.note_second(&own, secs);
                        noted.map_err(|error| error.to_string())
                    }
                    Err(error) => Err(error.clone()),
                };
                match noted {
                    Ok(()) => self.writers.push(writer),
                    Err(error) => {
                        progress.push(Progress::failed(writer.id(), error));
                        writer.retire(model, cache);
                    }
                }
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
        for mut writer in self.writers.drain(..) {
            progress.push(Progress::failed(writer.id(), error));
            writer.retire(model, cache);
        }
    }
}

/// One writer's share of a forward pass.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "counts begin with n")]
struct Share {
    n_rows: usize,
    /// How many of these rows request logits.
    n_logits: usize,
    /// How many early exits it requests of them.
    n_exits: usize,
}

/// A writer after it has chosen its next tokens.
struct Chosen {
    writer: Box<dyn Writer>,
    /// Why its text ends, if it does.
    finish: Option<FinishReason>,
    progress: Vec<Progress>,
}

/// A writer and the logits that it has requested.
type WithLogits<'a> = (Box<dyn Writer>, Vec<&'a [f32]>);

/// Hands each writer the logits of its rows, then those of its early exits.
fn distribute<'a>(
    writers: Vec<Box<dyn Writer>>,
    shares: &[Share],
    logits: &'a Logits,
    early: &'a Logits,
) -> Vec<WithLogits<'a>> {
    let mut rows = (0..).map(move |index| logits.row(index).unwrap_or_default());
    let mut exits = (0..).map(move |index| early.row(index).unwrap_or_default());
    let with_rows = writers.into_iter().zip(shares).map(|(writer, share)| {
        let mut own: Vec<&[f32]> = rows.by_ref().take(share.n_logits).collect();
        own.extend(exits.by_ref().take(share.n_exits));
        (writer, own)
    });
    with_rows.collect()
}

/// Lets every writer choose from its logits.
fn choose_all(
    with_rows: Vec<WithLogits<'_>>,
    pass: ForwardPass,
    model: ModelContext<'_>,
) -> Vec<Chosen> {
    let choose = |(): &mut (), (mut writer, rows): WithLogits<'_>| {
        let mut progress = Vec::new();
        let finish = writer.choose(&rows, pass, model, &mut progress);
        Chosen {
            writer,
            finish,
            progress,
        }
    };
    let n_logits = pass.n_batch * model.vocabulary.n_tokens();
    map_rows(model.threads, n_logits, with_rows, || (), choose)
}

//! Guidance: each token comes from two rows, the pane's own and another, whose logits are mixed.

use std::sync::Arc;

use super::other_rows::comparable;
use super::prefill::PREFILL_CHUNK;
use super::prefix_cache::PrefixCache;
use super::slot::{ForwardPass, ModelContext, Slot};
use super::writer::Writer;
use super::{CausalLm, EngineError, LoadedModel, Progress, Row, SequenceId};
use crate::decoding::{Against, Guidance, LogitsHash, Mixture, TokenId};
use crate::generation::{FinishReason, Step};

/// A pane whose logits are mixed with those of another row.
///
/// Both rows read each new token. The other row is part of the same forward pass if it is the same
/// model after another prompt; a second model runs its own pass first.
pub(super) struct GuidedWriter {
    slot: Slot,
    guidance: Arc<Guidance>,
    sequence: Option<SequenceId>,
    other: OtherRow,
    /// The logits after the last token, if they have been computed.
    own_logits: Option<Vec<f32>>,
    other_logits: Option<Vec<f32>>,
}

/// The row that guides.
struct OtherRow {
    /// What it reads in place of the pane's prompt, or why it can't.
    prompt: Result<Vec<TokenId>, String>,
    sequence: Option<SequenceId>,
    n_read: usize,
    /// Whether a second model has already read a chunk for the next pass, so that no pass waits for
    /// all of a long prompt.
    has_read: bool,
    /// The vocabulary size of the main model.
    n_vocab: usize,
    /// How long its forward passes have taken since the last step, in seconds.
    secs: f64,
}

impl GuidedWriter {
    /// Creates a writer that mixes the slot's row with one that has read `prompt`.
    pub(super) fn new(
        slot: Slot,
        guidance: Guidance,
        prompt: Result<Vec<TokenId>, String>,
    ) -> Self {
        Self {
            slot,
            guidance: Arc::new(guidance),
            sequence: None,
            other: OtherRow {
                prompt,
                sequence: None,
                n_read: 0,
                has_read: false,
                n_vocab: 0,
                secs: 0.0,
            },
            own_logits: None,
            other_logits: None,
        }
    }

    /// Returns the next rows of the other sequence. Requests logits for the last one if nothing is
    /// left to read after it.
    fn other_rows(&self) -> Vec<Row> {
        let (Some(sequence), Ok(prompt)) = (self.other.sequence, &self.other.prompt) else {
            return Vec::new();
        };
        let text = prompt.iter().chain(self.slot.generated());
        let unread = text.copied().skip(self.other.n_read);
        let unread: Vec<TokenId> = unread.collect();
        let n_rows = unread.len().min(PREFILL_CHUNK);
        let is_last = |index: usize| index + 1 == unread.len();
        let rows = unread.iter().take(n_rows).enumerate();
        rows.map(|(index, token)| Row {
            sequence,
            token: *token,
            logits_wanted: is_last(index),
        })
        .collect()
    }

    /// Returns the length of the other row's text.
    fn n_other(&self) -> usize {
        let n_prompt = self.other.prompt.as_ref().map_or(0, Vec::len);
        n_prompt + self.slot.generated().len()
    }

    /// Opens the other sequence.
    fn begin(&mut self, model: &mut LoadedModel) -> Result<(), EngineError> {
        let lm: &mut dyn CausalLm = match self.guidance.against {
            Against::Prompt(_) => &mut *model.lm,
            Against::Model => model.second_lm()?,
        };
        let (n_tokens, n_max) = (self.n_other(), lm.n_context());
        if n_tokens > n_max {
            return Err(EngineError::PromptTooLong { n_tokens, n_max });
        }
        let n_prompt = n_tokens - self.slot.generated().len();
        self.slot
            .end
            .limit_room((n_max - n_prompt).saturating_add(1));
        self.other.sequence = Some(lm.open_for(n_tokens));
        self.other.n_vocab = model.lm.n_vocab();
        Ok(())
    }

    /// Stores the logits of a pass.
    fn note(&mut self, logits: &[&[f32]]) {
        let mut logits = logits.iter().map(|row| row.to_vec());
        if self.own_logits.is_none() {
            self.own_logits = logits.next();
        }
        if matches!(self.guidance.against, Against::Prompt(_)) {
            self.other.n_read += self.other_rows().len();
            self.other_logits = logits.next();
        }
    }

    /// Samples from the mixture of both rows.
    fn take(
        &mut self,
        own: &[f32],
        other: &[f32],
        pass: ForwardPass,
        model: ModelContext<'_>,
    ) -> Result<Step, EngineError> {
        let mixed = self.guidance.mix(own, other);
        let mixed = mixed.map_err(|source| self.slot.failed(source))?;
        let picked = self.slot.end.take_picked();
        let pass = ForwardPass {
            secs: pass.secs + std::mem::take(&mut self.other.secs),
            ..pass
        };
        let mut step = self.slot.take(picked, &mixed, pass, model)?;
        if let Some(trace) = Arc::get_mut(&mut step.trace) {
            let noted = Mixture::note(trace, &self.guidance, step.token, [own, other]);
            noted.map_err(|source| self.slot.failed(source))?;
        }
        step.logits_hash = Some(LogitsHash::of_guided(own, other));
        Ok(step)
    }

    /// Samples and reports the next step once the logits of both rows are known. Returns why the
    /// text ends, if it does.
    fn advance(
        &mut self,
        pass: ForwardPass,
        model: ModelContext<'_>,
        progress: &mut Vec<Progress>,
    ) -> Option<FinishReason> {
        if let Err(error) = &self.other.prompt {
            return Some(FinishReason::failed(error));
        }
        let (own, other) = match (self.own_logits.take(), self.other_logits.take()) {
            (Some(own), Some(other)) => (own, other),
            (own, other) => {
                (self.own_logits, self.other_logits) = (own, other);
                return None;
            }
        };
        match self.take(&own, &other, pass, model) {
            Ok(step) => {
                let finish = self.slot.finish_after(&step, model);
                progress.push(Progress::stepped(self.slot.id(), step));
                finish
            }
            Err(error) => Some(FinishReason::failed(error)),
        }
    }
}

impl Writer for GuidedWriter {
    fn slot(&self) -> &Slot {
        &self.slot
    }

    fn slots_mut(&mut self) -> Vec<&mut Slot> {
        vec![&mut self.slot]
    }

    fn join(&mut self, sequence: SequenceId, model: &mut LoadedModel) -> Result<(), EngineError> {
        self.sequence = Some(sequence);
        self.begin(model)
    }

    fn push_second_rows(&self, rows: &mut Vec<Row>) {
        if self.guidance.against == Against::Model && !self.other.has_read {
            rows.extend(self.other_rows());
        }
    }

    fn note_second(&mut self, logits: &[&[f32]], secs: f64) -> Result<(), EngineError> {
        self.other.n_read += self.other_rows().len();
        self.other.has_read = true;
        self.other.secs += secs;
        let row = logits.first();
        self.other_logits = row.map(|row| comparable(row, self.other.n_vocab));
        Ok(())
    }

    fn push_rows(&self, rows: &mut Vec<Row>) {
        if self.own_logits.is_none() {
            rows.extend(self.sequence.and_then(|sequence| self.slot.row(sequence)));
        }
        if matches!(self.guidance.against, Against::Prompt(_)) {
            rows.extend(self.other_rows());
        }
    }

    fn choose(
        &mut self,
        logits: &[&[f32]],
        pass: ForwardPass,
        model: ModelContext<'_>,
        progress: &mut Vec<Progress>,
    ) -> Option<FinishReason> {
        self.note(logits);
        let limit = self.slot.end.limit_reached();
        limit.or_else(|| self.advance(pass, model, progress))
    }

    fn settle(&mut self, _model: &mut LoadedModel) -> Result<(), EngineError> {
        self.other.has_read = false;
        Ok(())
    }

    /// Keeps the pane's own sequence for reuse.
    fn retire(mut self: Box<Self>, model: &mut LoadedModel, cache: &mut PrefixCache) {
        if let Some(other) = self.other.sequence.take() {
            let lm: Option<&mut dyn CausalLm> = match self.guidance.against {
                Against::Prompt(_) => Some(&mut *model.lm),
                Against::Model => model.second_lm().ok(),
            };
            if let Some(lm) = lm {
                lm.close(other);
            }
        }
        if let Some(sequence) = self.sequence.take() {
            self.slot.hold(sequence);
            Box::new(self.slot).retire(model, cache);
        }
    }
}

//! Guidance: each token comes from two rows, the pane's own and another or an early layer's, whose
//! logits are mixed.

use std::sync::Arc;

use super::early_layers::{GuidingRow, exits_of};
use super::guide::Guide;
use super::other_rows::OtherPrompt;
use super::slot::{ForwardPass, ModelContext, Slot};
use super::writer::Writer;
use super::{EarlyExit, EngineError, LoadedModel, Progress, Row, SequenceId};
use crate::decoding::{Against, Guidance, LogitsHash, Mixture, TokenId};
use crate::generation::{FinishReason, Step};

/// A pane whose logits are mixed with those of another row.
///
/// Both rows read each new token. The other row is part of the same forward pass if it is the same
/// model after another prompt; a second model runs its own pass first. Early layers give theirs on
/// the way of the pane's own row.
pub(super) struct GuidedWriter {
    slot: Slot,
    guidance: Arc<Guidance>,
    /// The row that guides, or why there is none.
    guide: Result<Guide, String>,
    /// The logits of the pane's own row after the last token, if they have been computed.
    own_logits: Option<Vec<f32>>,
    /// What early layers gave for the same token, if they guide.
    early: Option<GuidingRow>,
    /// Whether a second model has already read a chunk for the next pass, so that no pass waits for
    /// all of a long prompt.
    has_read: bool,
    /// How long the forward passes of a second model have taken since the last step, in seconds.
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
            guide: prompt.map(|prompt| Guide::new(guidance.against.clone(), prompt)),
            guidance: Arc::new(guidance),
            own_logits: None,
            early: None,
            has_read: false,
            secs: 0.0,
        }
    }

    /// Returns the next rows of the guide.
    fn guide_rows(&self) -> Vec<Row> {
        let guide = self.guide.as_ref().ok().and_then(Guide::prompt);
        guide.map_or_else(Vec::new, |guide| guide.rows(self.slot.generated()))
    }

    /// Stores the logits after these rows.
    fn note_guide(&mut self, logits: Option<&[f32]>) {
        let n_rows = self.guide_rows().len();
        if let Ok(guide) = &mut self.guide
            && let Some(guide) = guide.prompt_mut()
        {
            guide.note(n_rows, logits);
        }
    }

    /// The early layers that guide.
    fn layers(&self) -> &[u32] {
        self.guidance.against.layers()
    }

    /// Stores the logits of a pass.
    fn note(&mut self, logits: &[&[f32]]) {
        if !self.layers().is_empty() {
            // A prompt was read without early exits, so its last token is read again.
            if let Some((own, early)) = logits.split_first().filter(|(_, early)| !early.is_empty())
            {
                self.early = Some(GuidingRow::of_layers(own, early, self.layers()));
                self.own_logits = Some(own.to_vec());
            }
            return;
        }
        let mut logits = logits.iter().copied();
        if self.own_logits.is_none() {
            self.own_logits = logits.next().map(<[f32]>::to_vec);
        }
        if matches!(self.guidance.against, Against::Prompt(_)) {
            self.note_guide(logits.next());
        }
    }

    /// Samples from the mixture of both rows.
    fn take(
        &mut self,
        own: &[f32],
        other: &GuidingRow,
        pass: ForwardPass,
        model: ModelContext<'_>,
    ) -> Result<Step, EngineError> {
        let mixed = self.guidance.mix(own, &other.logits);
        let mixed = mixed.map_err(|source| self.slot.failed(source))?;
        let picked = self.slot.end.take_picked();
        let pass = ForwardPass {
            secs: pass.secs + std::mem::take(&mut self.secs),
            ..pass
        };
        let mut step = self.slot.take(picked, &mixed, pass, model)?;
        if let Some(trace) = Arc::get_mut(&mut step.trace) {
            let rows = [own, &other.logits];
            let noted = Mixture::note(trace, &self.guidance, step.token, rows, other.layer);
            noted.map_err(|source| self.slot.failed(source))?;
        }
        step.logits_hash = Some(LogitsHash::of_guided(own, &other.logits));
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
        let guide = match &mut self.guide {
            Ok(guide) => guide,
            Err(error) => return Some(FinishReason::failed(error)),
        };
        let is_read = guide.prompt().is_some_and(OtherPrompt::is_read);
        if self.early.is_none() && !is_read {
            return None;
        }
        let own = self.own_logits.take()?;
        let other = match self.early.take() {
            Some(early) => early,
            None => GuidingRow::from(guide.prompt_mut()?.take_logits()?),
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

    fn slot_mut(&mut self) -> &mut Slot {
        &mut self.slot
    }

    fn join(&mut self, sequence: SequenceId, model: &mut LoadedModel) -> Result<(), EngineError> {
        self.slot.hold(sequence);
        if !self.layers().is_empty() {
            // The last token is read once more, with early exits.
            let n_before = self.slot.tokens().len().saturating_sub(1);
            if model.lm.n_read(sequence) > n_before {
                model.lm.truncate(sequence, n_before)?;
            }
            return Ok(());
        }
        if let Ok(guide) = &mut self.guide {
            let guide = guide.open(self.slot.generated().len(), model)?;
            self.slot.end.limit_room(guide.n_room());
        }
        Ok(())
    }

    fn push_second_rows(&self, rows: &mut Vec<Row>) {
        if self.guidance.against == Against::Model && !self.has_read {
            rows.extend(self.guide_rows());
        }
    }

    fn note_second(&mut self, logits: &[&[f32]], secs: f64) -> Result<(), EngineError> {
        self.note_guide(logits.first().copied());
        self.has_read = true;
        self.secs += secs;
        Ok(())
    }

    fn push_rows(&self, rows: &mut Vec<Row>) {
        if self.own_logits.is_none() {
            rows.extend(self.slot.own_row());
        }
        if matches!(self.guidance.against, Against::Prompt(_)) {
            rows.extend(self.guide_rows());
        }
    }

    fn push_exits(&self, first_row: usize, exits: &mut Vec<EarlyExit>) {
        if self.own_logits.is_none() && self.slot.own_row().is_some() {
            exits.extend(exits_of([first_row], self.layers()));
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
        self.has_read = false;
        Ok(())
    }

    fn close_others(&mut self, model: &mut LoadedModel) {
        if let Ok(guide) = &mut self.guide {
            guide.close(model);
        }
    }
}

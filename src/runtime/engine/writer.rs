//! What writes a pane's text: it requests rows in each forward pass, and receives their logits.

use super::beam_writer::BeamWriter;
use super::draft_writer::DraftWriter;
use super::guided_writer::GuidedWriter;
use super::prefill::Prefill;
use super::prefix_cache::PrefixCache;
use super::slot::{ForwardPass, ModelContext, Slot};
use super::{EarlyExit, EngineError, LoadedModel, Progress, Prompt, Row, SequenceId};
use crate::decoding::TokenId;
use crate::generation::{FinishReason, GenerationId};

/// One pane's text as it is written. The batch reads the rows of all writers in one forward pass,
/// and does not know how any of them chooses its tokens.
pub(super) trait Writer: Send {
    /// Returns the text that it begins with, and the settings with which it chooses tokens.
    fn slot(&self) -> &Slot;

    /// Like [`Self::slot`], to be changed.
    fn slot_mut(&mut self) -> &mut Slot;

    /// Returns the texts that it writes, one of which will be the result.
    fn slots_mut(&mut self) -> Vec<&mut Slot> {
        vec![self.slot_mut()]
    }

    /// Returns the generation that it writes.
    fn id(&self) -> GenerationId {
        self.slot().id()
    }

    /// Returns the prompt, then the tokens of the text that it begins with.
    fn tokens(&self) -> &[TokenId] {
        self.slot().tokens()
    }

    /// Takes over a sequence that holds all tokens of the text that it continues except the last.
    fn join(&mut self, sequence: SequenceId, _model: &mut LoadedModel) -> Result<(), EngineError> {
        self.slot_mut().hold(sequence);
        Ok(())
    }

    /// Forks a sequence that holds the tokens after which [`Self::choose`] has just chosen for the
    /// first time.
    fn fork_from(
        &mut self,
        prompt: SequenceId,
        model: &mut LoadedModel,
    ) -> Result<(), EngineError> {
        let sequence = model.lm.fork(prompt)?;
        self.join(sequence, model)?;
        self.settle(model)
    }

    /// Adds the rows that it needs from the second model before the next forward pass. Called again
    /// after each pass of the second model, until no writer needs any.
    fn push_second_rows(&self, _rows: &mut Vec<Row>) {}

    /// Receives the logits of these rows, and the time of their pass.
    fn note_second(&mut self, _logits: &[&[f32]], _secs: f64) -> Result<(), EngineError> {
        Ok(())
    }

    /// Adds the rows that it needs in the next forward pass.
    fn push_rows(&self, rows: &mut Vec<Row>);

    /// Adds the early exits that it needs of the rows that it has just added, of which the first has
    /// this index in the pass.
    fn push_exits(&self, _first_row: usize, _exits: &mut Vec<EarlyExit>) {}

    /// Chooses tokens from the logits of its rows and of its early exits, and reports what it wrote. Returns why the text
    /// ends, if it does.
    fn choose(
        &mut self,
        logits: &[&[f32]],
        pass: ForwardPass,
        model: ModelContext<'_>,
        progress: &mut Vec<Progress>,
    ) -> Option<FinishReason>;

    /// Forks and closes sequences to match what it has chosen, and runs what the next forward pass
    /// depends on.
    fn settle(&mut self, _model: &mut LoadedModel) -> Result<(), EngineError> {
        Ok(())
    }

    /// Reports the rest of the text so far, before it is stopped.
    fn interrupt(&mut self, _progress: &mut Vec<Progress>) {}

    /// Closes the sequences that it has opened besides that of its slot, which it leaves without
    /// anything that is not part of the text.
    fn close_others(&mut self, _model: &mut LoadedModel) {}

    /// Releases its sequences, and keeps what later requests may continue.
    fn retire(&mut self, model: &mut LoadedModel, cache: &mut PrefixCache) {
        self.close_others(model);
        self.slot_mut().keep_sequence(model, cache);
    }
}

/// Lets a writer choose its first token after a prompt, and fork the prompt's KV cache. Returns the
/// writer unless its text has ended.
pub(super) fn begin(
    mut writer: Box<dyn Writer>,
    prompt: &Prefill,
    model: &mut LoadedModel,
    cache: &mut PrefixCache,
    progress: &mut Vec<Progress>,
) -> Option<Box<dyn Writer>> {
    let id = writer.id();
    let (logits, pass) = prompt.last_logits()?;
    if let Some(reason) = writer.choose(&[logits], pass, ModelContext::of(model), progress) {
        progress.push(Progress::Finished { id, reason });
        return None;
    }
    if let Err(error) = writer.fork_from(prompt.sequence(), model) {
        progress.push(Progress::failed(id, error));
        writer.retire(model, cache);
        return None;
    }
    Some(writer)
}

/// Returns the writer that the settings of a slot call for.
pub(super) fn writer_of(slot: Slot, prompt: &Prompt, model: &LoadedModel) -> Box<dyn Writer> {
    let chain = slot.chain();
    if let Some(guidance) = chain.guidance.clone() {
        let other = model.guiding_prompt(&guidance, &prompt.tokens, prompt.form());
        let other = other.map_err(|error| error.to_string());
        return Box::new(GuidedWriter::new(slot, guidance, other));
    }
    match (chain.selector.beam_search(), chain.drafts) {
        (Some(search), _) => Box::new(BeamWriter::new(slot, search)),
        (None, Some(drafts)) => Box::new(DraftWriter::new(slot, drafts)),
        (None, None) => Box::new(slot),
    }
}

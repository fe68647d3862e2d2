//! What guides texts: a row that reads another prompt, or the same one with the second model, and
//! then the tokens that the texts share; or the early layers of the texts' own passes.

use std::ops::Range;

use super::early_layers::{GuidingRow, OwnPass};
use super::other_rows::OtherPrompt;
use super::{EngineError, LoadedModel};
use crate::decoding::{Against, TokenId};

/// A text that is guided, whose first `n_prompt` tokens are its prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct GuidedText<'a> {
    pub tokens: &'a [TokenId],
    pub n_prompt: usize,
}

/// What guides texts with the same beginning.
pub(super) struct Guide {
    against: Against,
    /// What it reads in place of the texts' prompt.
    prompt: Vec<TokenId>,
    /// `None` until it is needed, and for early layers.
    opened: Option<OtherPrompt>,
}

impl Guide {
    pub(super) const fn new(against: Against, prompt: Vec<TokenId>) -> Self {
        Self {
            against,
            prompt,
            opened: None,
        }
    }

    /// The layers of the texts' own passes that guide them. Empty if a row of its own does.
    pub(super) const fn layers(&self) -> &[u32] {
        self.against.layers()
    }

    /// Opens the sequence, in which `n_written` tokens of a text follow the prompt.
    pub(super) fn open(
        &mut self,
        n_written: usize,
        model: &mut LoadedModel,
    ) -> Result<&mut OtherPrompt, EngineError> {
        let prompt = OtherPrompt::open(self.prompt.clone(), n_written, &self.against, model)?;
        Ok(self.opened.insert(prompt))
    }

    /// Reads the next chunk of the prompt. Returns whether there was anything to read. Fails if the
    /// context has no room for `n_tokens` more, the last of which is never read.
    pub(super) fn reads_prompt(
        &mut self,
        n_tokens: usize,
        model: &mut LoadedModel,
    ) -> Result<bool, EngineError> {
        if !self.layers().is_empty() {
            return Ok(false);
        }
        let prompt = if let Some(prompt) = &mut self.opened {
            prompt
        } else {
            self.open(0, model)?
        };
        prompt.check_room_for(n_tokens.saturating_sub(1))?;
        if prompt.is_read() {
            return Ok(false);
        }
        prompt.read_chunk(model)?;
        Ok(true)
    }

    /// Returns the guide's logits after these positions, to be mixed with those of the text's own
    /// row, which `own` has read. The positions must continue those of the previous call.
    pub(super) fn rows(
        &mut self,
        text: GuidedText<'_>,
        positions: Range<usize>,
        own: &OwnPass<'_>,
        model: &mut LoadedModel,
    ) -> Result<Vec<GuidingRow>, EngineError> {
        if !self.layers().is_empty() {
            return Ok(own.guiding_rows(self.layers()));
        }
        let GuidedText { tokens, n_prompt } = text;
        let Some(prompt) = &mut self.opened else {
            return Ok(Vec::new());
        };
        let mut rows = Vec::new();
        if positions.contains(&(n_prompt.saturating_sub(1))) {
            rows.extend(prompt.logits().map(<[f32]>::to_vec));
        }
        let read = positions.start.max(n_prompt)..positions.end;
        let read = tokens.get(read).unwrap_or_default();
        rows.append(&mut prompt.read_on(read, model)?);
        Ok(rows.into_iter().map(GuidingRow::from).collect())
    }

    /// Returns the prompt once it is open.
    pub(super) const fn prompt(&self) -> Option<&OtherPrompt> {
        self.opened.as_ref()
    }

    /// Like [`Self::prompt`], to be read on.
    pub(super) const fn prompt_mut(&mut self) -> Option<&mut OtherPrompt> {
        self.opened.as_mut()
    }

    /// Frees the sequence. It can be opened again.
    pub(super) fn close(&mut self, model: &mut LoadedModel) {
        if let Some(prompt) = self.opened.take() {
            prompt.close(model);
        }
    }
}

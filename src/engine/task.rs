//! A prompt in the queue, with the slots that will continue it.

use std::sync::Arc;

use super::LoadedModel;
use super::prefill::Prefill;
use super::session::{Progress, Prompt};
use super::slot::Slot;
use crate::decoding::TokenId;
use crate::generation::{GenerationId, PromptRecord};

/// A prompt, and the slots that will continue it.
///
/// Slots that continue the prompt alone share a task. A slot that continues a text has its own,
/// which prefills that text.
pub(super) struct Task {
    pub(super) prompt: Prompt,
    pub(super) slots: Vec<Slot>,
}

impl Task {
    /// Removes a slot. Returns whether it was present.
    pub(super) fn leave(&mut self, id: GenerationId) -> bool {
        let n_before = self.slots.len();
        self.slots.retain(|slot| slot.id() != id);
        self.slots.len() < n_before
    }

    /// Whether it continues a text rather than the prompt alone.
    pub(super) fn is_text(&self) -> bool {
        self.slots.iter().any(Slot::continues_text)
    }

    /// Returns the tokens of the text to continue, without the last, which its slot feeds to the
    /// model when it joins the batch.
    pub(super) fn text_to_read(&self) -> Option<Vec<TokenId>> {
        let slot = self.slots.iter().find(|slot| slot.continues_text())?;
        let (_, read) = slot.tokens().split_last()?;
        Some(read.to_vec())
    }

    /// Reports how much of the prompt has been prefilled.
    pub(super) fn prefilling(&self, prefill: &Prefill) -> Progress {
        Progress::Prefilling {
            ids: self.slots.iter().map(Slot::id).collect(),
            n_read: prefill.n_read(),
            n_tokens: prefill.n_tokens(),
        }
    }

    /// Reports that the prompt was prefilled, with its record.
    pub(super) fn started(&self, prefill: &Prefill, model: &LoadedModel) -> Progress {
        let prompt = &self.prompt;
        let pieces = prompt.tokens.iter();
        let pieces = pieces.map(|token| model.vocabulary.piece(*token));
        Progress::Started {
            ids: self.slots.iter().map(Slot::id).collect(),
            prompt: Arc::new(PromptRecord {
                text: prompt.text.clone(),
                chat: prompt.chat.clone(),
                pieces: pieces.collect(),
                tokens: prompt.tokens.clone(),
                n_prefilled: prefill.n_prefilled(),
                prefill_secs: prefill.secs(),
            }),
        }
    }

    /// Reports the same failure for all slots.
    pub(super) fn fail(&self, error: &str, progress: &mut Vec<Progress>) {
        let failed = |slot: &Slot| Progress::failed(slot.id(), error);
        progress.extend(self.slots.iter().map(failed));
    }
}

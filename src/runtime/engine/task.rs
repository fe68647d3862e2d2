//! A prompt in the queue, with the writers that will continue it.

use std::sync::Arc;

use super::LoadedModel;
use super::Progress;
use super::prefill::Prefill;
use super::session::Prompt;
use super::writer::Writer;
use crate::decoding::TokenId;
use crate::generation::{GenerationId, PromptRecord};

/// A prompt, and the writers that will continue it.
///
/// Writers that continue the prompt alone share a task. A writer that continues a text has its own,
/// which prefills that text.
pub(super) struct Task {
    pub(super) prompt: Prompt,
    pub(super) writers: Vec<Box<dyn Writer>>,
}

impl Task {
    /// Removes a writer. Returns whether it was present.
    pub(super) fn leave(&mut self, id: GenerationId) -> bool {
        let n_before = self.writers.len();
        self.writers.retain(|writer| writer.id() != id);
        self.writers.len() < n_before
    }

    /// Returns whether it continues a text rather than the prompt alone.
    pub(super) fn is_text(&self) -> bool {
        self.writers
            .iter()
            .any(|writer| writer.slot().continues_text())
    }

    /// Returns the tokens of the text to continue, without the last, which its writer feeds to
    /// the model when it joins the batch.
    pub(super) fn text_to_read(&self) -> Option<Vec<TokenId>> {
        let writer = self
            .writers
            .iter()
            .find(|writer| writer.slot().continues_text())?;
        let (_, read) = writer.tokens().split_last()?;
        Some(read.to_vec())
    }

    /// Reports how much of the prompt has been prefilled.
    pub(super) fn prefilling(&self, prefill: &Prefill) -> Progress {
        Progress::Prefilling {
            ids: self.ids().collect(),
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
            ids: self.ids().collect(),
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

    /// Reports the same failure for all writers.
    pub(super) fn fail(&self, error: &str, progress: &mut Vec<Progress>) {
        progress.extend(self.ids().map(|id| Progress::failed(id, error)));
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = GenerationId> {
        self.writers.iter().map(|writer| writer.id())
    }
}

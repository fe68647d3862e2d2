//! What the engine reports while it generates, and how a record of it is kept.

use std::fmt::Display;
use std::sync::Arc;

use crate::generation::{BeamPass, FinishReason, Generation, GenerationId, PromptRecord, Step};

/// What happened during generation, reported in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// A prompt is being prefilled.
    Prefilling {
        /// The generations that wait for it.
        ids: Vec<GenerationId>,
        /// How many of its tokens are in the KV cache, including reused ones.
        n_read: usize,
        n_tokens: usize,
    },
    /// A prompt was prefilled, and decoding begins.
    Started {
        ids: Vec<GenerationId>,
        prompt: Arc<PromptRecord>,
    },
    /// One pane generated one token.
    Stepped { id: GenerationId, step: Box<Step> },
    /// One pane's beam search compared the continuations of its beams.
    Compared { id: GenerationId, pass: BeamPass },
    /// One pane stopped. A failure is a finish reason like any other, and keeps the text so far.
    Finished {
        id: GenerationId,
        reason: FinishReason,
    },
}

impl Progress {
    /// Reports that a generation ended because of an error.
    pub fn failed(id: GenerationId, error: impl Display) -> Self {
        let reason = FinishReason::failed(error);
        Self::Finished { id, reason }
    }

    /// Reports a step.
    pub(super) fn stepped(id: GenerationId, step: Step) -> Self {
        let step = Box::new(step);
        Self::Stepped { id, step }
    }

    /// Adds what happened to the record of a text that it is about.
    pub fn record(&self, text: &mut Generation) {
        match self {
            Self::Prefilling { .. } => {}
            Self::Started { prompt, .. } => text.prompt = Arc::clone(prompt),
            Self::Stepped { step, .. } => text.steps.push((**step).clone()),
            Self::Compared { pass, .. } => text.note_beams(pass.clone()),
            Self::Finished { reason, .. } => text.end(reason.clone()),
        }
    }

    /// Returns whether it is about this text.
    pub fn is_about(&self, text: GenerationId) -> bool {
        match self {
            Self::Prefilling { ids, .. } | Self::Started { ids, .. } => ids.contains(&text),
            Self::Stepped { id, .. } | Self::Compared { id, .. } | Self::Finished { id, .. } => {
                *id == text
            }
        }
    }
}

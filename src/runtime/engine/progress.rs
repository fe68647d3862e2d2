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

    /// Returns whether it is about this text.
    fn is_about(&self, text: GenerationId) -> bool {
        match self {
            Self::Prefilling { ids, .. } | Self::Started { ids, .. } => ids.contains(&text),
            Self::Stepped { id, .. } | Self::Compared { id, .. } | Self::Finished { id, .. } => {
                *id == text
            }
        }
    }
}

/// Keeps the record of a text while it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorder {
    /// The id under which the progress of the text is reported.
    pub id: GenerationId,
    pub text: Generation,
}

impl Recorder {
    /// Records what happened, if it is about this text. Returns whether it is.
    pub fn note(&mut self, progress: &Progress) -> bool {
        if !progress.is_about(self.id) {
            return false;
        }
        let text = &mut self.text;
        match progress {
            Progress::Prefilling { .. } => {}
            Progress::Started { prompt, .. } => text.prompt = Arc::clone(prompt),
            Progress::Stepped { step, .. } => text.steps.push(Step::clone(step)),
            Progress::Compared { pass, .. } => text.note_beams(pass.clone()),
            Progress::Finished { reason, .. } => text.end(reason.clone()),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Progress, Recorder};
    use crate::decoding::ChainConfig;
    use crate::generation::{
        BeamPass, FinishReason, Generation, GenerationConfig, GenerationId, Limits, PromptRecord,
        TextModels,
    };

    #[test]
    fn a_recorder_keeps_what_is_about_its_text() {
        let config = GenerationConfig {
            chain: ChainConfig::greedy(),
            seed: 1,
            limits: Limits::default(),
        };
        let prompt = Arc::new(PromptRecord::default());
        let models = TextModels::default();
        let [one, other] = [GenerationId(1), GenerationId(2)];
        let mut recorder = Recorder {
            id: one,
            text: Generation::begin("A".to_owned(), config, prompt, models),
        };
        let read = Arc::new(PromptRecord {
            text: "Once".to_owned(),
            ..PromptRecord::default()
        });
        let started = Progress::Started {
            ids: vec![other, one],
            prompt: Arc::clone(&read),
        };
        let compared = |id| Progress::Compared {
            id,
            pass: BeamPass { nodes: Vec::new() },
        };
        let finished = |id| Progress::Finished {
            id,
            reason: FinishReason::MaxTokens,
        };
        for (progress, is_own) in [
            (started, true),
            (compared(one), true),
            (compared(other), false),
            (finished(other), false),
        ] {
            assert_eq!(recorder.note(&progress), is_own, "{progress:?}");
        }
        assert_eq!(recorder.text.prompt, read);
        assert_eq!(recorder.text.beams.passes.len(), 1);
        assert_eq!(recorder.text.finish, None);
        assert!(recorder.note(&finished(one)));
        assert_eq!(recorder.text.finish, Some(FinishReason::MaxTokens));
    }
}

//! The record of a run: everything that was asked and everything that happened.

use std::sync::Arc;

use super::{ChatRecord, FinishReason, GenerationConfig, ModelInfo, Piece, PieceKind, Vocabulary};
use crate::decoding::{TokenId, Trace};

/// A prompt as the model read it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptRecord {
    /// What the user wrote.
    pub text: String,
    /// What the model read in place of it, where it was a message to answer.
    pub chat: Option<ChatRecord>,
    /// The tokens that it became, with those that the model puts in front.
    pub tokens: Vec<TokenId>,
    /// What each token stands for.
    pub pieces: Vec<Piece>,
    /// How many of the tokens were read for this run; those before them were still in the cache.
    pub n_prefilled: usize,
    /// How long reading them took, in seconds.
    pub prefill_secs: f64,
}

/// One generated token with its evidence; complete when it is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The token.
    pub token: TokenId,
    /// What it stands for.
    pub piece: Piece,
    /// How it was chosen.
    pub trace: Trace,
    /// When it was made.
    pub time: StepTime,
}

/// When a step was made, and with whom.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepTime {
    /// Seconds from the moment at which the generation was asked for.
    pub at_secs: f64,
    /// How long the forward pass took that gave this step's logits, in seconds.
    pub forward_secs: f64,
    /// How many sequences that forward pass served.
    pub n_batch: usize,
}

/// One pane's writing: what was asked, what happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// The pane's name when it was started.
    pub name: String,
    /// What was asked.
    pub config: GenerationConfig,
    /// Which model wrote.
    pub model: Arc<ModelInfo>,
    /// What that model's tokens stand for.
    pub vocabulary: Arc<Vocabulary>,
    /// What was read.
    pub prompt: Arc<PromptRecord>,
    /// What was written, with the evidence of each token.
    pub steps: Vec<Step>,
    /// Why it ended; nothing while it is being written.
    pub finish: Option<FinishReason>,
}

impl Generation {
    /// Whether another text goes on from the same tokens, by the same model.
    pub fn begins_like(&self, other: &Self) -> bool {
        let same_prompt =
            Arc::ptr_eq(&self.prompt, &other.prompt) || self.prompt.tokens == other.prompt.tokens;
        same_prompt
            && (Arc::ptr_eq(&self.model, &other.model) || self.model.writes_like(&other.model))
    }

    /// The text that was written, without special tokens; bytes that are no character become U+FFFD.
    /// A stop string that ended the text, and what follows it, are not part of it.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self
            .steps
            .iter()
            .filter(|step| step.piece.kind == PieceKind::Text)
            .flat_map(|step| step.piece.bytes.iter().copied())
            .collect();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(FinishReason::StopString { stop }) = &self.finish
            && let Some(at) = text.find(stop.as_str())
        {
            text.truncate(at);
        }
        text
    }
}

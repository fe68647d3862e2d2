//! A pane's entry in a file of format 1, and the prompt that it continues.

use std::sync::Arc;

use serde::Deserialize;

use super::step::{NamedPiece, Pieces, StepEntry};
use crate::decoding::TokenId;
use crate::export::json::ParseError;
use crate::export::json::settings::{Finish, Settings};
use crate::generation::{ChatRecord, Generation, Lineage, ModelInfo, PromptRecord};

/// A generation's entry in the file.
#[derive(Deserialize)]
pub(super) struct Pane {
    name: String,
    #[serde(default)]
    model: Option<ModelInfo>,
    #[serde(default)]
    prompt: Option<Prompt>,
    settings: Settings,
    finish_reason: Option<Finish>,
    finish_detail: Option<String>,
    timings: Timings,
    steps: Vec<StepEntry>,
}

/// A prompt's entry in the file.
#[derive(Clone, Default, Deserialize)]
pub(super) struct Prompt {
    text: String,
    #[serde(default)]
    chat: Option<Chat>,
    tokens: Vec<PromptToken>,
}

/// The chat template's input and output.
#[derive(Clone, Deserialize)]
struct Chat {
    system: String,
    rendered: String,
}

#[derive(Clone, Deserialize)]
struct PromptToken {
    id: TokenId,
    #[serde(flatten)]
    piece: NamedPiece,
}

#[derive(Deserialize)]
struct Timings {
    n_prefilled: usize,
    prefill_secs: f64,
}

impl Pane {
    /// Converts the entry to a generation, given the file's shared model and prompt.
    pub(super) fn into_generation(
        self,
        model: &Arc<ModelInfo>,
        known: impl Fn(ModelInfo) -> Arc<ModelInfo>,
        prompt: &Prompt,
    ) -> Result<Generation, ParseError> {
        let mut pieces = Pieces::default();
        let prompt = self.prompt.as_ref().unwrap_or(prompt);
        for token in &prompt.tokens {
            pieces.learn(token.id, &token.piece)?;
        }
        let steps = self
            .steps
            .into_iter()
            .map(|step| step.into_step(&mut pieces))
            .collect::<Result<_, _>>()?;
        Ok(Generation {
            name: self.name,
            config: self.settings.into_config(),
            earlier: Vec::new(),
            contradiction: None,
            model: self.model.map_or_else(|| model.clone(), known),
            vocabulary: Arc::new(pieces.into_vocabulary()),
            prompt: Arc::new(prompt.record(&self.timings)),
            steps,
            finish: self
                .finish_reason
                .map(|reason| reason.into_reason(self.finish_detail.unwrap_or_default())),
            grammar_complete: None,
            lineage: Lineage::default(),
            second_model: None,
            beams: Arc::default(),
            not_applied: Vec::new(),
        })
    }
}

impl Prompt {
    fn record(&self, timings: &Timings) -> PromptRecord {
        PromptRecord {
            text: self.text.clone(),
            chat: self.chat.clone().map(|chat| ChatRecord {
                system: Some(chat.system).filter(|system| !system.is_empty()),
                rendered: chat.rendered,
            }),
            tokens: self.tokens.iter().map(|token| token.id).collect(),
            pieces: self
                .tokens
                .iter()
                .map(|token| token.piece.piece())
                .collect(),
            n_prefilled: timings.n_prefilled,
            prefill_secs: timings.prefill_secs,
        }
    }
}

//! A text as far as its map shows it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decoding::TokenId;
use crate::generation::formatting::{pane_letter, quoted};
use crate::generation::{
    ChatRecord, Generation, GenerationConfig, ModelInfo, Piece, PieceKind, PromptForm,
    PromptRecord, PromptText, TextModels, Vocabulary,
};

/// How many of the tokens that stay the same are quoted.
const N_QUOTED: usize = 9;

/// A text without its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MappedText {
    /// The letter of its pane, counted from A.
    pub place: usize,
    /// The name of its pane.
    pub name: String,
    pub config: GenerationConfig,
    pub model: Arc<ModelInfo>,
    second_model: Option<Arc<ModelInfo>>,
    prompt: String,
    chat: Option<ChatRecord>,
    not_applied: Vec<String>,
    contradiction: Option<Arc<str>>,
    pub steps: Vec<(TokenId, Piece)>,
    /// The memory that a step took at most to record more than the head of its distribution. With as
    /// much, the text is recorded again as it was.
    pub n_detail_bytes: usize,
    /// Knows at least the tokens that a map names.
    #[serde(skip)]
    pub vocabulary: Arc<Vocabulary>,
}

impl MappedText {
    /// Takes from a text of the pane with this letter what its map shows.
    pub fn of(text: &Generation, place: usize) -> Self {
        let steps = text.steps.iter();
        let details = steps.clone().map(|step| step.trace.raw.detail.n_bytes());
        Self {
            place,
            name: text.name.clone(),
            config: text.config.clone(),
            model: Arc::clone(&text.model),
            second_model: text.second_model.clone(),
            prompt: text.prompt.text.clone(),
            chat: text.prompt.chat.clone(),
            not_applied: text.not_applied.clone(),
            contradiction: text.contradiction.clone(),
            n_detail_bytes: details.max().unwrap_or_default(),
            steps: steps.map(|step| (step.token, step.piece.clone())).collect(),
            vocabulary: Arc::clone(&text.vocabulary),
        }
    }

    /// Returns the text without its steps, for captions.
    pub fn without_steps(&self) -> Generation {
        let (name, config) = (self.name.clone(), self.config.clone());
        let prompt = PromptRecord {
            text: self.prompt.clone(),
            chat: self.chat.clone(),
            ..PromptRecord::default()
        };
        let models = TextModels {
            model: Arc::clone(&self.model),
            second_model: self.second_model.clone(),
            vocabulary: Arc::clone(&self.vocabulary),
        };
        Generation {
            not_applied: self.not_applied.clone(),
            contradiction: self.contradiction.clone(),
            ..Generation::begin(name, config, Arc::new(prompt), models)
        }
    }

    /// Returns the prompt that it continues.
    pub fn prompt(&self) -> PromptText {
        PromptText {
            text: self.prompt.clone(),
            form: PromptForm::of(self.chat.as_ref()),
        }
    }

    /// Names the pane with its letter: "D Pure sampling".
    pub fn pane_words(&self) -> String {
        format!("{} {}", pane_letter(self.place), self.name)
    }

    /// Returns a token of the text in quotes.
    pub fn token_words(&self, step: usize) -> String {
        let step = self.steps.get(step);
        step.map_or_else(String::new, |(_, piece)| quoted(piece))
    }

    /// Returns the last of its first `n_same` tokens.
    pub fn quoted(&self, n_same: usize) -> String {
        let start = n_same.saturating_sub(N_QUOTED);
        let steps = self.steps.get(start..n_same).unwrap_or_default();
        let pieces = steps.iter().map(|(_, piece)| piece);
        let visible = pieces.filter(|piece| piece.kind == PieceKind::Text);
        let bytes: Vec<u8> = visible.flat_map(|piece| piece.bytes.clone()).collect();
        let words = String::from_utf8_lossy(&bytes);
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let ellipsis = if start > 0 { "… " } else { "" };
        format!("{ellipsis}{words}")
    }
}

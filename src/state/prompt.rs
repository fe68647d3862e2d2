//! The prompt before it is sent: what it is, what the model makes of it, and why it can't be used.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AppState, Effect, capital};
use crate::generation::{ChatSupport, PromptForm, PromptRecord, PromptText, PromptToken};
use crate::worker::Request;

/// What the model is to make of the prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptMode {
    /// Continue it, as it stands.
    #[default]
    Raw,
    /// Answer it, through the model's chat template.
    Chat,
}

impl PromptMode {
    /// All, from left to right.
    pub const ALL: [Self; 2] = [Self::Raw, Self::Chat];

    /// The word on the switch.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "Raw",
            Self::Chat => "Chat",
        }
    }

    /// What it means.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Raw => "The model continues the text as it stands.",
            Self::Chat => "The model answers a message, put into its own chat template.",
        }
    }
}

/// What the model makes of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptReading {
    /// The prompt that was read; the one in the window may have changed since.
    pub prompt: PromptText,
    /// Its tokens, or why it has none.
    pub tokens: Result<Arc<[PromptToken]>, String>,
}

/// How long a prompt is, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptLength {
    /// So many it has.
    pub n_tokens: usize,
    /// So many the model reads at most.
    pub n_max: usize,
}

impl PromptLength {
    /// Whether it fits.
    pub const fn fits(self) -> bool {
        self.n_tokens <= self.n_max
    }
}

impl std::fmt::Display for PromptLength {
    /// "10 tokens", and where they are too many, how many the model reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.n_tokens {
            1 => write!(f, "1 token")?,
            n => write!(f, "{n} tokens")?,
        }
        if self.fits() {
            return Ok(());
        }
        write!(f, ", the model reads {} at most", self.n_max)
    }
}

impl AppState {
    /// The prompt with what the model is to make of it.
    pub fn prompt_text(&self) -> PromptText {
        match self.prompt_mode {
            PromptMode::Raw => PromptText::raw(&self.prompt),
            PromptMode::Chat => PromptText::chat(&self.prompt, &self.system),
        }
    }

    /// Why the model can't be talked to; nothing where it can, or where there is no model yet.
    pub fn chat_complaint(&self) -> Option<String> {
        match &self.model.ready()?.chat {
            ChatSupport::Missing => {
                Some("This model has no chat template, it only continues texts".to_owned())
            }
            ChatSupport::Ready => None,
            ChatSupport::Broken { error } => Some(capital(error)),
        }
    }

    /// How long the prompt is, as far as is known: while one types, the last answer stays, so that
    /// the count does not flicker.
    pub fn prompt_length(&self) -> Option<PromptLength> {
        let tokens = self.prompt_tokens()?;
        Some(PromptLength {
            n_tokens: tokens.len(),
            n_max: self.model.ready()?.info.n_context,
        })
    }

    /// The prompt as the model reads it, of the last answer.
    pub fn prompt_tokens(&self) -> Option<&Arc<[PromptToken]>> {
        self.prompt_reading.as_ref()?.tokens.as_ref().ok()
    }

    /// Why the model makes nothing of the prompt, of the last answer.
    pub fn prompt_refusal(&self) -> Option<String> {
        let is_chat = self.prompt_mode == PromptMode::Chat;
        let of_model = self.chat_complaint().filter(|_| is_chat);
        of_model.or_else(|| {
            let reading = self.prompt_reading.as_ref()?;
            reading.tokens.as_ref().err().map(|error| capital(error))
        })
    }

    /// Why the prompt can't be continued or answered now.
    pub(super) fn prompt_complaint(&self) -> Option<String> {
        if self.prompt.is_empty() {
            let sentence = match self.prompt_mode {
                PromptMode::Raw => "Write a beginning first",
                PromptMode::Chat => "Write a message first",
            };
            return Some(sentence.to_owned());
        }
        // What was refused must not be held against a text that was written since.
        let reading = self.prompt_reading.as_ref();
        let is_old = reading.is_some_and(|reading| !self.writes(&reading.prompt));
        if is_old {
            let is_chat = self.prompt_mode == PromptMode::Chat;
            return self.chat_complaint().filter(|_| is_chat);
        }
        let too_long = || {
            let length = self.prompt_length().filter(|length| !length.fits());
            length.map(|length| length.to_string())
        };
        self.prompt_refusal().or_else(too_long)
    }

    /// Whether a text was written from the prompt that stands here now.
    pub(super) fn is_prompt_of(&self, record: &PromptRecord) -> bool {
        let system = record.chat.as_ref().map(|chat| chat.system.as_str());
        record.text == self.prompt && system == self.system_text()
    }

    /// Whether this is the prompt that stands here now.
    fn writes(&self, prompt: &PromptText) -> bool {
        let system = match &prompt.form {
            PromptForm::Raw => None,
            PromptForm::Chat { system } => Some(system.as_str()),
        };
        prompt.text == self.prompt && system == self.system_text()
    }

    fn system_text(&self) -> Option<&str> {
        (self.prompt_mode == PromptMode::Chat).then_some(self.system.as_str())
    }

    /// Asks how the model reads the prompt.
    pub(super) fn read_prompt(&mut self) -> Vec<Effect> {
        let is_chat = self.prompt_mode == PromptMode::Chat;
        if self.prompt.is_empty() || (is_chat && self.chat_complaint().is_some()) {
            self.prompt_reading = None;
            return Vec::new();
        }
        if self.model.ready().is_none() {
            return Vec::new();
        }
        let prompt = self.prompt_text();
        vec![Effect::Send(Request::Tokenize { prompt })]
    }

    /// Takes the answer in; one about an older prompt comes too late.
    pub(super) fn on_tokenized(
        &mut self,
        prompt: PromptText,
        tokens: Result<Vec<PromptToken>, String>,
    ) {
        if self.writes(&prompt) {
            let tokens = tokens.map(Arc::from);
            self.prompt_reading = Some(PromptReading { prompt, tokens });
        }
    }

    /// Puts the prompt on the clipboard as the model reads it, with its special tokens as they are
    /// written; nothing where that is not known yet of the prompt that stands here now.
    pub(super) fn copy_prompt(&self) -> Vec<Effect> {
        let reading = self.prompt_reading.as_ref();
        let reading = reading.filter(|reading| self.writes(&reading.prompt));
        let text = |tokens: &Arc<[PromptToken]>| {
            let pieces = tokens.iter().map(|token| token.piece.bytes.as_slice());
            String::from_utf8_lossy(&pieces.collect::<Vec<_>>().concat()).into_owned()
        };
        let text = reading.and_then(|reading| reading.tokens.as_ref().ok().map(text));
        text.map(Effect::CopyText).into_iter().collect()
    }
}

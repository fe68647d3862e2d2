//! The prompt as edited: its mode, how the model tokenizes it, and why it can't be used.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AppState, Effect, capitalize};
use crate::generation::{ChatSupport, PromptForm, PromptRecord, PromptText, PromptToken};
use crate::worker::Request;

/// How the model treats the prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptMode {
    /// Continue it as plain text.
    #[default]
    Raw,
    /// Answer it, formatted by the model's chat template.
    Chat,
}

impl PromptMode {
    /// Both modes, from left to right.
    pub const ALL: [Self; 2] = [Self::Raw, Self::Chat];

    /// Returns the label on the switch.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "Raw",
            Self::Chat => "Chat",
        }
    }

    /// Returns the tooltip of the switch.
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Raw => "The model continues the text exactly as written",
            Self::Chat => "The model answers the message, formatted by its chat template",
        }
    }
}

/// How the model tokenizes a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptReading {
    /// The prompt that was tokenized; the one in the window may have changed since.
    pub prompt: PromptText,
    /// Its tokens, or why it could not be tokenized.
    pub tokens: Result<Arc<[PromptToken]>, String>,
}

/// The length of a prompt, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptLength {
    pub n_tokens: usize,
    /// The model's context size.
    pub n_max: usize,
}

impl PromptLength {
    /// Returns whether the prompt fits into the model's context.
    pub const fn fits(self) -> bool {
        self.n_tokens <= self.n_max
    }
}

impl std::fmt::Display for PromptLength {
    /// Writes "10 tokens", followed by the context size if the prompt is too long.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.n_tokens {
            1 => write!(f, "1 token")?,
            n => write!(f, "{n} tokens")?,
        }
        if self.fits() {
            return Ok(());
        }
        write!(f, ", but the model reads at most {}", self.n_max)
    }
}

impl AppState {
    /// Returns the prompt with its mode, as it is sent to the engine.
    pub fn prompt_text(&self) -> PromptText {
        match self.prompt_mode {
            PromptMode::Raw => PromptText::raw(&self.prompt),
            PromptMode::Chat => PromptText::chat_with(&self.prompt, self.system_message()),
        }
    }

    /// Returns the system message that a chat gets.
    fn system_message(&self) -> Option<String> {
        let is_sent = self.sends_empty_system || !self.system.is_empty();
        is_sent.then(|| self.system.clone())
    }

    /// Returns why chat mode is unavailable, or `None` if it is available or no model is loaded.
    pub fn chat_unavailable_reason(&self) -> Option<String> {
        match &self.model.ready()?.chat {
            ChatSupport::Missing => {
                Some("This model has no chat template; use raw mode instead".to_owned())
            }
            ChatSupport::Ready => None,
            ChatSupport::Broken { error } => Some(capitalize(error)),
        }
    }

    /// Returns the length of the prompt, if known. While the user types, this is the last length
    /// that was reported, so that the count does not flicker.
    pub fn prompt_length(&self) -> Option<PromptLength> {
        let tokens = self.prompt_tokens()?;
        Some(PromptLength {
            n_tokens: tokens.len(),
            n_max: self.model.ready()?.info.n_context,
        })
    }

    /// Returns how many tokens fit into the context after the prompt, if that is fewer than the
    /// token limit.
    pub fn context_limit(&self) -> Option<usize> {
        let PromptLength { n_tokens, n_max } = self.prompt_length()?;
        let room = n_max.checked_sub(n_tokens)?;
        (room < self.limits.max_new_tokens).then_some(room)
    }

    /// Returns the tokens of the last prompt that was tokenized.
    pub fn prompt_tokens(&self) -> Option<&Arc<[PromptToken]>> {
        self.prompt_reading.as_ref()?.tokens.as_ref().ok()
    }

    /// Returns why the model can't use the last prompt that was tokenized.
    pub fn prompt_refusal(&self) -> Option<String> {
        self.chat_mode_error().or_else(|| {
            let reading = self.prompt_reading.as_ref()?;
            reading.tokens.as_ref().err().map(|error| capitalize(error))
        })
    }

    /// Returns why chat mode is unavailable, if it is the current mode.
    fn chat_mode_error(&self) -> Option<String> {
        let is_chat = self.prompt_mode == PromptMode::Chat;
        self.chat_unavailable_reason().filter(|_| is_chat)
    }

    pub(super) fn empty_prompt_reason(&self) -> Option<String> {
        let sentence = match self.prompt_mode {
            PromptMode::Raw => "Type a prompt first",
            PromptMode::Chat => "Type a message first",
        };
        self.prompt.is_empty().then(|| sentence.to_owned())
    }

    /// Returns why the prompt can't be continued or answered now.
    pub(super) fn prompt_blocking_reason(&self) -> Option<String> {
        if let Some(reason) = self.empty_prompt_reason() {
            return Some(reason);
        }
        // An outdated result says nothing about the current prompt.
        let reading = self.prompt_reading.as_ref();
        let is_outdated = reading.is_some_and(|reading| !self.is_current_prompt(&reading.prompt));
        if is_outdated {
            return self.chat_mode_error();
        }
        let too_long = || {
            let length = self.prompt_length().filter(|length| !length.fits());
            length.map(|length| length.to_string())
        };
        self.prompt_refusal().or_else(too_long)
    }

    /// Returns whether a text was generated from the current prompt.
    pub(super) fn is_prompt_of(&self, record: &PromptRecord) -> bool {
        record.text == self.prompt && PromptForm::of(record.chat.as_ref()) == self.prompt_form()
    }

    fn is_current_prompt(&self, prompt: &PromptText) -> bool {
        prompt.text == self.prompt && prompt.form == self.prompt_form()
    }

    fn prompt_form(&self) -> PromptForm {
        match self.prompt_mode {
            PromptMode::Raw => PromptForm::Raw,
            PromptMode::Chat => PromptForm::Chat {
                system: self.system_message(),
            },
        }
    }

    /// Asks the engine to tokenize the prompt.
    pub(crate) fn tokenize_prompt(&mut self) -> Vec<Effect> {
        if self.prompt.is_empty() || self.chat_mode_error().is_some() {
            self.prompt_reading = None;
            return Vec::new();
        }
        if self.model.ready().is_none() {
            return Vec::new();
        }
        let prompt = self.prompt_text();
        vec![Effect::Send(Request::Tokenize {
            prompt,
            model: None,
        })]
    }

    /// Stores the engine's answer, unless the prompt has changed since.
    pub(super) fn on_tokenized(
        &mut self,
        prompt: PromptText,
        tokens: Result<Vec<PromptToken>, String>,
    ) {
        if self.is_current_prompt(&prompt) {
            let tokens = tokens.map(Arc::from);
            self.prompt_reading = Some(PromptReading { prompt, tokens });
        }
    }

    /// Copies the prompt as the model reads it, special tokens included. Does nothing until the
    /// current prompt has been tokenized.
    pub(super) fn copy_prompt(&self) -> Vec<Effect> {
        let reading = self.prompt_reading.as_ref();
        let reading = reading.filter(|reading| self.is_current_prompt(&reading.prompt));
        let text = |tokens: &Arc<[PromptToken]>| {
            let pieces = tokens.iter().map(|token| token.piece.bytes.as_slice());
            String::from_utf8_lossy(&pieces.collect::<Vec<_>>().concat()).into_owned()
        };
        let text = reading.and_then(|reading| reading.tokens.as_ref().ok().map(text));
        text.map(Effect::CopyText).into_iter().collect()
    }
}

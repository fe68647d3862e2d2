//! Prompts as the user enters them (a text to continue or a message to answer), and their tokens.

use super::Piece;
use crate::decoding::TokenId;

/// A prompt as the user entered it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptText {
    pub text: String,
    pub form: PromptForm,
}

/// Whether the model continues the prompt or answers it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PromptForm {
    /// Continue the text unchanged.
    #[default]
    Raw,
    /// Answer the text, rendered as a user message with the model's chat template.
    Chat {
        /// The system message, which may be empty. Many templates write one of their own if there is
        /// none.
        system: Option<String>,
    },
}

impl PromptText {
    /// Creates a prompt that the model continues.
    pub fn raw(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            form: PromptForm::Raw,
        }
    }

    /// Creates a message that the model answers. An empty `system` stands for no system message.
    pub fn chat(text: impl Into<String>, system: impl Into<String>) -> Self {
        let system = Some(system.into());
        Self::chat_with(text, system.filter(|system| !system.is_empty()))
    }

    /// Creates a message that the model answers, with a system message that may be empty.
    pub fn chat_with(text: impl Into<String>, system: Option<String>) -> Self {
        Self {
            text: text.into(),
            form: PromptForm::Chat { system },
        }
    }
}

impl PromptForm {
    /// Returns the form of a prompt that was read as this chat message, or as raw text if `None`.
    pub fn of(chat: Option<&ChatRecord>) -> Self {
        chat.map_or(Self::Raw, |chat| Self::Chat {
            system: chat.system.clone(),
        })
    }
}

impl From<String> for PromptText {
    fn from(text: String) -> Self {
        Self::raw(text)
    }
}

impl From<&str> for PromptText {
    fn from(text: &str) -> Self {
        Self::raw(text)
    }
}

/// One token of a tokenized prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptToken {
    pub id: TokenId,
    pub piece: Piece,
}

/// How a chat message was presented to a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatRecord {
    /// The system message, which may be empty, or `None` if there was none.
    pub system: Option<String>,
    /// The chat template's output, which is the text that the model read.
    pub rendered: String,
}

/// Whether a model has a usable chat template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ChatSupport {
    /// The model has no chat template; it can only continue texts.
    #[default]
    Missing,
    Ready,
    /// The chat template can't be used.
    Broken {
        /// The reason, which can be shown to the user.
        error: String,
    },
}

//! A prompt as the user gives it: a text to continue, or a message to answer; and its tokens.

use super::Piece;
use crate::decoding::TokenId;

/// A prompt as the user gives it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptText {
    /// What the user wrote.
    pub text: String,
    /// What the model is to make of it.
    pub form: PromptForm,
}

/// What a model is to make of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PromptForm {
    /// Continue it, as it stands.
    #[default]
    Raw,
    /// Answer it: it is a message, to be put into the model's chat template.
    Chat {
        /// How the model is to behave; empty for nothing.
        system: String,
    },
}

impl PromptText {
    /// A text to continue.
    pub fn raw(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            form: PromptForm::Raw,
        }
    }

    /// A message to answer.
    pub fn chat(text: impl Into<String>, system: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            form: PromptForm::Chat {
                system: system.into(),
            },
        }
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

/// One token of a prompt as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptToken {
    /// Its place in the vocabulary.
    pub id: TokenId,
    /// What it stands for.
    pub piece: Piece,
}

/// How a message was put before a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatRecord {
    /// How the model was to behave; empty for nothing.
    pub system: String,
    /// The text that the chat template made, which is what the model read.
    pub rendered: String,
}

/// Whether a model can be talked to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ChatSupport {
    /// It has no chat template, and only continues texts.
    #[default]
    Missing,
    /// It has a chat template.
    Ready,
    /// It has a chat template that can't be used.
    Broken {
        /// Why not, fit to be shown.
        error: String,
    },
}

//! Why a chat template could not be parsed or rendered.

use std::error::Error as _;

use minijinja::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use super::N_MAX_TEXT_BYTES;

/// Why a chat template could not be parsed or rendered. Every message can be shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ChatError {
    /// The model has no template.
    #[error("this model has no chat template; it can only continue a text")]
    Missing,

    /// The model has several templates, and none is named "default".
    #[error("this model has several chat templates, but none is named \"default\": {names}")]
    NoDefault {
        /// Separated by commas.
        names: String,
    },

    /// The template is not valid Jinja.
    #[error("the model’s chat template could not be understood{}: {reason}", on_line(*line))]
    ParseFailed { line: Option<usize>, reason: String },

    /// The source of the template is too long.
    #[error("the model’s chat template has {n_bytes} bytes, but at most {n_max} are allowed")]
    SourceTooLong { n_bytes: usize, n_max: usize },

    /// The template called `raise_exception`.
    #[error("the model’s chat template rejects this chat: {reason}")]
    Rejected {
        /// The template's own message.
        reason: String,
    },

    /// The template called `raise_exception`, but renders without the system prompt.
    #[error("the model’s chat template does not accept a system prompt: {reason}")]
    SystemPromptRejected {
        /// The template's own message.
        reason: String,
    },

    /// The template renders the same text with and without the system prompt.
    #[error(
        "the model’s chat template ignores the system prompt; put its text into the prompt instead"
    )]
    SystemPromptIgnored,

    /// The template raised an error while it was rendered.
    #[error("the model’s chat template failed{}: {reason}", on_line(*line))]
    Failed { line: Option<usize>, reason: String },

    /// The template used up its instruction limit.
    #[error("the model’s chat template ran for too long{}", on_line(*line))]
    OutOfInstructions {
        /// The line at which it was interrupted.
        line: Option<usize>,
    },

    /// The rendered text is too long.
    #[error("the model’s chat template produced more than {n_max} bytes")]
    OutputTooLong { n_max: usize },

    /// The template made the interpreter panic.
    #[error("the model’s chat template crashed its interpreter")]
    Panicked,

    /// The template took too long, although it ran few instructions.
    #[error("the model’s chat template ran for too long")]
    OutOfTime,

    /// The template needed too much memory.
    #[error("the model’s chat template used too much memory")]
    OutOfMemory,

    /// The system could not start a thread or process to run the template in.
    #[error("the model’s chat template could not be run: {reason}")]
    Unavailable { reason: String },
}

/// The message with which a template called `raise_exception`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct RaisedException(pub String);

/// A template exceeded the output limit.
#[derive(Debug, thiserror::Error)]
#[error("the output is too long")]
pub(super) struct OutputLimitExceeded;

impl ChatError {
    pub(super) fn parse_failed(error: &Error) -> Self {
        Self::ParseFailed {
            line: error.line(),
            reason: reason_of(error),
        }
    }

    pub(super) fn failed(error: &Error) -> Self {
        if let Some(RaisedException(reason)) = source_of(error) {
            let reason = reason.clone();
            return Self::Rejected { reason };
        }
        if source_of::<OutputLimitExceeded>(error).is_some() {
            let n_max = N_MAX_TEXT_BYTES;
            return Self::OutputTooLong { n_max };
        }
        let innermost = innermost(error);
        let line = innermost.line();
        match innermost.kind() {
            ErrorKind::OutOfFuel => Self::OutOfInstructions { line },
            _ => Self::Failed {
                line,
                reason: reason_of(innermost),
            },
        }
    }
}

fn on_line(line: Option<usize>) -> String {
    line.map(|line| format!(" on line {line}"))
        .unwrap_or_default()
}

fn reason_of(error: &Error) -> String {
    let kind = error.kind().to_string();
    match error.detail() {
        Some(detail) if !detail.is_empty() => detail.to_owned(),
        _ => kind,
    }
}

/// Returns the first error of type `E` in the chain of sources, or `None` if there is none.
fn source_of<E: std::error::Error + 'static>(error: &Error) -> Option<&E> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        source = error.source();
    }
    None
}

/// Returns the root cause: if a macro failed, the error inside the macro rather than its caller's.
fn innermost(error: &Error) -> &Error {
    let mut innermost = error;
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<Error>() {
            innermost = error;
        }
        source = error.source();
    }
    innermost
}

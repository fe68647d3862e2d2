//! Why a chat can't be written as the model wants it.

use std::error::Error as _;

use minijinja::{Error, ErrorKind};

use super::N_MAX_TEXT_BYTES;

/// Why a chat can't be written as the model wants it. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The model brings no template.
    #[error("this model has no chat template; without one it only continues a text")]
    Missing,

    /// Several templates, of which none is the usual one.
    #[error("this model has several chat templates, and none is named \"default\": {names}")]
    NoDefault {
        /// How they are called.
        names: String,
    },

    /// The template is no Jinja.
    #[error("the model's chat template could not be understood{}: {reason}", in_line(*line))]
    Unreadable {
        /// Where.
        line: Option<usize>,
        /// What stands there.
        reason: String,
    },

    /// The template is too long to be one.
    #[error("the model's chat template has {n_bytes} bytes, {n_max} at most are read")]
    TooLarge {
        /// How long it is.
        n_bytes: usize,
        /// How long it may be.
        n_max: usize,
    },

    /// The template itself says no.
    #[error("the model's chat template says: {reason}")]
    Refused {
        /// What it says.
        reason: String,
    },

    /// The template says no, and would not without the system text.
    #[error("the model's chat template takes no system text; it says: {reason}")]
    SystemRefused {
        /// What it says.
        reason: String,
    },

    /// The template is the same with and without the system text.
    #[error("the model's chat template leaves the system text out; write it into the prompt")]
    SystemLeftOut,

    /// The template does what can't be done.
    #[error("the model's chat template failed{}: {reason}", in_line(*line))]
    Failed {
        /// Where.
        line: Option<usize>,
        /// What went wrong.
        reason: String,
    },

    /// The template would run on.
    #[error("the model's chat template did not come to an end{}", in_line(*line))]
    Endless {
        /// Where it was.
        line: Option<usize>,
    },

    /// The template wrote too much.
    #[error("the model's chat template wrote more than {n_max} bytes")]
    TooLong {
        /// How many are read.
        n_max: usize,
    },

    /// The template led its interpreter astray.
    #[error("the model's chat template asked for something impossible")]
    Impossible,

    /// The system gives no thread to render in.
    #[error("the model's chat template could not be run: {reason}")]
    NoThread {
        /// What the system said.
        reason: String,
    },
}

/// What a template raised by itself.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub String);

/// A template printed too much.
#[derive(Debug, thiserror::Error)]
#[error("it printed too much")]
pub(super) struct TooLong;

impl ChatError {
    pub(super) fn unreadable(error: &Error) -> Self {
        Self::Unreadable {
            line: error.line(),
            reason: reason_of(error),
        }
    }

    pub(super) fn failed(error: &Error) -> Self {
        if let Some(Refusal(reason)) = source_of(error) {
            let reason = reason.clone();
            return Self::Refused { reason };
        }
        if source_of::<TooLong>(error).is_some() {
            let n_max = N_MAX_TEXT_BYTES;
            return Self::TooLong { n_max };
        }
        let innermost = innermost(error);
        let line = innermost.line();
        match innermost.kind() {
            ErrorKind::OutOfFuel => Self::Endless { line },
            _ => Self::Failed {
                line,
                reason: reason_of(innermost),
            },
        }
    }
}

fn in_line(line: Option<usize>) -> String {
    line.map(|line| format!(" in line {line}"))
        .unwrap_or_default()
}

fn reason_of(error: &Error) -> String {
    let kind = error.kind().to_string();
    match error.detail() {
        Some(detail) if !detail.is_empty() => detail.to_owned(),
        _ => kind,
    }
}

/// The error of this kind that an error came from.
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

/// The error that the others came from: the one inside the macro that was called.
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

//! Why a check can't be read.

use super::MAX_SPEC_BYTES;

/// Why a check can't be read. Columns are 1-based and count the characters of the check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    #[error("a comma belongs after the closing quotation mark")]
    CommaMissing { column: usize },

    #[error("the check is empty")]
    Empty,

    #[error("‘{value}’ is no count of words")]
    InvalidCount { value: String, column: usize },

    #[error("the schema isn’t JSON: {reason}")]
    InvalidJson { reason: String, column: usize },

    #[error("‘{value}’ is no number; write ‘42’, or ‘42 within 0.5’")]
    InvalidNumber { value: String, column: usize },

    #[error("the pattern is invalid: {reason}")]
    InvalidPattern { reason: String, column: usize },

    #[error("the schema is invalid: {reason}")]
    InvalidSchema { reason: String, column: usize },

    #[error("‘{kind}’ lacks a value")]
    LacksValue { kind: &'static str, column: usize },

    /// An assertion of promptfoo that needs a model, a program or a service, or isn't supported.
    #[error("‘{name}’ can’t be judged here")]
    NotJudged { name: String },

    #[error("the closing quotation mark is missing")]
    QuoteOpen { column: usize },

    #[error("the pattern is too large")]
    PatternTooLarge { column: usize },

    #[error("a check has at most {} KB", MAX_SPEC_BYTES >> 10)]
    TooLong,
}

impl CheckError {
    pub(super) fn lacks_value(kind: &'static str) -> Self {
        Self::LacksValue { kind, column: 1 }
    }

    /// Returns where in the check the mistake is.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::CommaMissing { column }
            | Self::InvalidCount { column, .. }
            | Self::InvalidJson { column, .. }
            | Self::InvalidNumber { column, .. }
            | Self::InvalidPattern { column, .. }
            | Self::InvalidSchema { column, .. }
            | Self::LacksValue { column, .. }
            | Self::QuoteOpen { column }
            | Self::PatternTooLarge { column } => Some(*column),
            Self::Empty | Self::NotJudged { .. } | Self::TooLong => None,
        }
    }
}

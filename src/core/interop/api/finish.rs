//! The API's words for the reasons for which texts end.

use super::ApiError;
use crate::generation::{FinishReason, Generation};

/// Returns the word for the reason for which a text ended, or the error that ended it.
pub(super) fn word(text: &Generation) -> Result<&'static str, ApiError> {
    match &text.finish {
        Some(FinishReason::MaxTokens | FinishReason::ContextFull) => Ok("length"),
        Some(FinishReason::Failed { error }) => Err(ApiError::failed(error.clone())),
        Some(FinishReason::Cancelled | FinishReason::Interrupted) | None => {
            Err(ApiError::refused(503, "The text was stopped"))
        }
        Some(
            FinishReason::EndOfText
            | FinishReason::StopString { .. }
            | FinishReason::GrammarComplete
            | FinishReason::Paused
            | FinishReason::Scored
            | FinishReason::ByServer { .. },
        ) => Ok("stop"),
    }
}

/// Returns the word for an answer with this many tool calls.
pub(super) fn word_with_calls(text: &Generation, n_calls: usize) -> Result<&'static str, ApiError> {
    match word(text)? {
        "stop" if n_calls > 0 => Ok("tool_calls"),
        word => Ok(word),
    }
}

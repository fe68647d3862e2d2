//! Why a generation ended.

use serde::{Deserialize, Serialize};

/// Why a generation ended. The end of a text, and being stopped, are reasons and not errors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum FinishReason {
    /// The model drew one of its end-of-text tokens.
    EndOfText,
    /// The text held one of the stop strings.
    StopString {
        /// The one that was met.
        stop: String,
    },
    /// The limit on new tokens was reached.
    MaxTokens,
    /// The model can read no further.
    ContextFull,
    /// The user stopped it.
    Cancelled,
    /// A step failed; what was written before it is kept.
    Failed {
        /// What happened, fit to be shown.
        error: String,
    },
}

impl std::fmt::Display for FinishReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::EndOfText => f.write_str("End of text"),
            Self::StopString { stop } => write!(f, "Stop sequence {stop:?}"),
            Self::MaxTokens => f.write_str("Token limit"),
            Self::ContextFull => f.write_str("Context full"),
            Self::Cancelled => f.write_str("Stopped by you"),
            Self::Failed { error } => write!(f, "Stopped: {error}"),
        }
    }
}

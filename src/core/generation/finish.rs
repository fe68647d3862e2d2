//! Why a generation ended.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::decoding::GrammarRule;

/// Why a generation ended. Reaching the end of the text and being stopped are not errors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum FinishReason {
    /// The chain sampled one of the model's end-of-text tokens.
    EndOfText,
    /// The text contained this stop sequence.
    StopString { stop: String },
    /// The grammar accepts the text, and nothing can follow.
    GrammarComplete,
    /// `max_new_tokens` was reached.
    MaxTokens,
    /// The sequence fills the model's context window.
    ContextFull,
    /// The user stopped it.
    Cancelled,
    /// The program ended, or the window was closed, while it was being generated.
    Interrupted,
    /// It paused after the requested number of tokens.
    Paused,
    /// All tokens of a given text were scored.
    Scored,
    /// A server ended the text.
    ByServer {
        /// The server's own word for the reason, or `None` if it gave none.
        word: Option<String>,
    },
    /// A step failed; the text generated before it is kept.
    Failed {
        /// A message that can be shown to the user.
        error: String,
    },
}

impl FinishReason {
    /// The finish reason of a text that an error ended.
    pub fn failed(error: impl Display) -> Self {
        let error = error.to_string();
        Self::Failed { error }
    }

    /// Says why a text ended, and that it is unfinished if it stopped inside this grammar: "Token
    /// limit; the JSON is unfinished".
    pub fn words(&self, unfinished: Option<&GrammarRule>) -> String {
        match unfinished {
            Some(rule) => format!("{self}; the {} is unfinished", rule.subject()),
            None => self.to_string(),
        }
    }

    /// Whether the text can go on from where it ended: it was interrupted rather than completed.
    pub const fn can_continue(&self) -> bool {
        match self {
            Self::MaxTokens
            | Self::Cancelled
            | Self::Interrupted
            | Self::Paused
            | Self::ByServer { .. }
            | Self::Failed { .. } => true,
            Self::EndOfText
            | Self::StopString { .. }
            | Self::GrammarComplete
            | Self::ContextFull
            | Self::Scored => false,
        }
    }
}

impl Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfText => f.write_str("End of text"),
            Self::StopString { stop } => write!(f, "Stop sequence {stop:?}"),
            Self::GrammarComplete => f.write_str("Grammar complete"),
            Self::MaxTokens => f.write_str("Token limit"),
            Self::ContextFull => f.write_str("Context full"),
            Self::Cancelled => f.write_str("Stopped by you"),
            Self::Interrupted => f.write_str("Interrupted"),
            Self::Paused => f.write_str("Paused"),
            Self::Scored => f.write_str("Scored"),
            Self::ByServer { word: None } => {
                f.write_str("Ended by the server, which gave no reason")
            }
            Self::ByServer { word: Some(word) } => write!(f, "Ended by the server: {word:?}"),
            Self::Failed { error } => write!(f, "Stopped: {error}"),
        }
    }
}

//! Which code runs a model, and what that means for the panes.

use serde::{Deserialize, Serialize};

/// The code that runs a model's forward pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Implementation {
    /// Our own decoder: panes decode as one batch and share the KV cache of their common prefix.
    #[default]
    Quartet,
    /// candle-transformers, for architectures that our decoder does not support.
    CandleTransformers,
    /// A server, which runs the model and reports probabilities.
    Server,
}

impl Implementation {
    pub const fn is_quartet(&self) -> bool {
        matches!(self, Self::Quartet)
    }

    /// Returns the display name, or `None` for our own decoder, which needs no mention.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Quartet => None,
            Self::CandleTransformers => Some("candle-transformers"),
            Self::Server => Some("a server"),
        }
    }

    /// Returns a sentence about its limitations, or `None` for our own decoder.
    pub const fn limits(self) -> Option<&'static str> {
        match self {
            Self::Quartet => None,
            Self::CandleTransformers => Some(
                "Runs on candle-transformers: panes decode one at a time, and a text that you cut \
                 or branch may need another prefill",
            ),
            Self::Server => Some(
                "Runs on a server: the record holds the probabilities that the server reported",
            ),
        }
    }
}

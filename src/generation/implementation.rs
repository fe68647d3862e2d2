//! Who computes a model, and what that means for the panes.

use serde::{Deserialize, Serialize};

/// Who computes a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Implementation {
    /// Our own decoder: panes are read together and share what they have in common.
    #[default]
    Quartet,
    /// candle-transformers, for families that our decoder does not know.
    CandleTransformers,
}

impl Implementation {
    /// Whether this is our own decoder.
    pub const fn is_quartet(&self) -> bool {
        matches!(self, Self::Quartet)
    }

    /// What it is called where it is not our own decoder.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Quartet => None,
            Self::CandleTransformers => Some("candle-transformers"),
        }
    }

    /// What the model can't do because of it, as a sentence; none for our own decoder.
    pub const fn limits(self) -> Option<&'static str> {
        match self {
            Self::Quartet => None,
            Self::CandleTransformers => Some(
                "Runs through candle-transformers: panes are computed one after another, and a text \
                 that is cut or branched may be read again",
            ),
        }
    }
}

//! Which model there is, or why there is none.

use std::sync::Arc;

use crate::generation::RecommendedSampling;
use crate::generation::{ChatSupport, ModelInfo, Vocabulary};

/// A model that can write.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyModel {
    /// What it is.
    pub info: Arc<ModelInfo>,
    /// What its tokens stand for.
    pub vocabulary: Arc<Vocabulary>,
    /// How its author would choose its tokens, where the files say so.
    pub recommended_sampling: Option<Arc<RecommendedSampling>>,
    /// Whether it can be talked to.
    pub chat: ChatSupport,
}

/// Which model there is, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStatus {
    /// One is on its way.
    Loading {
        /// The part that is done, between 0 and 1.
        fraction: f32,
        /// The one that comes back if this one can't be loaded.
        before: Option<ReadyModel>,
    },
    /// One can write.
    Ready(ReadyModel),
    /// The one that was asked for could not be loaded, and there was none before it.
    Failed {
        /// Why, fit to be shown.
        error: String,
    },
    /// It was let go, or the first one was called off.
    Absent,
    /// It died with the engine's thread.
    Lost,
}

impl ModelStatus {
    /// The model that can write now.
    pub const fn ready(&self) -> Option<&ReadyModel> {
        match self {
            Self::Ready(model) => Some(model),
            Self::Loading { .. } | Self::Failed { .. } | Self::Absent | Self::Lost => None,
        }
    }

    /// The model that writes what was asked last: the ready one, or the one that is being replaced.
    pub(in crate::state) const fn writer(&self) -> Option<&ReadyModel> {
        match self {
            Self::Ready(model) => Some(model),
            Self::Loading { before, .. } => before.as_ref(),
            Self::Failed { .. } | Self::Absent | Self::Lost => None,
        }
    }

    /// Why nothing can be written now.
    pub fn complaint(&self) -> Option<&str> {
        match self {
            Self::Loading { .. } => Some("The model is being loaded"),
            Self::Ready(_) => None,
            Self::Failed { .. } | Self::Absent => Some("No model is open"),
            Self::Lost => Some("The engine has stopped, start it again first"),
        }
    }

    /// A new load begins; what can write now is kept in case it fails.
    pub(in crate::state) fn begin_loading(&mut self) {
        let before = match std::mem::replace(self, Self::Lost) {
            Self::Ready(model) => Some(model),
            Self::Loading { before, .. } => before,
            Self::Failed { .. } | Self::Absent | Self::Lost => None,
        };
        *self = Self::Loading {
            fraction: 0.0,
            before,
        };
    }
}

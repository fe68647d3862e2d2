//! The status of the current model.

use std::sync::Arc;

use crate::generation::RecommendedSampling;
use crate::generation::{ChatSupport, ModelInfo, Vocabulary};
use crate::state::capitalize;

/// A loaded model.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyModel {
    pub info: Arc<ModelInfo>,
    pub vocabulary: Arc<Vocabulary>,
    /// The settings recommended by the model's author, if its files contain any.
    pub recommended_sampling: Option<Arc<RecommendedSampling>>,
    /// Whether the model has a usable chat template.
    pub chat: ChatSupport,
    /// What could not be read of the model, and where its files contradict each other.
    pub load_warning: Option<String>,
}

/// The current model, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelStatus {
    Loading {
        /// Between 0 and 1.
        fraction: f32,
        /// The model to return to if this load fails or is cancelled.
        previous: Option<ReadyModel>,
    },
    Ready(ReadyModel),
    /// The model could not be loaded, and there was no previous one.
    Failed {
        /// A message that can be shown as it is.
        error: String,
    },
    /// The model was unloaded, or the first load was cancelled.
    Absent,
    /// The engine thread died, and the model with it.
    Lost,
}

impl ModelStatus {
    /// Returns the model if it can generate now.
    pub const fn ready(&self) -> Option<&ReadyModel> {
        match self {
            Self::Ready(model) => Some(model),
            Self::Loading { .. } | Self::Failed { .. } | Self::Absent | Self::Lost => None,
        }
    }

    /// Returns the model that running generations use: the current one, or the one that is being
    /// replaced.
    pub(in crate::state) const fn in_use(&self) -> Option<&ReadyModel> {
        match self {
            Self::Ready(model) => Some(model),
            Self::Loading { previous, .. } => previous.as_ref(),
            Self::Failed { .. } | Self::Absent | Self::Lost => None,
        }
    }

    /// Returns why the model can't generate now, or `None` if it can.
    pub fn blocking_reason(&self) -> Option<&str> {
        match self {
            Self::Loading { .. } => Some("The model is still loading"),
            Self::Ready(_) => None,
            Self::Failed { .. } | Self::Absent => Some("No model is open"),
            Self::Lost => Some("The engine has stopped; restart it first"),
        }
    }

    /// Returns why chat mode is unavailable, or `None` if it is available or no model is loaded.
    pub fn chat_unavailable_reason(&self) -> Option<String> {
        match &self.ready()?.chat {
            ChatSupport::Missing => {
                Some("This model has no chat template; use raw mode instead".to_owned())
            }
            ChatSupport::Ready { .. } => None,
            ChatSupport::Broken { error } => Some(capitalize(error)),
        }
    }

    /// Returns the size of the vocabulary, if the model can generate now.
    pub(in crate::state) fn n_vocab(&self) -> Option<usize> {
        self.ready().map(|model| model.info.n_vocab)
    }

    /// Starts a load and keeps the current model in case the load fails.
    pub(in crate::state) fn begin_loading(&mut self) {
        let previous = match std::mem::replace(self, Self::Lost) {
            Self::Ready(model) => Some(model),
            Self::Loading { previous, .. } => previous,
            Self::Failed { .. } | Self::Absent | Self::Lost => None,
        };
        *self = Self::Loading {
            fraction: 0.0,
            previous,
        };
    }
}

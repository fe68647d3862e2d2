//! What is known of the prompt before it is sent.

/// How many tokens the model makes of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptCount {
    /// The answer is not there yet.
    Unknown,
    /// So many, and they fit.
    Fits {
        /// How many.
        n_tokens: usize,
    },
    /// More than the model can read, or none where it needs one.
    Refused {
        /// Why, fit to be shown.
        reason: String,
    },
}

impl PromptCount {
    /// Judges the engine's answer by what the model can read.
    pub(super) fn of(answer: Result<usize, String>, n_context: Option<usize>) -> Self {
        match (answer, n_context) {
            (Ok(n_tokens), Some(n_max)) if n_tokens > n_max => Self::Refused {
                reason: format!("{n_tokens} tokens, the model reads {n_max} at most"),
            },
            (Ok(n_tokens), _) => Self::Fits { n_tokens },
            (Err(reason), _) => Self::Refused { reason },
        }
    }
}

//! Why a row of logits has no token to give.

/// A row of logits from which nothing can be drawn. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodingError {
    /// There was no score at all.
    #[error("the model gave no scores")]
    Empty,

    /// Some scores were NaN or +∞, so that no probability can be computed.
    #[error("the model gave {n_bad} scores that are not numbers")]
    NotNumbers {
        /// How many of the scores were NaN or +∞.
        n_bad: usize,
    },

    /// Every score was −∞.
    #[error("the model ruled out every token")]
    NothingPossible,
}

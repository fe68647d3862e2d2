//! Why a token cannot be sampled from a row of logits.

/// A row of logits that defines no distribution. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodingError {
    /// The row is empty.
    #[error("the model returned no logits")]
    Empty,

    /// Some logits are NaN or +∞.
    #[error("the model returned {n_bad} logits that are NaN or +∞")]
    NotNumbers { n_bad: usize },

    /// Every logit is −∞.
    #[error("the model ruled out every token")]
    NothingPossible,
}

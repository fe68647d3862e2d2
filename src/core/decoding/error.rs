//! Why a token cannot be sampled from a row of logits.

/// A row of logits that defines no distribution. Every message is fit to be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodingError {
    /// The row is empty.
    #[error("there are no logits")]
    Empty,

    /// Some logits are NaN or +∞.
    #[error("{}", not_numbers(*.n_bad))]
    NotNumbers { n_bad: usize },

    /// Every logit is −∞.
    #[error("every logit is −∞")]
    NothingPossible,
}

fn not_numbers(n_bad: usize) -> String {
    let logits = if n_bad == 1 { "logit is" } else { "logits are" };
    format!("{n_bad} {logits} NaN or +∞")
}

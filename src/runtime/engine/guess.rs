//! A drafted token, which the model is about to verify.

use crate::decoding::{Coins, TokenId, pick};

/// A drafted token.
#[derive(Debug, Clone)]
pub(super) struct Guess {
    pub token: TokenId,
    /// The probability with which a model drafted it.
    pub prob: Option<f64>,
    /// The probabilities of all tokens when it was drafted, if the rule needs them.
    pub probs: Vec<f64>,
}

impl Guess {
    pub(super) fn drawn_from(probs: Vec<f64>, coins: Coins) -> Self {
        let token = pick(&probs, coins.draw());
        Self {
            token,
            prob: probs.get(token.index()).copied(),
            probs,
        }
    }
}

//! Where a generation begins: after its prompt, or after a text that already exists.

use std::collections::VecDeque;

use crate::decoding::{SelectorState, Taken, TokenId};

/// What a generation continues, beyond its prompt. The default continues the prompt alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Continuation {
    /// The generated tokens that stay. They count as generated: for the limits, the windows of the
    /// penalties, and the positions of the coins.
    pub kept: Vec<TokenId>,
    /// What the selector had learned at the last kept token.
    pub selector_state: SelectorState,
    /// When the last kept token was generated, in seconds. The clock of the new steps goes on from
    /// here, so a break between two tokens does not count towards the speed.
    pub at_secs: f64,
    /// The tokens that the user picked to follow, in order. Each becomes a step with the evidence
    /// of its position; the selector decides only after them.
    pub by_hand: Vec<TokenId>,
    /// The steps after `by_hand` that a replay repeats: a token that is given again, or `None` where
    /// the chain chooses again. The text does not end before the last of them.
    pub repeated: Vec<Option<TokenId>>,
    /// Whether the given tokens are those of another text that is only read, so that the user
    /// picked none of them.
    pub reads: bool,
    /// After how many new tokens to pause. `None` for no pause.
    pub pause_after: Option<usize>,
}

impl Continuation {
    /// Returns the tokens that come next, whatever the chain would draw, and `None` where it draws.
    pub fn taken(&self) -> VecDeque<Option<Taken>> {
        let taken = if self.reads {
            Taken::Given
        } else {
            Taken::ByHand
        };
        let by_hand = self.by_hand.iter().copied().map(Some);
        let all = by_hand.chain(self.repeated.iter().copied());
        all.map(|token| token.map(taken)).collect()
    }
}

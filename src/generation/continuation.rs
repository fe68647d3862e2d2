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
    /// Whether `by_hand` holds the tokens of another text that is only read, so that the user
    /// picked none of them.
    pub reads: bool,
    /// After how many new tokens to pause. `None` for no pause.
    pub pause_after: Option<usize>,
}

impl Continuation {
    /// Returns the tokens that come next, whatever the chain would draw.
    pub(crate) fn taken(&self) -> VecDeque<Taken> {
        let taken = if self.reads {
            Taken::Given
        } else {
            Taken::ByHand
        };
        self.by_hand.iter().copied().map(taken).collect()
    }
}

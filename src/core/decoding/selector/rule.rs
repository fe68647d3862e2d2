//! What a selector does and says about itself, besides its description.

use super::{Candidates, Coins, Draw, History};

/// What a selector may look at besides the candidates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Toss<'a> {
    pub coins: Coins,
    pub history: History<'a>,
}

/// The two numbers of an adaptive selector, or `None` before its first step.
pub(super) type Memory = Option<[f64; 2]>;

/// The arithmetic of one selector. Everything else about it is in its [`SelectorSpec`].
///
/// [`SelectorSpec`]: super::SelectorSpec
pub(super) trait SelectorRule {
    /// Picks a candidate, and learns from the pick.
    fn pick(&self, toss: Toss<'_>, memory: &mut Memory, candidates: &mut Candidates) -> Draw;

    /// Returns what it knows after a token that it did not pick, as if it had. `prob_before` is the
    /// token's probability before the selector.
    fn learn(&self, memory: Memory, _prob_before: f64, _draw: &Draw) -> Memory {
        memory
    }

    /// Returns whether it can know `now` after it learned from a token, if it knew `before`.
    /// `prob_before` is the token's probability before the selector, if it is known.
    fn follows(
        &self,
        now: Memory,
        before: Memory,
        _draw: &Draw,
        _prob_before: Option<f64>,
    ) -> bool {
        now == before
    }

    /// Ends the sentence that describes a chain: ", keeping the surprise near 5 bits".
    fn ending(&self) -> String {
        String::new()
    }
}

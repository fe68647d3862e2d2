//! Who chose the tokens of a text.

use crate::decoding::{Draw, Picked};
use crate::generation::Generation;

/// How many tokens of a text were chosen by its settings, and how many were given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WrittenBy {
    /// Chosen by the chain, its beams or its drafts.
    pub n_by_settings: usize,
    /// Picked or typed by the user.
    pub n_by_hand: usize,
    /// Tokens of a given text, which were only scored.
    pub n_scored: usize,
    /// Chosen by a server's sampler.
    pub n_by_server: usize,
}

impl WrittenBy {
    /// Counts the tokens of a text as they are marked.
    pub fn of(text: &Generation) -> Self {
        let steps = text.steps.iter();
        let each = steps.map(|step| Self::one(&step.trace.draw));
        each.fold(Self::default(), Self::plus)
    }

    /// Returns how many tokens the settings did not choose.
    pub const fn n_given(&self) -> usize {
        self.n_by_hand + self.n_scored + self.n_by_server
    }

    /// Returns how many tokens there are.
    pub const fn n_tokens(&self) -> usize {
        self.n_by_settings + self.n_given()
    }

    /// Adds the tokens of another text.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            n_by_settings: self.n_by_settings + other.n_by_settings,
            n_by_hand: self.n_by_hand + other.n_by_hand,
            n_scored: self.n_scored + other.n_scored,
            n_by_server: self.n_by_server + other.n_by_server,
        }
    }

    fn one(draw: &Draw) -> Self {
        let mut written = Self::default();
        match draw.picked {
            Picked::ByChain | Picked::ByBeams | Picked::ByRatio => written.n_by_settings = 1,
            Picked::ByHand => written.n_by_hand = 1,
            Picked::Given => written.n_scored = 1,
            Picked::ByServer => written.n_by_server = 1,
        }
        written
    }
}

/// Returns whether a token is marked as chosen by the settings of its text.
pub const fn is_by_settings(draw: &Draw) -> bool {
    matches!(
        draw.picked,
        Picked::ByChain | Picked::ByBeams | Picked::ByRatio
    )
}

//! Collects the contradictions of one text.

use super::{Contradiction, ContradictionKind, RunPlace};
use crate::decoding::{Coins, History, SelectorState, TokenId};
use crate::generation::formatting::quoted;
use crate::generation::{Generation, GenerationConfig, Implementation, Step};

/// What was found in one text.
pub(super) struct Found {
    place: RunPlace,
    pub all: Vec<Contradiction>,
}

/// A step with everything that it can be compared with.
#[derive(Clone, Copy)]
pub(super) struct StepAt<'a> {
    pub text: &'a Generation,
    pub index: usize,
    pub step: &'a Step,
    /// The settings that wrote it.
    pub config: &'a GenerationConfig,
    /// The prompt's tokens, then those of the steps before it.
    pub tokens: &'a [TokenId],
}

impl Found {
    pub(super) const fn new(place: RunPlace) -> Self {
        let all = Vec::new();
        Self { place, all }
    }

    /// Notes something about the text as a whole.
    pub(super) fn text(&mut self, kind: ContradictionKind, words: impl Into<String>) {
        self.push(None, kind, words.into());
    }

    /// Notes something about a step.
    pub(super) fn step(
        &mut self,
        at: StepAt<'_>,
        kind: ContradictionKind,
        words: impl Into<String>,
    ) {
        self.push(Some(at.index), kind, words.into());
    }

    fn push(&mut self, step: Option<usize>, kind: ContradictionKind, words: String) {
        self.all.push(Contradiction {
            place: self.place,
            step,
            kind,
            words,
        });
    }
}

impl<'a> StepAt<'a> {
    /// Whether a server reported its distribution, so that the tokens below the head are assumed.
    pub(super) fn is_served(&self) -> bool {
        self.text.model.implementation == Implementation::Server
    }

    pub(super) fn coins(&self) -> Coins {
        Coins {
            seed: self.config.seed,
            position: self.tokens.len() as u64,
        }
    }

    pub(super) fn history(&self) -> History<'a> {
        History::new(self.tokens, self.text.prompt.tokens.len())
    }

    /// Returns what the selector had learned before the step.
    pub(super) fn state_before(&self) -> SelectorState {
        let before = self.index.checked_sub(1);
        let before = before.and_then(|before| self.text.steps.get(before));
        before.map_or(SelectorState::NEW, |step| step.trace.selector_state)
    }

    /// Returns a token's text in quotation marks.
    pub(super) fn quoted(&self, token: TokenId) -> String {
        quoted(&self.text.vocabulary.piece(token))
    }
}

/// Whether two values are the same but for rounding, relative to the larger one.
pub(super) fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a.to_bits() == b.to_bits() || (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

/// Formats a figure with six significant digits: "0.729131", "1.5e-7".
pub(super) fn figure(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

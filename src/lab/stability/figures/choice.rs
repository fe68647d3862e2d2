//! One token of a text: whether its choice stays the same under other settings.

use super::Stability;
use crate::analysis::can_redraw;
use crate::analysis::grammar::Drawable;
use crate::decoding::{ChainConfig, Coins, History, Picked, TokenId, WhatIf};
use crate::generation::{Generation, Step};

/// A token of a text whose choice is replayed, with the preceding tokens unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldToken {
    /// The index of its step.
    pub step: usize,
    /// The prompt's tokens, followed by those of the text before it.
    before: Vec<TokenId>,
    n_prompt: usize,
    seed: u64,
}

impl HeldToken {
    /// Returns `None` if the text has no such step.
    pub fn new(text: &Generation, step: usize) -> Option<Self> {
        if step >= text.steps.len() {
            return None;
        }
        let generated = text.steps.iter().take(step).map(|step| step.token);
        let prompt = text.prompt.tokens.iter().copied();
        Some(Self {
            step,
            before: prompt.chain(generated).collect(),
            n_prompt: text.prompt.tokens.len(),
            seed: text.config.seed,
        })
    }

    /// Returns which token the recorded coin picks under a different chain, or `None` if the record
    /// can't tell.
    pub fn choice(&self, text: &Generation, chain: &ChainConfig) -> Option<WhatIf> {
        let step = text.steps.get(self.step)?;
        let draw = &step.trace.draw;
        if !can_redraw(draw, chain) {
            return None;
        }
        if draw.picked != Picked::ByChain {
            // A token that the user picked or supplied stays, whatever the settings.
            return Some(WhatIf::Exact(step.token));
        }
        let (history, coins) = self.place();
        Drawable::of(&step.trace, chain)?.what_if(chain, history, coins)
    }

    fn place(&self) -> (History<'_>, Coins) {
        let coins = Coins {
            seed: self.seed,
            position: self.before.len() as u64,
        };
        (History::new(&self.before, self.n_prompt), coins)
    }

    /// Returns whether the recorded coin certainly picks another token under a different chain.
    pub fn changes(&self, text: &Generation, chain: &ChainConfig) -> bool {
        let Some(step) = text.steps.get(self.step) else {
            return false;
        };
        let (history, coins) = self.place();
        Drawable::of(&step.trace, chain)
            .is_some_and(|drawable| drawable.rules_out(chain, history, coins, step.token))
    }

    /// Returns whether the choice stays the same: `n_same` is 1 if it certainly does.
    pub(super) fn stability(&self, text: &Generation, chain: &ChainConfig) -> Stability {
        let same = |same: bool, exact| Stability {
            n_same: usize::from(same),
            exact,
        };
        let Some(step) = text.steps.get(self.step) else {
            return same(false, false);
        };
        let is_own = |token: TokenId| token == step.token;
        match self.choice(text, chain) {
            Some(WhatIf::Exact(token)) => same(is_own(token), true),
            Some(WhatIf::Bounded(_)) => same(false, self.changes(text, chain)),
            Some(WhatIf::Unrecorded) => same(false, is_recorded(step)),
            None => same(false, false),
        }
    }
}

/// Whether the token of a step is among those whose logits were recorded.
pub(super) fn is_recorded(step: &Step) -> bool {
    let head = &step.trace.raw.head;
    head.iter().any(|known| known.token == step.token)
}

//! One token of a text: whether its choice stays the same under other settings.

use serde::{Deserialize, Serialize};

use super::Stability;
use crate::analysis::can_redraw;
use crate::analysis::grammar::Drawable;
use crate::decoding::{ChainConfig, Coins, History, Picked, TokenId, WhatIf};
use crate::generation::{Generation, Step};

/// A token of a text whose choice is replayed, with the preceding tokens unchanged.
#[derive(Debug)]
pub(crate) struct HeldToken<'a> {
    step: &'a Step,
    /// The prompt's tokens, followed by those of the text before it.
    before: Vec<TokenId>,
    n_prompt: usize,
    seed: u64,
}

/// What the recorded coin picks in place of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    /// The same token.
    Same,
    /// Another one.
    Other(TokenId),
    /// One that was not recorded.
    Unrecorded,
    /// Certainly another one. The record does not show which.
    Changed,
    /// The same or another one: the record does not show which.
    Open,
    /// The record can't tell, because it lacks what these settings need.
    Unknown,
}

impl<'a> HeldToken<'a> {
    /// Returns `None` if the text has no such step.
    pub(crate) fn new(text: &'a Generation, step: usize) -> Option<Self> {
        let generated = text.steps.iter().take(step).map(|step| step.token);
        let prompt = text.prompt.tokens.iter().copied();
        Some(Self {
            step: text.steps.get(step)?,
            before: prompt.chain(generated).collect(),
            n_prompt: text.prompt.tokens.len(),
            seed: text.config.seed,
        })
    }

    /// Returns what the recorded coin picks under a different chain.
    pub(crate) fn choice(&self, chain: &ChainConfig) -> Choice {
        let (trace, own) = (&self.step.trace, self.step.token);
        if !can_redraw(&trace.draw, chain) {
            return Choice::Unknown;
        }
        if trace.draw.picked != Picked::ByChain {
            // A token that the user picked or supplied stays, whatever the settings.
            return Choice::Same;
        }
        let coins = Coins {
            seed: self.seed,
            position: self.before.len() as u64,
        };
        let history = History::new(&self.before, self.n_prompt);
        let drawable = || Drawable::of(trace, chain);
        let found = drawable().and_then(|drawable| drawable.what_if(chain, history, coins));
        match found {
            Some(WhatIf::Exact(token)) if token == own => Choice::Same,
            Some(WhatIf::Exact(token)) => Choice::Other(token),
            Some(WhatIf::Unrecorded) => Choice::Unrecorded,
            Some(WhatIf::Bounded(_)) => {
                let is_changed = drawable()
                    .is_some_and(|drawable| drawable.rules_out(chain, history, coins, own));
                if is_changed {
                    Choice::Changed
                } else {
                    Choice::Open
                }
            }
            None => Choice::Unknown,
        }
    }

    /// Returns whether the token stays the same under such a choice: `n_same` is 1 if it certainly
    /// does.
    pub(super) fn stability(&self, choice: Choice) -> Stability {
        let exact = match choice {
            Choice::Same | Choice::Other(_) | Choice::Changed => true,
            Choice::Unrecorded => is_recorded(self.step),
            Choice::Open | Choice::Unknown => false,
        };
        Stability {
            n_same: usize::from(choice == Choice::Same),
            exact,
        }
    }
}

/// Whether the token of a step is among those whose logits were recorded.
pub(super) fn is_recorded(step: &Step) -> bool {
    let head = &step.trace.raw.head;
    head.iter().any(|known| known.token == step.token)
}

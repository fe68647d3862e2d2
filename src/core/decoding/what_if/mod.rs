//! Applies other settings to a recorded step, without the model: which token would have been
//! sampled?
//!
//! The head of the record holds the logits of the most likely tokens. For the others, the tail, it
//! holds only their number, their total probability, and that none is likelier than the last token
//! of the head. That is often enough: [`tail`] derives what these bound, with the proof. If it is
//! not, the detail of the record is used: a longer head with a histogram of the tail, or the whole
//! distribution. If that is not enough either, the answer says so.

mod cuts;
mod rechoice;
mod recorded;
#[cfg(test)]
mod soundness;
mod tail;
#[cfg(test)]
mod tests;

pub use self::rechoice::rechoice;
pub(super) use self::recorded::Recorded;
use super::{
    Candidate, ChainConfig, Coins, Detail, Evidence, History, Selector, ServedHead, StageContext,
    TokenId,
};

/// Which token would have been sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhatIf {
    /// Certainly this token.
    Exact(TokenId),
    /// Certainly one of the tokens that were not recorded.
    Unrecorded,
    /// Probably this token; it depends on tokens that were not recorded.
    Bounded(TokenId),
}

impl WhatIf {
    /// Returns the token that would certainly or probably be sampled, or `None` if it was not
    /// recorded.
    pub const fn token(self) -> Option<TokenId> {
        match self {
            Self::Exact(token) | Self::Bounded(token) => Some(token),
            Self::Unrecorded => None,
        }
    }
}

/// Runs a chain over a recorded distribution, with the history and the coins of its step. Returns
/// `None` if nothing was recorded.
///
/// An adaptive selector starts with the state that it has at the beginning of a text, so its answer
/// is never exact.
pub fn what_if(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
) -> Option<WhatIf> {
    let context = context_of(evidence, chain, history, coins);
    let mut step = Recorded::of_head(evidence)?.after(chain, context);
    let outcome = step.draw(chain.selector, context);
    if matches!(outcome, WhatIf::Exact(_)) || evidence.detail == Detail::HeadOnly {
        return Some(outcome);
    }
    let mut step = Recorded::of(evidence)?.after(chain, context);
    Some(step.draw(chain.selector, context))
}

/// Returns whether a chain certainly samples this token from a distribution of which a server
/// reported only the head, whatever the tokens are that it left out.
pub(super) fn is_decided(
    head: &ServedHead,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
    token: TokenId,
) -> bool {
    let context = StageContext {
        history,
        coins,
        n_chance_before: 0,
        rules: chain.rules,
        n_vocab: head.n_vocab() as u32,
    };
    Recorded::of_served(head).is_some_and(|step| {
        let outcome = step.after(chain, context).draw(chain.selector, context);
        outcome == WhatIf::Exact(token)
    })
}

/// Returns what the first stage of a chain looks at.
const fn context_of<'a>(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'a>,
    coins: Coins,
) -> StageContext<'a> {
    StageContext {
        history,
        coins,
        n_chance_before: 0,
        rules: chain.rules,
        n_vocab: evidence.n_candidates,
    }
}

/// Returns the bounds of the probability with which a chain samples a token from a recorded
/// distribution, or `None` if they are unknown.
pub fn what_if_prob(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
    token: TokenId,
) -> Option<[f64; 2]> {
    let context = context_of(evidence, chain, history, coins);
    let mut step = Recorded::of(evidence)?.after(chain, context);
    if chain.selector == Selector::Greedy {
        return match step.draw(chain.selector, context) {
            WhatIf::Exact(best) => Some([f64::from(u8::from(best == token)); 2]),
            _ => None,
        };
    }
    let sure = step.sure && !chain.selector.is_adaptive();
    step.prob(token).filter(|_| sure)
}

/// Returns whether a chain certainly samples a different token than this one from a recorded
/// distribution, whatever the tokens are that were not recorded.
pub fn what_if_rules_out(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
    token: TokenId,
) -> bool {
    let context = context_of(evidence, chain, history, coins);
    let Some(step) = Recorded::of(evidence) else {
        return false;
    };
    let mut step = step.after(chain, context);
    if !step.sure || chain.selector != Selector::Multinomial {
        return false;
    }
    let [soonest, latest] = step.hits(coins.draw());
    let Some(logit) = step.head.logit(token) else {
        // It was filtered out, or it is in the tail.
        return step.tail.is_none() || latest.is_some();
    };
    let candidate = Candidate { token, logit };
    let may_equal = step.tail.is_some_and(|tail| tail.may_equal(candidate));
    let comes_sooner = soonest.map_or(step.tail.is_some(), |soonest| {
        soonest.comes_after(candidate)
    });
    let comes_later = latest.is_some_and(|latest| candidate.comes_after(latest));
    !may_equal && (comes_sooner || comes_later)
}

//! The kinds of tokens that a reader of a text looks for, derived from the record: unlikely ones,
//! near ties, and those that the settings, a grammar or the user decided.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::grammar::is_forced;
use super::trend::margin_nats;
use super::what_if::{WhatIfVerdict, can_redraw};
use crate::decoding::{
    ChainConfig, Coins, Filter, History, Picked, Selector, Trace, WhatIf, what_if,
};
use crate::generation::{Generation, Step};

/// A kind of token. Probabilities and ranks are those before the chain: the model’s own, or under
/// guidance those of the mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Its probability is below [`UNLIKELY`].
    Unlikely,
    /// The two most likely tokens are less than [`NEAR_BITS`] apart.
    NearlyTied,
    /// Another token was more likely.
    NotFirst,
    /// The coin of its position draws another token from the model’s own probabilities.
    Changed,
    /// A filter removed a token that was more likely.
    LikelierCut,
    /// It was the only token that a grammar allowed.
    Forced,
    /// The user wrote it.
    ByHand,
}

/// The probability below which a token is unlikely.
pub const UNLIKELY: f64 = 0.05;

/// The gap between two log-probabilities, in bits, below which two tokens are nearly tied.
pub const NEAR_BITS: f64 = 0.2;

impl TokenKind {
    /// All kinds, in menu order.
    pub const ALL: [Self; 7] = [
        Self::Unlikely,
        Self::NearlyTied,
        Self::NotFirst,
        Self::Changed,
        Self::LikelierCut,
        Self::Forced,
        Self::ByHand,
    ];

    /// Returns the label in a menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unlikely => "Unlikely",
            Self::NearlyTied => "Nearly tied",
            Self::NotFirst => "Not the first choice",
            Self::Changed => "Changed by a setting",
            Self::LikelierCut => "A likelier one was cut",
            Self::Forced => "Forced",
            Self::ByHand => "By hand",
        }
    }

    /// Returns what the name leaves open, for the menu; may be empty.
    pub const fn aside(self) -> &'static str {
        match self {
            Self::Unlikely => "under 5 %",
            Self::NearlyTied => "the first two within 0.2 bits",
            Self::Forced => "by a grammar",
            Self::NotFirst | Self::Changed | Self::LikelierCut | Self::ByHand => "",
        }
    }

    /// Returns what makes a token one of this kind.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Unlikely => "the model’s probability is under 5 %",
            Self::NearlyTied => "the model’s two most likely tokens are within 0.2 bits",
            Self::NotFirst => "another token was more likely",
            Self::Changed => {
                "the same coin, on the model’s own probabilities, falls on another token"
            }
            Self::LikelierCut => "a filter removed a token that was more likely",
            Self::Forced => "the grammar allowed only this token",
            Self::ByHand => "picked or typed, not drawn",
        }
    }

    /// Returns the end of a sentence that says how many tokens there are: "No token of D was forced."
    pub const fn predicate(self) -> &'static str {
        match self {
            Self::Unlikely => "is unlikely",
            Self::NearlyTied => "was nearly tied",
            Self::NotFirst => "differs from the model’s first choice",
            Self::Changed => "was changed by a setting",
            Self::LikelierCut => "replaced a likelier one that was cut",
            Self::Forced => "was forced",
            Self::ByHand => "was written by hand",
        }
    }

    /// Returns why it can be unknown whether a token is of this kind.
    pub const fn unknown_reason(self) -> &'static str {
        match self {
            Self::Unlikely => "The server reported no probability for these tokens",
            Self::NearlyTied => "The server named only one candidate for these tokens",
            Self::NotFirst => "The server named no candidates for these tokens",
            Self::Changed => {
                "Beam search, speculative sampling and a server’s sampler toss no coin that could be \
                 replayed. Under guidance, or if the coin fell on a token that was not recorded, the \
                 model’s own probabilities are not known well enough"
            }
            Self::LikelierCut => {
                "It is not recorded which tokens the server’s sampler or the filters removed here"
            }
            Self::Forced => "It is not recorded which tokens the grammar allowed here",
            Self::ByHand => "",
        }
    }

    /// Returns whether a step of a text is of this kind, or `None` if the record does not tell.
    pub fn matches(self, text: &Generation, index: usize) -> Option<bool> {
        let step = text.steps.get(index)?;
        let trace = &step.trace;
        match self {
            Self::Unlikely => trace.known_raw_prob().map(|prob| prob < UNLIKELY),
            Self::NearlyTied => is_nearly_tied(trace),
            Self::NotFirst => match trace.known_rank() {
                Some(rank) => Some(rank > 1),
                // A server names the most likely tokens, and this one is not among them.
                None => (!trace.raw.head.is_empty()).then_some(true),
            },
            Self::Changed => is_changed(text, index, step),
            Self::LikelierCut => is_likelier_cut(trace),
            Self::Forced => {
                let has_grammar = text.config_at(index).chain.grammar.is_some();
                let is_recorded = trace.grammar.is_some() || !has_grammar;
                is_recorded.then(|| is_forced(step))
            }
            Self::ByHand => Some(trace.draw.is_by_hand()),
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The kinds of one token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenKinds {
    is: u8,
    unknown: u8,
}

impl TokenKinds {
    /// Returns the kinds of a step.
    pub fn of(text: &Generation, index: usize) -> Self {
        let mut kinds = Self::default();
        for kind in TokenKind::ALL {
            match kind.matches(text, index) {
                Some(true) => kinds.is |= kind.bit(),
                Some(false) => {}
                None => kinds.unknown |= kind.bit(),
            }
        }
        kinds
    }

    /// Returns whether the token is certainly of this kind.
    pub const fn contains(self, kind: TokenKind) -> bool {
        self.is & kind.bit() != 0
    }

    /// Returns whether the record does not tell if the token is of this kind.
    pub const fn is_unknown(self, kind: TokenKind) -> bool {
        self.unknown & kind.bit() != 0
    }
}

/// Returns what the coin of a step’s position draws from the model’s own probabilities, or `None` if
/// no such coin drew the token, or if those probabilities were not recorded.
pub fn without_settings(text: &Generation, index: usize) -> Option<WhatIf> {
    let step = text.steps.get(index)?;
    let config = text.config_at(index);
    let chain = ChainConfig {
        // Gumbel-max draws from the same probabilities, with coins of its own.
        selector: match config.chain.selector {
            Selector::GumbelMax => Selector::GumbelMax,
            _ => Selector::Multinomial,
        },
        rules: config.chain.rules,
        ..ChainConfig::sampled([])
    };
    let draw = &step.trace.draw;
    let is_drawn = draw.picked == Picked::ByChain && can_redraw(draw, &chain);
    if !is_drawn || step.trace.mixture.is_some() {
        return None;
    }
    let coins = coins_of(text, index, config.seed);
    what_if(&step.trace.raw, &chain, History::empty(), coins)
}

/// Returns the coin that [`without_settings`] draws with, or `None` if there is no single one.
pub fn coin_of(text: &Generation, index: usize) -> Option<f64> {
    let config = text.config_at(index);
    let has_one = config.chain.selector != Selector::GumbelMax;
    let draw = &text.steps.get(index)?.trace.draw;
    (has_one && draw.picked == Picked::ByChain).then(|| coins_of(text, index, config.seed).draw())
}

fn coins_of(text: &Generation, index: usize, seed: u64) -> Coins {
    let position = (text.prompt.tokens.len() + index) as u64;
    Coins { seed, position }
}

fn is_changed(text: &Generation, index: usize, step: &Step) -> Option<bool> {
    match step.trace.draw.picked {
        Picked::ByHand | Picked::Given => return Some(false),
        Picked::ByChain | Picked::ByBeams | Picked::ByRatio | Picked::ByServer => {}
    }
    if is_plain(&text.config_at(index).chain) {
        return Some(false);
    }
    match WhatIfVerdict::of(step, without_settings(text, index)) {
        WhatIfVerdict::Same => Some(false),
        WhatIfVerdict::Changed => Some(true),
        WhatIfVerdict::Unsure | WhatIfVerdict::LikelyChanged => None,
    }
}

/// Returns whether a chain draws from the model’s own probabilities.
fn is_plain(chain: &ChainConfig) -> bool {
    matches!(chain.selector, Selector::Multinomial | Selector::GumbelMax)
        && chain.enabled().all(Filter::is_neutral)
        && chain.grammar.is_none()
        && chain.guidance.is_none()
}

fn is_nearly_tied(trace: &Trace) -> Option<bool> {
    if let Some(nats) = margin_nats(trace) {
        return Some(nats / std::f64::consts::LN_2 < NEAR_BITS);
    }
    let first = trace.raw.head.first()?.prob;
    // The second token has at most the rest.
    let is_ahead = first >= (1.0 - first) * NEAR_BITS.exp2();
    (is_ahead || trace.known.is_none()).then_some(false)
}

fn is_likelier_cut(trace: &Trace) -> Option<bool> {
    if trace.draw.is_by_server() {
        return None;
    }
    let Some(last) = trace.stages.last() else {
        return Some(false);
    };
    let head = &trace.raw.head;
    let chosen = head.iter().find(|known| known.token == trace.draw.token);
    let mask = trace.grammar.as_deref().filter(|report| report.masked);
    let is_any_cut = head.iter().zip(&last.head_probs).any(|(known, prob)| {
        let is_likelier = chosen.is_none_or(|chosen| known.logit > chosen.logit);
        let is_legal = mask.is_none_or(|report| report.allows(known.token));
        is_likelier && is_legal && prob.is_none()
    });
    let n_last = trace.stages.len() - 1;
    let is_known = trace.known_stage(n_last).n_kept.is_some() || trace.knows_final_probs();
    if is_any_cut {
        return is_known.then_some(true);
    }
    (is_known && (chosen.is_some() || cuts_from_below(trace))).then_some(false)
}

/// Returns whether every stage that removed candidates removed the least likely ones of the model’s
/// ranking, so that no token below the recorded head was removed before a less likely one.
fn cuts_from_below(trace: &Trace) -> bool {
    let mut n_before = trace.raw.n_candidates;
    let mut in_order = true;
    trace.stages.iter().all(|stage| {
        let cuts = stage.n_kept < n_before;
        let is_from_below = in_order && stage.filter.preserves_top();
        n_before = stage.n_kept;
        in_order &= stage.filter.keeps_order();
        !cuts || is_from_below
    })
}

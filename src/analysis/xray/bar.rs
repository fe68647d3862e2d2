//! The bar from 0 to 1 on which the kept tokens lie end to end, and what was drawn from it.

use crate::decoding::{Coins, KnownProb, RankedCandidate, Selector, TokenId, Trace, WhatIf};

/// How far below 1 the sum of all probabilities may stay.
const ROUNDING: f64 = 1e-5;

/// The kept tokens end to end, and the draw.
#[derive(Debug, Clone, PartialEq)]
pub struct CoinBar {
    /// The parts, from 0 on, the most likely first, as far as they are known. None where what was
    /// not recorded decides how long they are.
    pub parts: Vec<BarPart>,
    /// What was drawn, or would have been.
    pub drawn: Drawn,
}

/// A token's part of the bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarPart {
    /// The token; nothing where the part is that of all that were not recorded.
    pub token: Option<TokenId>,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// What was drawn, or would have been.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// The token; nothing where it is one that was not recorded.
    pub token: Option<TokenId>,
    /// How it is decided.
    pub by: DrawnBy,
    /// Whether it is certain; otherwise it is the most likely answer, and tokens that were not
    /// recorded matter.
    pub sure: bool,
}

/// How a token is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DrawnBy {
    /// The most likely one, always.
    TopToken,
    /// The one on which this coin falls.
    OneCoin(f64),
    /// The one that a coin of its own lifts above the others.
    CoinForEach,
}

impl Default for CoinBar {
    fn default() -> Self {
        Self {
            parts: Vec::new(),
            drawn: Drawn {
                token: None,
                by: DrawnBy::TopToken,
                sure: true,
            },
        }
    }
}

impl CoinBar {
    /// The bar of a recorded step.
    pub(super) fn recorded(selector: Selector, trace: &Trace) -> Self {
        let draw = trace.draw;
        let survivors = trace.survivors.iter();
        let mut parts = laid_out(survivors.map(|survivor| (survivor.token, survivor.prob)));
        // One from far below lies somewhere among those that were not recorded.
        let is_drawn = |part: &BarPart| part.token == Some(draw.token);
        if draw.coin.is_some() && !parts.iter().any(is_drawn) {
            let rest = parts.pop_if(|rest| rest.token.is_none());
            let from = rest.map_or(draw.below, |rest| rest.from);
            let to = rest.map_or(1.0, |rest| rest.to);
            let (begins, ends) = (draw.below.max(from), (draw.below + draw.prob).min(to));
            push_part(&mut parts, None, from, begins);
            push_part(&mut parts, Some(draw.token), begins, ends);
            push_part(&mut parts, None, ends, to);
        }
        Self {
            parts,
            drawn: Drawn {
                token: Some(draw.token),
                by: match (selector, draw.coin) {
                    (Selector::GumbelMax, _) => DrawnBy::CoinForEach,
                    (_, Some(coin)) => DrawnBy::OneCoin(coin),
                    (_, None) => DrawnBy::TopToken,
                },
                sure: true,
            },
        }
    }

    /// The bar of other settings, as far as it is known.
    pub(super) fn what_if(
        selector: Selector,
        head: &[RankedCandidate],
        probs: &[KnownProb],
        outcome: WhatIf,
        coins: Coins,
    ) -> Self {
        let known: Option<Vec<(TokenId, f64)>> = head
            .iter()
            .zip(probs)
            .filter(|(_, prob)| **prob != KnownProb::Cut)
            .map(|(ranked, prob)| match prob {
                KnownProb::Exactly(prob) => Some((ranked.token, *prob)),
                _ => None,
            })
            .collect();
        let mut known = match (selector, outcome) {
            (Selector::Greedy, WhatIf::Exact(token)) => vec![(token, 1.0)],
            (Selector::Greedy, _) => Vec::new(),
            _ => known
                .filter(|_| !selector.is_adaptive())
                .unwrap_or_default(),
        };
        known.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let (token, sure) = match outcome {
            WhatIf::Exact(token) => (Some(token), true),
            WhatIf::Bounded(token) => (Some(token), false),
            WhatIf::Unrecorded => (None, true),
        };
        Self {
            parts: laid_out(known.into_iter()),
            drawn: Drawn {
                token,
                by: match selector {
                    Selector::Greedy => DrawnBy::TopToken,
                    Selector::GumbelMax => DrawnBy::CoinForEach,
                    _ => DrawnBy::OneCoin(coins.draw()),
                },
                sure,
            },
        }
    }

    /// Whether every token on it is known.
    pub fn is_whole(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.token.is_some())
    }

    /// Lets the coin fall elsewhere; where no coin decides, nothing changes.
    pub(super) fn move_coin(&mut self, coin: f64) {
        let DrawnBy::OneCoin(_) = self.drawn.by else {
            return;
        };
        // Where rounding leaves the last end a hair under the coin, the last part is taken.
        let under = self.parts.iter().find(|part| coin < part.to);
        if let Some(part) = under.or(self.parts.last()) {
            self.drawn = Drawn {
                token: part.token,
                by: DrawnBy::OneCoin(coin),
                sure: true,
            };
        }
    }

    /// Whether a part is that of what was drawn.
    pub fn is_drawn(&self, part: &BarPart) -> bool {
        part.token.is_some() && part.token == self.drawn.token
    }
}

/// End to end from 0; what is left of 1 is that of tokens which were not recorded.
fn laid_out(tokens: impl Iterator<Item = (TokenId, f64)>) -> Vec<BarPart> {
    let mut parts: Vec<BarPart> = Vec::new();
    let mut end = 0.0;
    for (token, prob) in tokens {
        push_part(&mut parts, Some(token), end, end + prob);
        end += prob;
    }
    if !parts.is_empty() && end < 1.0 - ROUNDING {
        push_part(&mut parts, None, end, 1.0);
    }
    parts
}

fn push_part(parts: &mut Vec<BarPart>, token: Option<TokenId>, from: f64, to: f64) {
    if to > from {
        parts.push(BarPart { token, from, to });
    }
}

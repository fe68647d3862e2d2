//! The coin bar: the probabilities of the kept tokens laid end to end from 0 to 1, and the draw.

use crate::decoding::{
    Coins, KnownProb, RankedCandidate, Selector, TokenId, Tosses, Trace, WhatIf,
};

/// Rounding error allowed in the sum of all probabilities.
const ROUNDING: f64 = 1e-5;

/// The probabilities of the kept tokens, laid end to end, and the draw.
#[derive(Debug, Clone, PartialEq)]
pub struct CoinBar {
    /// The segments from 0 to 1, most likely token first. Empty if their lengths depend on tokens
    /// that were not recorded.
    pub parts: Vec<BarPart>,
    pub drawn: Drawn,
}

/// One token's segment of the bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarPart {
    /// `None` for the segment of all tokens that were not recorded.
    pub token: Option<TokenId>,
    pub from: f64,
    pub to: f64,
}

/// The token that was drawn, or would have been.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawn {
    /// `None` if the token was not recorded.
    pub token: Option<TokenId>,
    pub by: DrawnBy,
    /// Whether the answer is certain. If not, it is the most likely one, but tokens that were not
    /// recorded could change it.
    pub sure: bool,
}

/// How a token is picked from the bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DrawnBy {
    /// The most likely token is always taken.
    TopToken,
    /// This coin falls on the token's segment.
    OneCoin(f64),
    /// Every token has a coin, and the highest perturbed logit wins (Gumbel-max).
    CoinForEach,
    /// The user picked it, whatever the coin.
    Hand,
    /// It belongs to a text that was scored.
    Given,
    /// A beam search compares the totals of several texts.
    Beams,
    /// The acceptance rule of speculative sampling, which compared two probabilities of the token.
    Ratio,
    /// The sampler of a server.
    Server,
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
    /// Returns the bar of a recorded step.
    pub(super) fn recorded(selector: Selector, trace: &Trace) -> Self {
        let draw = trace.draw;
        let survivors = trace.survivors.iter();
        let mut parts = laid_out(survivors.map(|survivor| (survivor.token, survivor.prob)));
        // A drawn token that was not recorded lies within the segment of the unrecorded tokens.
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
                    _ if draw.is_by_hand() => DrawnBy::Hand,
                    _ if draw.is_given() => DrawnBy::Given,
                    _ if draw.is_by_beams() => DrawnBy::Beams,
                    _ if draw.is_by_ratio() => DrawnBy::Ratio,
                    _ if draw.is_by_server() => DrawnBy::Server,
                    _ if selector.has_coin_per_token() => DrawnBy::CoinForEach,
                    (_, Some(coin)) => DrawnBy::OneCoin(coin),
                    (_, None) => DrawnBy::TopToken,
                },
                sure: !trace.bounded && trace.known_final_prob().is_some(),
            },
        }
    }

    /// Returns the bar under other settings, as far as the record determines it.
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
                by: match selector.spec().tosses {
                    _ if selector.spec().compares_texts() => DrawnBy::Beams,
                    Tosses::None => DrawnBy::TopToken,
                    Tosses::OnePerCandidate => DrawnBy::CoinForEach,
                    Tosses::One => DrawnBy::OneCoin(coins.draw()),
                },
                sure,
            },
        }
    }

    /// Returns whether the token of every segment is known.
    pub fn is_complete(&self) -> bool {
        !self.parts.is_empty() && self.parts.iter().all(|part| part.token.is_some())
    }

    /// Moves the coin and updates the drawn token. Does nothing if the selector does not use a
    /// single coin.
    pub(super) fn move_coin(&mut self, coin: f64) {
        let DrawnBy::OneCoin(_) = self.drawn.by else {
            return;
        };
        // Rounding can leave the bar's end just below the coin; then the last segment is hit.
        let hit = self.parts.iter().find(|part| coin < part.to);
        if let Some(part) = hit.or(self.parts.last()) {
            self.drawn = Drawn {
                token: part.token,
                by: DrawnBy::OneCoin(coin),
                sure: true,
            };
        }
    }

    /// Returns whether this is the drawn token's segment.
    pub fn is_drawn(&self, part: &BarPart) -> bool {
        part.token.is_some() && part.token == self.drawn.token
    }
}

/// Lays segments end to end from 0. The rest up to 1 belongs to tokens that were not recorded.
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

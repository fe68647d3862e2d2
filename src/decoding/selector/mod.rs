//! How one of the remaining candidates is picked.

mod adaptive_p;
mod gumbel;
mod mirostat;

pub use adaptive_p::AdaptiveP;
pub use mirostat::{MirostatV1, MirostatV2};

use serde::{Deserialize, Serialize};

use super::candidates::Crossing;
use super::trace::Draw;
use super::{Candidates, Coins};

/// The end of a chain: picks one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "selector", rename_all = "kebab-case")]
pub enum Selector {
    /// The most likely one; of equals the one with the lowest id. No coin.
    Greedy,
    /// By chance, each as often as its probability says.
    Multinomial,
    /// By chance, each as often as its probability says, with a coin for each token instead of one
    /// for all: a change of settings mostly changes the outcome less often.
    GumbelMax,
    /// By chance among as many as keep the surprise near a target, by an estimate of how fast the
    /// probabilities fall.
    MirostatV1(MirostatV1),
    /// By chance among those that are not too surprising for a target.
    MirostatV2(MirostatV2),
    /// By chance among those whose probability lies near a target.
    AdaptiveP(AdaptiveP),
}

/// What a selector remembers from one step to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectorState {
    /// What it has learnt; nothing before its first step.
    memory: Option<[f64; 2]>,
}

impl SelectorState {
    /// Nothing was learnt yet.
    pub const NEW: Self = Self { memory: None };
}

impl Selector {
    /// The name, as people say it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Greedy => "Greedy",
            Self::Multinomial => "Multinomial",
            Self::GumbelMax => "Gumbel-max",
            Self::MirostatV1(_) => "Mirostat v1",
            Self::MirostatV2(_) => "Mirostat v2",
            Self::AdaptiveP(_) => "Adaptive-p",
        }
    }

    /// Whether it learns from what it picks, so that a step depends on those before it.
    pub const fn is_adaptive(&self) -> bool {
        matches!(
            self,
            Self::MirostatV1(_) | Self::MirostatV2(_) | Self::AdaptiveP(_)
        )
    }

    /// The sentence to show when a value is out of range, or nothing.
    pub fn complaint(&self) -> Option<String> {
        match self {
            Self::Greedy | Self::Multinomial | Self::GumbelMax => None,
            Self::MirostatV1(selector) => selector.complaint(),
            Self::MirostatV2(selector) => selector.complaint(),
            Self::AdaptiveP(selector) => selector.complaint(),
        }
    }

    /// Picks one, and learns from it.
    ///
    /// Where one coin decides, the candidates lie end to end from 0 to 1, the most likely first, and
    /// the coin takes the one on which it falls: the first whose end lies above the coin.
    pub fn pick(
        &self,
        coins: Coins,
        state: &mut SelectorState,
        candidates: &mut Candidates,
    ) -> Draw {
        match self {
            Self::Greedy => greedy(candidates),
            Self::Multinomial => draw_by_coin(coins.draw(), candidates),
            Self::GumbelMax => gumbel::pick(coins, candidates),
            Self::MirostatV1(selector) => selector.pick(coins, state, candidates),
            Self::MirostatV2(selector) => selector.pick(coins, state, candidates),
            Self::AdaptiveP(selector) => selector.pick(coins, state, candidates),
        }
    }
}

impl std::fmt::Display for Selector {
    /// The words of `--pane` and of a chip: "greedy", "mirostat 5 eta 0.1".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Greedy => f.write_str("greedy"),
            Self::Multinomial => f.write_str("sample"),
            Self::GumbelMax => f.write_str("gumbel"),
            Self::MirostatV1(selector) => selector.fmt(f),
            Self::MirostatV2(selector) => selector.fmt(f),
            Self::AdaptiveP(selector) => selector.fmt(f),
        }
    }
}

/// How far below 1 the sum of all probabilities may stay.
const ROUNDING: f64 = 1e-6;

fn greedy(candidates: &mut Candidates) -> Draw {
    let best = candidates.best();
    candidates.keep_head(1);
    Draw {
        token: best.token,
        prob: 1.0,
        coin: None,
        below: 0.0,
        n_kept: 1,
    }
}

fn draw_by_coin(coin: f64, candidates: &mut Candidates) -> Draw {
    // Where rounding leaves the sum a hair under a coin that is nearly 1, the last one is taken.
    let crossing = candidates
        .crossing(|end| coin < end)
        .or_else(|| candidates.crossing(|end| end >= 1.0 - ROUNDING));
    let Some(Crossing {
        candidate, below, ..
    }) = crossing
    else {
        return greedy(candidates);
    };
    let softmax = candidates.softmax();
    Draw {
        token: candidate.token,
        prob: softmax.prob(candidate.logit),
        coin: Some(coin),
        below,
        n_kept: softmax.n_possible as u32,
    }
}

/// Surprise in bits.
fn bits(prob: f64) -> f64 {
    -prob.log2()
}

#[cfg(test)]
mod tests {
    use super::{AdaptiveP, MirostatV1, MirostatV2, Selector, SelectorState, draw_by_coin};
    use crate::decoding::testing::{check_draws, logits_of};
    use crate::decoding::{Candidates, Coins};

    #[test]
    fn the_coin_falls_on_a_bar_with_the_most_likely_first() {
        // In order: token 3 from 0, token 2 from 0.4, token 1 from 0.7, token 0 from 0.9.
        for (coin, token, below) in [
            (0.0, 3, 0.0),
            (0.399, 3, 0.0),
            (0.401, 2, 0.4),
            (0.699, 2, 0.4),
            (0.701, 1, 0.7),
            (0.901, 0, 0.9),
            (1.0 - f64::EPSILON / 2.0, 0, 0.9),
        ] {
            let mut candidates =
                Candidates::from_logits(&logits_of(&[0.1, 0.2, 0.3, 0.4, 0.0])).unwrap();
            let draw = draw_by_coin(coin, &mut candidates);
            assert_eq!(draw.token.0, token, "{coin}");
            assert!((draw.below - below).abs() < 1e-6, "{coin}");
            assert_eq!(draw.coin, Some(coin));
        }
    }

    #[test]
    fn greedy_takes_the_best_and_of_equals_the_lowest_id() {
        let coins = Coins {
            seed: 1,
            position: 1,
        };
        for (probs, token) in [
            (&[1.0][..], 0),
            (&[0.1, 0.6, 0.3], 1),
            (&[0.2, 0.4, 0.4], 1),
            (&[0.0, 0.0, 1.0], 2),
        ] {
            let mut candidates = Candidates::from_logits(&logits_of(probs)).unwrap();
            let draw = Selector::Greedy.pick(coins, &mut SelectorState::default(), &mut candidates);
            assert_eq!((draw.token.0, draw.coin, draw.prob), (token, None, 1.0));
            assert_eq!((draw.n_kept, candidates.n_kept()), (1, 1));
        }
    }

    #[test]
    fn draws_come_as_often_as_their_probability_says() {
        let probs = [0.1, 0.05, 0.4, 0.0, 0.25, 0.2];
        for selector in [Selector::Multinomial, Selector::GumbelMax] {
            check_draws(selector, &probs, &probs);
        }
    }

    #[test]
    fn every_selector_has_only_values_that_can_work() {
        let (tau, eta) = (5.0, 0.1);
        for (selector, works) in [
            (Selector::Greedy, true),
            (Selector::MirostatV1(MirostatV1 { tau, eta }), true),
            (Selector::MirostatV1(MirostatV1 { tau: -1.0, eta }), false),
            (
                Selector::MirostatV2(MirostatV2 { tau, eta: f32::NAN }),
                false,
            ),
            (
                Selector::AdaptiveP(AdaptiveP {
                    target: 0.5,
                    decay: 0.9,
                }),
                true,
            ),
            (
                Selector::AdaptiveP(AdaptiveP {
                    target: 1.5,
                    decay: 0.9,
                }),
                false,
            ),
        ] {
            assert_eq!(selector.complaint().is_none(), works, "{selector}");
        }
    }
}

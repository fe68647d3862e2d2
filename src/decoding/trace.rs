//! The evidence of one step, kept as it was made.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Filter, TokenId};

/// All that was seen while one token was chosen: what the model said, what each stage did, the draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The model's own distribution, before the chain.
    pub raw: Evidence,
    /// What each stage that was switched on did, in order.
    pub stages: Vec<StageReport>,
    /// The most likely candidates after the chain and what its selector made of them, best first.
    pub survivors: Vec<RankedCandidate>,
    /// The probabilities of `raw.head` from which the token was picked, in that order; nothing where
    /// one was cut. What a selector cuts or weighs before it picks is in them; where the most likely is
    /// always taken, all others are cut.
    pub head_final_probs: Vec<Option<f64>>,
    /// What was picked, and by which coin.
    pub draw: Draw,
    /// The chosen token's probability before the chain.
    pub raw_prob: f64,
    /// The chosen token's place before the chain, 1 for the most likely.
    pub raw_rank: u32,
}

impl Trace {
    /// The probability after the chain of the candidate at `index` of `raw.head`; nothing where it
    /// was cut.
    pub fn head_final_prob(&self, index: usize) -> Option<f64> {
        self.head_final_probs.get(index).copied().flatten()
    }
}

/// What is kept of a distribution over the whole vocabulary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The size of the vocabulary.
    pub n_candidates: u32,
    /// The most likely tokens, best first: enough for the plots, and for "what if".
    pub head: Vec<RankedCandidate>,
    /// Natural logarithm of the sum of `exp(logit)` over the whole vocabulary.
    pub log_sum_exp: f64,
    /// Shannon entropy of the whole distribution, in nats.
    pub entropy_nats: f64,
}

/// A candidate among the most likely of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankedCandidate {
    /// The token.
    pub token: TokenId,
    /// Its score in this distribution.
    pub logit: f32,
    /// Its probability in this distribution, between 0 and 1.
    pub prob: f64,
}

/// What one stage of the chain did at one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// The rule and its values, which all steps of a text share.
    pub filter: Arc<Filter>,
    /// How many candidates were left after it.
    pub n_kept: u32,
    /// The probability, as it stood before this stage, of all that it cut.
    pub mass_removed: f64,
    /// Shannon entropy after it, in nats.
    pub entropy_nats: f64,
    /// The probabilities after it of `Trace::raw.head`, in that order; nothing where it is cut.
    pub head_probs: Vec<Option<f32>>,
}

/// The choice itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// The token that was picked.
    pub token: TokenId,
    /// The probability with which it was picked: that after the chain and what its selector made of
    /// it, and 1 where the most likely is always taken.
    pub prob: f64,
    /// The coin in `[0, 1)`; nothing where the selector tosses none.
    pub coin: Option<f64>,
    /// The probability of all that lie before it on the bar from 0 to 1, most likely first, so that
    /// the coin fell between `below` and `below + prob`.
    pub below: f64,
    /// How many tokens it could have fallen on: those that the chain and its selector left, or one
    /// where the most likely is always taken.
    pub n_kept: u32,
}

#[cfg(test)]
mod tests {
    use super::Trace;
    use crate::decoding::filters::TopK;
    use crate::decoding::selector::{AdaptiveP, MirostatV2};
    use crate::decoding::testing::logits_of;
    use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Selector, TokenId};

    fn trace(config: ChainConfig, probs: &[f32]) -> Trace {
        let coins = Coins {
            seed: 1,
            position: 0,
        };
        let mut chain = SamplerChain::new(config);
        let sampled = chain.sample(&logits_of(probs), History::empty(), coins);
        sampled.unwrap().trace
    }

    fn picked_by(selector: Selector) -> ChainConfig {
        ChainConfig {
            selector,
            ..ChainConfig::sampled([])
        }
    }

    #[test]
    fn what_a_selector_cuts_has_no_final_probability() {
        // μ is 2 · 1 bit: only those from 0.25 on stay.
        let mirostat = Selector::MirostatV2(MirostatV2 { tau: 1.0, eta: 0.0 });
        let trace = trace(picked_by(mirostat), &[0.5, 0.3, 0.15, 0.05]);
        let near = |index: usize, expected: f64| {
            let prob = trace.head_final_prob(index).unwrap();
            assert!((prob - expected).abs() < 1e-6, "{index}: {prob}");
        };
        near(0, 0.625);
        near(1, 0.375);
        assert_eq!(trace.head_final_prob(2), None);
        assert_eq!(trace.head_final_prob(3), None);
        assert_eq!(trace.head_final_prob(4), None);
    }

    #[test]
    fn what_a_selector_weighs_down_has_its_own_final_probability() {
        // 0.9 lies far above the target, and the 63 others lie at it, so that the best is none of
        // the 48 survivors that are recorded.
        let mut probs = [0.1 / 63.0; 64];
        probs[0] = 0.9;
        let adaptive = Selector::AdaptiveP(AdaptiveP {
            target: 0.0,
            decay: 0.9,
        });
        let trace = trace(picked_by(adaptive), &probs);
        let best = trace.raw.head[0];
        assert_eq!(best.token, TokenId(0));
        assert!(trace.survivors.iter().all(|left| left.token != best.token));
        // exp(5 - 10 · 9 / 4) = exp(-17.5), beside 63 with nearly exp(5).
        let prob = trace.head_final_prob(0).unwrap();
        let expected = (-22.5_f64).exp() / 63.0;
        assert!((prob / expected - 1.0).abs() < 1e-2, "{prob}");
    }

    #[test]
    fn a_draw_knows_how_many_it_could_have_fallen_on() {
        let mirostat = Selector::MirostatV2(MirostatV2 { tau: 1.0, eta: 0.0 });
        let cut = ChainConfig::sampled([Filter::TopK(TopK { k: 3 })]);
        let cut_for_gumbel = ChainConfig {
            selector: Selector::GumbelMax,
            ..cut.clone()
        };
        for (chain, n_kept) in [
            (ChainConfig::greedy(), 1),
            (ChainConfig::sampled([]), 4),
            (picked_by(Selector::GumbelMax), 4),
            (picked_by(mirostat), 2),
            (cut, 3),
            (cut_for_gumbel, 3),
        ] {
            let draw = trace(chain.clone(), &[0.5, 0.3, 0.15, 0.05, 0.0]).draw;
            assert_eq!(draw.n_kept, n_kept, "{chain}");
        }
    }
}

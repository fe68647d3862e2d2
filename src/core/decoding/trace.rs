//! The evidence of one step, recorded as it happens.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Detail, Filter, GrammarReport, KnownPart, Mixture, SelectorState, TokenId};

/// Everything recorded while one token was chosen: the model's distribution, what each stage did,
/// and the draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The distribution before the chain: the model's own, or under guidance the mixture.
    pub raw: Evidence,
    /// The two rows that were mixed, under guidance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixture: Option<Box<Mixture>>,
    /// What each stage that was on did, in order.
    pub stages: Vec<StageReport>,
    /// The most likely candidates after the chain and its selector, best first.
    pub survivors: Vec<RankedCandidate>,
    /// The probability of each candidate of `raw.head` when the token was picked, or `None` if it
    /// was filtered out. What the selector cuts or reweights is included; greedy drops all but one.
    pub head_final_probs: Vec<Option<f64>>,
    /// The token that was picked, and the coin that picked it.
    pub draw: Draw,
    /// The picked token's probability before the chain.
    pub raw_prob: f64,
    /// The picked token's rank before the chain, 1 for the most likely.
    pub raw_rank: u32,
    /// What the selector had learned after this step, so that a text can be continued from here.
    #[serde(default)]
    pub selector_state: SelectorState,
    /// What the grammar did, if the text has one.
    #[serde(skip)]
    pub grammar: Option<Box<GrammarReport>>,
    /// Whether `raw` is only the head of the distribution that a server reported, and the choice
    /// depends on what it lacks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bounded: bool,
    /// What does not depend on the tokens that a server left out, or `None` if nothing does. The other
    /// numbers of this record are then estimates, as if those tokens shared the rest evenly: read them
    /// through `known_final_prob` and its like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Box<KnownPart>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde requires"
)]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Trace {
    /// Returns the final probability of the candidate at `index` of `raw.head`, or `None` if it was
    /// filtered out.
    pub fn head_final_prob(&self, index: usize) -> Option<f64> {
        self.head_final_probs.get(index).copied().flatten()
    }

    /// Returns the memory it takes, in bytes, without the filters, which it shares.
    pub fn n_bytes(&self) -> usize {
        let of_stage = |stage: &StageReport| {
            size_of::<StageReport>() + size_of_val(stage.head_probs.as_slice())
        };
        size_of::<Self>()
            + size_of_val(self.raw.head.as_slice())
            + self.raw.detail.n_bytes()
            + self.stages.iter().map(of_stage).sum::<usize>()
            + size_of_val(self.survivors.as_slice())
            + size_of_val(self.head_final_probs.as_slice())
            + self.mixture.as_ref().map_or(0, |mixture| mixture.n_bytes())
            + self.grammar.as_ref().map_or(0, |report| report.n_bytes())
    }
}

/// The assumed size of a vocabulary that a server does not report: larger than any in use, so that
/// bounds that depend on it hold.
pub const ASSUMED_VOCABULARY: usize = 300_000;

/// A probability below this that a server left out is rounding.
pub(super) const ROUNDING: f64 = 1e-5;

/// What is recorded about a distribution over the whole vocabulary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The size of the vocabulary, or [`ASSUMED_VOCABULARY`] if a server did not report it.
    pub n_candidates: u32,
    /// The most likely tokens, best first: enough for the plots and for what-if.
    pub head: Vec<RankedCandidate>,
    /// Natural logarithm of the sum of `exp(logit)` over the whole vocabulary.
    pub log_sum_exp: f64,
    /// Shannon entropy of the whole distribution, in nats. If a server left tokens out, this assumes
    /// that they share the rest evenly.
    pub entropy_nats: f64,
    /// What is recorded below the head, in memory only: files keep the head and the totals.
    #[serde(skip)]
    pub detail: Detail,
}

impl Evidence {
    /// Returns whether a token is recorded individually.
    pub fn knows(&self, token: TokenId) -> bool {
        self.head.iter().any(|known| known.token == token) || self.detail.logit(token).is_some()
    }

    /// Returns the evidence with further tokens at the end of its head, as far as they are recorded
    /// individually and not yet in it.
    #[must_use]
    pub fn with_tokens(&self, tokens: impl IntoIterator<Item = TokenId>) -> Self {
        let mut extended = self.clone();
        for token in tokens {
            let known = extended.head.iter().any(|ranked| ranked.token == token);
            if let Some(logit) = self.detail.logit(token).filter(|_| !known) {
                let prob = (f64::from(logit) - self.log_sum_exp).exp();
                extended.head.push(RankedCandidate { token, logit, prob });
            }
        }
        extended
    }

    /// Returns a token's rank, 1 for the most likely, or `None` if it is not recorded individually.
    pub fn rank(&self, token: TokenId) -> Option<u32> {
        let mut head = (1..).zip(&self.head);
        let in_head = head.find(|(_, ranked)| ranked.token == token);
        let below_head = || self.detail.n_before(token).map(|n_before| n_before + 1);
        in_head.map(|(rank, _)| rank).or_else(below_head)
    }

    /// Returns how many tokens are recorded individually.
    pub fn n_known(&self) -> usize {
        self.head.len().max(self.detail.n_tokens())
    }
}

/// A candidate among the most likely of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankedCandidate {
    pub token: TokenId,
    pub logit: f32,
    pub prob: f64,
}

/// What one stage of the chain did at one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// The filter with its values, shared by all steps of a text.
    pub filter: Arc<Filter>,
    /// How many candidates it left.
    pub n_kept: u32,
    /// The probability that it dropped, measured before it ran.
    pub mass_removed: f64,
    /// Shannon entropy after it, in nats.
    pub entropy_nats: f64,
    /// The probability after it of each candidate of `Trace::raw.head`, or `None` if it was
    /// filtered out.
    pub head_probs: Vec<Option<f32>>,
}

/// How the token was picked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    pub token: TokenId,
    /// The probability with which it was picked, after the chain and its selector; 1 for greedy.
    pub prob: f64,
    /// The coin in `[0, 1)`, or `None` if no single coin decided.
    pub coin: Option<f64>,
    /// The probability of all candidates before it on the bar from 0 to 1, most likely first: the
    /// coin fell between `below` and `below + prob`.
    pub below: f64,
    /// How many tokens could have been picked: those that the chain and its selector left.
    pub n_kept: u32,
    /// Whether the chain picked the token or the user did. For a token that the chain did not pick,
    /// `prob` is its probability after the chain, `coin` is `None` and `below` is 0.
    #[serde(default)]
    pub picked: Picked,
}

/// What picked a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Picked {
    /// The chain and its selector.
    #[default]
    ByChain,
    /// The user, whatever the chain would have done. Statistics of draws leave such tokens out.
    ByHand,
    /// Nobody: the text was given, and this token was only scored. `prob` is 0 if the chain cut it.
    Given,
    /// A beam search: the text with this token has one of the highest totals. `prob` is its
    /// probability after the stages.
    ByBeams,
    /// Speculative sampling accepted it as a draft, or drew it in place of one. `prob` is its
    /// probability after the chain.
    ByRatio,
    /// A server's sampler, under the same settings as far as it supports them. `prob` is its
    /// probability after the chain, 0 if the chain would have cut it.
    ByServer,
}

impl Draw {
    /// Whether the user picked the token.
    pub fn is_by_hand(&self) -> bool {
        self.picked == Picked::ByHand
    }

    /// Whether the token belongs to a text that was scored.
    pub fn is_given(&self) -> bool {
        self.picked == Picked::Given
    }

    /// Whether a beam search picked the token.
    pub fn is_by_beams(&self) -> bool {
        self.picked == Picked::ByBeams
    }

    /// Whether speculative sampling picked the token.
    pub fn is_by_ratio(&self) -> bool {
        self.picked == Picked::ByRatio
    }

    /// Whether a server's sampler picked the token.
    pub fn is_by_server(&self) -> bool {
        self.picked == Picked::ByServer
    }

    /// Whether the chain could have picked the token.
    pub fn was_possible(&self) -> bool {
        self.prob > 0.0
    }
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
    fn a_candidate_that_the_selector_drops_has_no_final_probability() {
        // μ is 2 · 1 bits, so only probabilities of at least 0.25 stay.
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
    fn a_reweighted_candidate_has_its_new_final_probability() {
        // 0.9 is far above the target and the 63 others are at it, so the best is not among the 48
        // recorded survivors.
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
    fn a_draw_counts_the_tokens_it_could_have_picked() {
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

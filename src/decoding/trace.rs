//! The evidence of one step, kept as it was made.

use serde::{Deserialize, Serialize};

use super::{Filter, TokenId};

/// All that was seen while one token was chosen: what the model said, what each stage did, the draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The model's own distribution, before the chain.
    pub raw: Evidence,
    /// What each stage that was switched on did, in order.
    pub stages: Vec<StageReport>,
    /// The most likely candidates after the chain, best first.
    pub survivors: Vec<RankedCandidate>,
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
        let candidate = self.raw.head.get(index)?;
        let survivor = self
            .survivors
            .iter()
            .find(|survivor| survivor.token == candidate.token);
        match (survivor, self.stages.last()) {
            (Some(survivor), _) => Some(survivor.prob),
            (None, Some(stage)) => stage
                .head_probs
                .get(index)
                .copied()
                .flatten()
                .map(f64::from),
            (None, None) => Some(candidate.prob),
        }
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
    /// The rule and its values.
    pub filter: Filter,
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
    /// Its probability after the chain.
    pub prob: f64,
    /// The coin in `[0, 1)`; nothing where the selector tosses none.
    pub coin: Option<f64>,
    /// The probability of all that lie before it on the bar from 0 to 1, most likely first, so that
    /// the coin fell between `below` and `below + prob`.
    pub below: f64,
}

//! A chain in speculative decoding: it drafts from a cheaper model's logits, and verifies the drafts.

use super::model_drafts::verify;
use super::{Coins, DecodingError, History, SamplerChain, Selector, TokenId, Verified};

impl SamplerChain {
    /// Returns the probability of every token of the vocabulary when a selector that does not adapt
    /// picks one.
    pub fn probs(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
    ) -> Result<Vec<f64>, DecodingError> {
        let is_greedy = self.config().selector == Selector::Greedy;
        self.with_filtered(logits, history, coins, |candidates| {
            let mut probs = vec![0.0; logits.len()];
            if is_greedy {
                candidates.keep_head(1);
            }
            let softmax = candidates.softmax();
            for candidate in candidates.iter() {
                if let Some(prob) = probs.get_mut(candidate.token.index()) {
                    *prob = softmax.prob(candidate.logit);
                }
            }
            probs
        })
    }

    /// Guesses the token that [`Self::sample`] would draw from these logits, and returns it with its
    /// probability. The selector learns nothing from it.
    pub fn guess(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
    ) -> Result<(TokenId, f64), DecodingError> {
        let (selector, mut state) = (self.config().selector, self.state());
        let draw = self.with_filtered(logits, history, coins, |candidates| {
            selector.pick(coins, history, &mut state, candidates)
        })?;
        Ok((draw.token, draw.prob))
    }

    /// Accepts or replaces a draft by speculative sampling. `draft_probs` are the probabilities of
    /// all tokens when it was drafted. Returns the outcome and the draft's probability here.
    pub fn verify(
        &mut self,
        logits: &[f32],
        (draft, draft_probs): (TokenId, &[f64]),
        history: History<'_>,
        coins: Coins,
    ) -> Result<(Verified, f64), DecodingError> {
        let probs = self.probs(logits, history, coins)?;
        let prob = probs.get(draft.index()).copied().unwrap_or(0.0);
        Ok((verify(&probs, draft_probs, draft, coins), prob))
    }
}

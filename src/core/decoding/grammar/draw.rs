//! A chain that draws among legal tokens.

use std::sync::Arc;

use super::{GrammarMode, GrammarReport, GrammarRule, LegalTokens};
use crate::decoding::evidence::raw_rank;
use crate::decoding::{
    Coins, DecodingError, Evidence, History, RankedCandidate, Sampled, SamplerChain, Taken,
    TokenId, Trace,
};

/// One step under a grammar: the model's logits, and which tokens are legal. At least one must be.
#[derive(Debug, Clone, Copy)]
pub struct GrammarDraw<'a> {
    pub rule: &'a Arc<GrammarRule>,
    pub legal: &'a LegalTokens,
    pub logits: &'a [f32],
}

impl GrammarDraw<'_> {
    /// Samples a legal token with the chain, and records what the grammar did.
    pub fn sample(
        &self,
        chain: &mut SamplerChain,
        history: History<'_>,
        coins: Coins,
    ) -> Result<Sampled, DecodingError> {
        let state = chain.state();
        match self.rule.mode() {
            GrammarMode::Mask => {
                let unconstrained = chain.sample_token(self.logits, history, coins)?;
                chain.restore(state);
                let sampled = chain.sample(&self.masked(), history, coins)?;
                self.over_all(sampled, chain, Some(unconstrained))
            }
            GrammarMode::Check => {
                let first = chain.sample(self.logits, history, coins)?;
                if self.legal.allows(first.token) {
                    return self.passed(first, chain);
                }
                chain.restore(state);
                let sampled = chain.sample(&self.masked(), history, coins.redraw())?;
                self.over_all(sampled, chain, Some(first.token))
            }
        }
    }

    /// Samples the same token as [`Self::sample`], without recording any evidence.
    pub fn sample_token(
        &self,
        chain: &mut SamplerChain,
        history: History<'_>,
        coins: Coins,
    ) -> Result<TokenId, DecodingError> {
        if self.rule.mode() == GrammarMode::Mask {
            return chain.sample_token(&self.masked(), history, coins);
        }
        let state = chain.state();
        let first = chain.sample_token(self.logits, history, coins)?;
        if self.legal.allows(first) {
            return Ok(first);
        }
        chain.restore(state);
        chain.sample_token(&self.masked(), history, coins.redraw())
    }

    /// Takes a token that the chain did not draw, and records what the grammar and the chain make of
    /// it. An illegal one has a probability of 0.
    pub fn take(
        &self,
        chain: &mut SamplerChain,
        history: History<'_>,
        coins: Coins,
        taken: Taken,
    ) -> Result<Sampled, DecodingError> {
        let sampled = chain.take(&self.masked(), history, coins, taken)?;
        self.over_all(sampled, chain, None)
    }

    /// Returns the `n` most likely legal tokens after the stages, most likely first.
    pub fn most_likely(
        &self,
        chain: &SamplerChain,
        history: History<'_>,
        coins: Coins,
        n: usize,
    ) -> Result<Vec<RankedCandidate>, DecodingError> {
        chain.most_likely(&self.masked(), history, coins, n)
    }

    fn masked(&self) -> Vec<f32> {
        let mut masked = Vec::new();
        self.legal.mask(self.logits, &mut masked);
        masked
    }

    /// Completes the record of a token that passed the check.
    fn passed(
        &self,
        mut sampled: Sampled,
        chain: &mut SamplerChain,
    ) -> Result<Sampled, DecodingError> {
        let legal = chain.evidence(&self.masked())?;
        let report = self.report(legal, false, Some(sampled.token));
        sampled.trace.grammar = Some(Box::new(report));
        Ok(sampled)
    }

    /// Turns the record of a step that saw only legal tokens into one over all tokens.
    fn over_all(
        &self,
        mut sampled: Sampled,
        chain: &mut SamplerChain,
        unconstrained: Option<TokenId>,
    ) -> Result<Sampled, DecodingError> {
        let trace = &mut sampled.trace;
        let raw = chain.evidence(self.logits)?;
        let legal = std::mem::replace(&mut trace.raw, raw);
        realign(trace, &legal);
        let token = sampled.token;
        let logit = self.logits.get(token.index()).copied().unwrap_or(f32::NAN);
        trace.raw_prob = (f64::from(logit) - trace.raw.log_sum_exp).exp();
        trace.raw_rank = raw_rank(self.logits, token, logit);
        trace.grammar = Some(Box::new(self.report(legal, true, unconstrained)));
        Ok(sampled)
    }

    fn report(
        &self,
        legal: Evidence,
        masked: bool,
        unconstrained: Option<TokenId>,
    ) -> GrammarReport {
        GrammarReport {
            rule: Arc::clone(self.rule),
            legal: Evidence {
                n_candidates: self.legal.n_legal() as u32,
                ..legal
            },
            masked,
            unconstrained,
        }
    }
}

/// Moves what was recorded for the head of the legal tokens to the head of all tokens.
fn realign(trace: &mut Trace, legal: &Evidence) {
    let place_of = |token| legal.head.iter().position(|known| known.token == token);
    let heads = trace.raw.head.iter();
    let places: Vec<Option<usize>> = heads.map(|ranked| place_of(ranked.token)).collect();
    for stage in &mut trace.stages {
        stage.head_probs = moved(&stage.head_probs, &places);
    }
    trace.head_final_probs = moved(&trace.head_final_probs, &places);
}

fn moved<T: Copy>(values: &[Option<T>], places: &[Option<usize>]) -> Vec<Option<T>> {
    let at = |place: &Option<usize>| place.and_then(|place| values.get(place).copied().flatten());
    places.iter().map(at).collect()
}

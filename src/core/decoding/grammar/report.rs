//! What a grammar did at one step.

use std::sync::Arc;

use super::GrammarRule;
use crate::decoding::{Evidence, TokenId};

/// What a grammar did at one step: which tokens were legal, and what it changed.
#[derive(Debug, Clone, PartialEq)]
pub struct GrammarReport {
    /// The grammar, shared by all steps of a text.
    pub rule: Arc<GrammarRule>,
    /// The distribution over the legal tokens, before the chain.
    pub legal: Evidence,
    /// Whether the stages saw only the legal tokens. Otherwise the token was drawn from all tokens,
    /// and passed the check.
    pub masked: bool,
    /// The token that the same chain and coin would have drawn without the grammar. `None` if the
    /// chain did not draw the token of this step.
    pub unconstrained: Option<TokenId>,
}

impl GrammarReport {
    /// Returns how many tokens were legal.
    pub const fn n_legal(&self) -> u32 {
        self.legal.n_candidates
    }

    /// Whether only one token was legal.
    pub const fn is_forced(&self) -> bool {
        self.n_legal() == 1
    }

    /// Returns the probability that the model assigned to all legal tokens together, given the
    /// distribution over all tokens.
    pub fn legal_mass(&self, raw: &Evidence) -> f64 {
        self.ln_legal_mass(raw).exp()
    }

    /// Returns how far the grammar moved the distribution, in bits: −log2 of the legal mass, which
    /// is the Kullback-Leibler divergence of the legal distribution from the model's.
    pub fn distortion_bits(&self, raw: &Evidence) -> f64 {
        -self.ln_legal_mass(raw) / std::f64::consts::LN_2
    }

    /// Returns whether a token in the head of the model's distribution was legal: no legal token
    /// ranks lower among the legal ones than among all.
    pub fn allows(&self, token: TokenId) -> bool {
        self.legal.head.iter().any(|legal| legal.token == token)
    }

    /// Returns whether a token was legal, given the distribution over all tokens, or `None` if that
    /// was not recorded.
    pub fn is_legal(&self, token: TokenId, raw: &Evidence) -> Option<bool> {
        if self.allows(token) {
            return Some(true);
        }
        if raw.head.iter().any(|known| known.token == token) {
            return Some(false);
        }
        let logit = self.legal.detail.logit(token);
        logit.map(|logit| logit > f32::NEG_INFINITY)
    }

    /// Returns the memory that it takes, in bytes, without the grammar.
    pub fn n_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.legal.head.as_slice()) + self.legal.detail.n_bytes()
    }

    fn ln_legal_mass(&self, raw: &Evidence) -> f64 {
        (self.legal.log_sum_exp - raw.log_sum_exp).min(0.0)
    }
}

//! Logit bias and banned tokens: make chosen tokens likelier or less likely, or forbid them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::decoding::{Candidates, Rule, StageContext, TokenId};

/// Adds a number to the logits of some tokens and rules out others.
///
/// Adding 1 makes a token about 2.7 times as likely beside the others. Where every token would be
/// ruled out, none is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LogitBias {
    /// What is added; a token that is listed twice gets both.
    pub biases: Vec<TokenBias>,
    /// The tokens that must not be drawn.
    pub banned: Vec<TokenId>,
}

/// What is added to a token's logit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TokenBias {
    /// The token.
    pub token: TokenId,
    /// What is added.
    pub bias: f32,
}

impl Rule for LogitBias {
    fn name(&self) -> &'static str {
        "Logit bias"
    }

    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        // First, so that the mass of what is banned is that before the biases.
        candidates.rule_out(&self.banned);
        let mut changed: BTreeMap<TokenId, f32> = BTreeMap::new();
        for TokenBias { token, bias } in &self.biases {
            if let Some(logit) = candidates.logit(*token) {
                *changed.entry(*token).or_insert(logit) += bias;
            }
        }
        let changed: Vec<(TokenId, f32)> = changed.into_iter().collect();
        candidates.set_logits(&changed);
    }

    fn is_neutral(&self) -> bool {
        self.banned.is_empty() && self.biases.iter().all(|entry| entry.bias == 0.0)
    }

    fn complaint(&self) -> Option<String> {
        let impossible = self.biases.iter().any(|entry| !entry.bias.is_finite());
        impossible.then(|| "A bias is a number; to forbid a token, ban it".to_owned())
    }

    fn words(&self) -> String {
        let mut words = Vec::new();
        if !self.biases.is_empty() || self.banned.is_empty() {
            words.push("bias".to_owned());
        }
        for TokenBias { token, bias } in &self.biases {
            words.push(format!("{token} {bias}"));
        }
        if !self.banned.is_empty() {
            words.push("ban".to_owned());
        }
        words.extend(self.banned.iter().map(ToString::to_string));
        words.join(" ")
    }
}

impl std::fmt::Display for LogitBias {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.biases.len(), self.banned.len()) {
            (0, n) => write!(f, "{n} banned"),
            (n, 0) => write!(f, "{n} biased"),
            (n_biased, n_banned) => write!(f, "{n_biased} biased, {n_banned} banned"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LogitBias, TokenBias};
    use crate::decoding::testing::{apply, check_filter, token_ids};
    use crate::decoding::{Candidates, Filter, TokenId};

    fn bias(biases: &[(u32, f32)], banned: &[u32]) -> Filter {
        let biases = biases.iter().map(|&(id, bias)| TokenBias {
            token: TokenId(id),
            bias,
        });
        Filter::LogitBias(LogitBias {
            biases: biases.collect(),
            banned: token_ids(banned),
        })
    }

    #[test]
    fn a_bias_multiplies_the_odds_and_a_ban_ends_them() {
        let p = [0.25; 4];
        let ln3 = 3_f32.ln();
        for (filter, expected) in [
            (bias(&[], &[]), p),
            (
                bias(&[(1, ln3)], &[]),
                [1.0 / 6.0, 0.5, 1.0 / 6.0, 1.0 / 6.0],
            ),
            (bias(&[(1, ln3), (1, -ln3)], &[]), p),
            (bias(&[(9, 5.0)], &[9]), p),
            (bias(&[], &[0, 2]), [0.0, 0.5, 0.0, 0.5]),
            (bias(&[(3, ln3)], &[0, 2]), [0.0, 0.25, 0.0, 0.75]),
            (bias(&[], &[0, 1, 2, 3]), p),
        ] {
            check_filter(&filter, &p, &expected);
        }
    }

    /// Each takes a little of the sum, and all together nearly everything.
    #[test]
    fn many_biases_that_leave_next_to_nothing_are_as_exact_as_bans() {
        let logits: Vec<f32> = (0..2048_u16)
            .map(|id| -0.5 * f32::from(id.abs_diff(1500)))
            .collect();
        let likely: Vec<u32> = (1490..1530).collect();
        let biases: Vec<(u32, f32)> = likely.iter().map(|id| (*id, -1000.0)).collect();
        let after = |filter: &Filter| {
            let mut candidates = Candidates::from_logits(&logits).unwrap();
            apply(filter, &[], &mut candidates);
            (
                candidates.softmax().entropy_nats,
                candidates.take_mass_removed(),
            )
        };
        let (banned, mass_removed) = after(&bias(&[], &likely));
        let (biased, _) = after(&bias(&biases, &[]));
        assert!((biased - banned).abs() < 1e-5, "{biased} and not {banned}");
        // The mass of a ban is that before the biases beside it.
        let (_, beside_biases) = after(&bias(&biases, &likely));
        assert!((beside_biases - mass_removed).abs() < 1e-9);
    }

    #[test]
    fn an_infinite_bias_is_named() {
        assert!(bias(&[(0, f32::NEG_INFINITY)], &[]).complaint().is_some());
    }
}

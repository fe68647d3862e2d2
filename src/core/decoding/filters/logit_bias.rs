//! Logit bias and banned tokens: make chosen tokens likelier or less likely, or forbid them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::decoding::dialect::Dialect;
use crate::decoding::filter::FilterRule;
use crate::decoding::filter_spec::{FilterSpec, Phase, Ranking};
use crate::decoding::setting::SettingError;
use crate::decoding::{Candidates, Filter, FilterKind, Need, StageContext, TokenId};

/// Adds a bias to the logits of some tokens and bans others.
///
/// A bias of 1 makes a token e (about 2.7) times as likely relative to the others. If every token
/// would be banned, none is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LogitBias {
    /// The biases; those of a token that is listed twice add up.
    pub biases: Vec<TokenBias>,
    /// The tokens that must not be sampled.
    pub banned: Vec<TokenId>,
}

/// The bias of one token.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TokenBias {
    pub token: TokenId,
    /// The number added to the token's logit.
    pub bias: f32,
}

impl LogitBias {
    pub(in crate::decoding) const SPEC: FilterSpec = FilterSpec {
        keys: &["bias", "logit-bias"],
        chip: "bias",
        name: "Logit bias",
        summary: "Favors or bans chosen tokens",
        help: "Adds a bias to the logits of chosen tokens, or bans them: a bias of 1 makes a token 2.7 \
               times as likely relative to the others. 0 has no effect; -5 to 5 is usual.",
        formula: "logit + bias, or −∞ for a ban",
        edges: &[
            "Several biases of one token add up.",
            "If no possible token would be left, nothing is banned.",
        ],
        example: Some(|| {
            Filter::LogitBias(Self {
                biases: vec![TokenBias {
                    token: TokenId(9),
                    bias: 2.0,
                }],
                banned: vec![TokenId(1)],
            })
        }),
        source: "No paper: the `logit_bias` of OpenAI’s API, which most engines have adopted, \
                 https://platform.openai.com/docs/api-reference/completions/create",
        phase: Phase::Adjust,
        ranking: Ranking::Changes,
        cuts_support: false,
        tool_keys: &[
            (&[Dialect::LlamaCpp, Dialect::OpenAi], &["logit_bias"]),
            (
                &[Dialect::Transformers],
                &["sequence_bias", "bad_words_ids", "suppress_tokens"],
            ),
        ],
        needs: &[Need::TokenIds],
        ..FilterSpec::new(FilterKind::LogitBias, || Filter::LogitBias(Self::default()))
    };
}

impl FilterRule for LogitBias {
    fn apply(&self, _context: StageContext<'_>, candidates: &mut Candidates) {
        // Ban first, so that the mass removed is the probability before the biases.
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

    fn validate(&self) -> Result<(), SettingError> {
        if self.biases.iter().all(|entry| entry.bias.is_finite()) {
            Ok(())
        } else {
            Err(SettingError::BiasNotFinite)
        }
    }

    fn chip_words(&self) -> Option<String> {
        Some(match (self.biases.len(), self.banned.len()) {
            (0, n) => format!("{n} banned"),
            (n, 0) => format!("{n} biased"),
            (n_biased, n_banned) => format!("{n_biased} biased, {n_banned} banned"),
        })
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
    fn a_bias_multiplies_the_odds_and_a_ban_makes_them_zero() {
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

    /// Each removes a little of the probability, and all together remove nearly everything.
    #[test]
    fn many_biases_that_leave_almost_nothing_are_as_exact_as_bans() {
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
        assert!((biased - banned).abs() < 1e-5, "{biased}, not {banned}");
        // The mass removed by a ban is the probability before the biases.
        let (_, beside_biases) = after(&bias(&biases, &likely));
        assert!((beside_biases - mass_removed).abs() < 1e-9);
    }

    #[test]
    fn an_infinite_bias_is_invalid() {
        assert!(bias(&[(0, f32::NEG_INFINITY)], &[]).validate().is_err());
    }
}

//! Drafts by a model: a second, smaller one, or a part of the model itself.

use serde::{Deserialize, Serialize};

use super::setting::{Field, Limits, ParamSpec, SettingError};
use super::{ChainConfig, Coins, TokenId};

/// The most tokens that a pass may draft.
const MAX_DRAFTS: f32 = 16.0;

/// The most layers that a draft may run.
const MAX_LAYERS: f32 = 256.0;

/// Drafts each token with the same chain on the logits of a cheaper model, and verifies all of them
/// in one forward pass.
///
/// [`ModelDrafts::source`] names the papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct ModelDrafts {
    /// How many tokens a pass drafts at most, 1 to 16.
    pub n_drafts: u32,
    pub drafter: Drafter,
    /// How drafts are accepted.
    pub rule: DraftRule,
}

/// What writes the drafts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drafter {
    /// The second model.
    SecondModel,
    /// This many of the model's own layers, from the first on.
    FirstLayers(u32),
    /// The block that some models are trained with to predict the token after the next one.
    MtpHead,
}

/// [`ModelDrafts`] as run files store them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    n_drafts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n_layers: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    mtp_head: bool,
    rule: DraftRule,
}

impl TryFrom<Stored> for ModelDrafts {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let drafter = match (stored.n_layers, stored.mtp_head) {
            (None, false) => Drafter::SecondModel,
            (Some(n_layers), false) => Drafter::FirstLayers(n_layers),
            (None, true) => Drafter::MtpHead,
            (Some(_), true) => return Err("drafts have both n_layers and mtp_head"),
        };
        Ok(Self {
            n_drafts: stored.n_drafts,
            drafter,
            rule: stored.rule,
        })
    }
}

impl From<ModelDrafts> for Stored {
    fn from(drafts: ModelDrafts) -> Self {
        Self {
            n_drafts: drafts.n_drafts,
            n_layers: drafts.n_layers(),
            mtp_head: drafts.drafter == Drafter::MtpHead,
            rule: drafts.rule,
        }
    }
}

/// How drafts are accepted. Both rules leave the distribution of the text exactly as it is without
/// drafts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftRule {
    /// The draft and its verification toss the same coin, and a draft is accepted if both pick the
    /// same token. The text is the same as without drafts, token for token.
    /// The coins of this program take the place of the paper's Gumbel noise.
    SameCoin,
    /// A draft is accepted with probability min(1, p/q), and is otherwise replaced by a token drawn
    /// from the excess of p over q. This accepts as many drafts as possible, but the text differs
    /// from the one without drafts.
    Ratio,
}

impl DraftRule {
    /// Both rules.
    pub const ALL: [Self; 2] = [Self::SameCoin, Self::Ratio];

    /// The name on its button.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameCoin => "Same coin",
            Self::Ratio => "min(1, p/q)",
        }
    }

    /// Author, year, title and arXiv number of the paper.
    pub const fn source(self) -> &'static str {
        match self {
            Self::SameCoin => {
                "Daliri, Musco, Suresh 2024, \"Coupling without Communication and Drafter-Invariant \
                 Speculative Decoding\", arXiv 2408.07978"
            }
            Self::Ratio => {
                "Leviathan, Kalman, Matias 2022, \"Fast Inference from Transformers via Speculative \
                 Decoding\", arXiv 2211.17192"
            }
        }
    }

    /// What it does, in two sentences.
    pub const fn help(self) -> &'static str {
        match self {
            Self::SameCoin => {
                "The draft and the model toss the same coin, and the draft counts if both pick the \
                 same token. The text is the same as without drafts, token for token."
            }
            Self::Ratio => {
                "Accepts a draft with probability min(1, p/q), and otherwise replaces it with a \
                 draw from the excess of p over q. It accepts the most drafts; the text differs from the one without drafts, but its distribution is the \
                 same."
            }
        }
    }
}

impl ModelDrafts {
    /// The initial values when they are chosen from a menu.
    pub const fn usual(drafter: Drafter) -> Self {
        Self {
            n_drafts: match drafter {
                // Each token that the head writes from its own output is less certain.
                Drafter::MtpHead => 2,
                Drafter::SecondModel | Drafter::FirstLayers(_) => 4,
            },
            drafter,
            rule: DraftRule::SameCoin,
        }
    }

    /// Returns how many of the model's own layers draft, if they do.
    pub const fn n_layers(self) -> Option<u32> {
        match self.drafter {
            Drafter::FirstLayers(n_layers) => Some(n_layers),
            Drafter::SecondModel | Drafter::MtpHead => None,
        }
    }

    /// The name, as people say it.
    pub const fn name(self) -> &'static str {
        match self.drafter {
            Drafter::SecondModel => "Second model",
            Drafter::FirstLayers(_) => "First layers",
            Drafter::MtpHead => "MTP head",
        }
    }

    /// What it does, in two sentences.
    pub const fn help(self) -> &'static str {
        match self.drafter {
            Drafter::SecondModel => {
                "A smaller model with the same vocabulary writes the next tokens, and this model \
                 verifies all of them in one forward pass. Choose the smaller model below."
            }
            Drafter::FirstLayers(_) => {
                "The model’s own first layers write the next tokens, and all its layers verify them \
                 in one forward pass. Few models are trained for this, so few drafts may be accepted."
            }
            Drafter::MtpHead => {
                "The multi-token-prediction head in the model’s own file writes the next tokens, and \
                 the model verifies them in one forward pass. Qwen3.5 and GLM-4.5 to 4.7 have one, \
                 unless the file leaves it out."
            }
        }
    }

    /// Author, year, title and arXiv number of the papers.
    pub const fn source(self) -> &'static str {
        match self.drafter {
            Drafter::SecondModel => {
                "Leviathan, Kalman, Matias 2022, \"Fast Inference from Transformers via Speculative \
                 Decoding\", arXiv 2211.17192; Chen et al. 2023, \"Accelerating Large Language Model \
                 Decoding with Speculative Sampling\", arXiv 2302.01318"
            }
            Drafter::FirstLayers(_) => {
                "Elhoushi et al. 2024, \"LayerSkip: Enabling Early Exit Inference and Self-Speculative \
                 Decoding\", arXiv 2404.16710"
            }
            Drafter::MtpHead => {
                "DeepSeek-AI 2024, \"DeepSeek-V3 Technical Report\", arXiv 2412.19437; Gloeckle et al. \
                 2024, \"Better & Faster Large Language Models via Multi-token Prediction\", arXiv \
                 2404.19737"
            }
        }
    }

    /// The numbers of all drafts by a model.
    pub const PARAMS: &'static [ParamSpec<Self>] = &[ParamSpec {
        label: "Drafts",
        help: "How many tokens each pass guesses at most.",
        range: 1.0..=MAX_DRAFTS,
        limits: Limits::Between(1.0, MAX_DRAFTS),
        usual: 2.0..=5.0,
        decimals: 0,
        ..ParamSpec::new(Field::Count {
            get: |drafts| Some(drafts.n_drafts),
            set: |drafts, n| drafts.n_drafts = n,
        })
    }];

    /// The additional number for drafts by the first layers.
    pub const LAYERS: &'static [ParamSpec<Self>] = &[ParamSpec {
        key: "layers",
        label: "Layers",
        help: "How many of the model’s layers write the drafts.",
        range: 1.0..=48.0,
        limits: Limits::Between(1.0, MAX_LAYERS),
        usual: 2.0..=16.0,
        decimals: 0,
        ..ParamSpec::new(Field::Count {
            get: |drafts| drafts.n_layers(),
            set: |drafts, n| drafts.drafter = Drafter::FirstLayers(n),
        })
    }];

    /// Checks every value against its limits, and that the rule goes with the selector.
    pub fn validate(&self, chain: &ChainConfig) -> Result<(), SettingError> {
        if self.rule == DraftRule::Ratio && !chain.selector.is_plain() {
            let selector = chain.selector.name();
            return Err(SettingError::RatioWithOthers { selector });
        }
        let mut params = Self::PARAMS.iter().chain(Self::LAYERS);
        params.try_for_each(|param| param.validate(self.name(), self))
    }
}

impl std::fmt::Display for ModelDrafts {
    /// The words of `--pane`: "drafts 4 model ratio", "drafts 4 layers 2", "drafts 2 mtp".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "drafts {}", self.n_drafts)?;
        match self.drafter {
            Drafter::SecondModel => f.write_str(" model")?,
            Drafter::FirstLayers(n_layers) => write!(f, " layers {n_layers}")?,
            Drafter::MtpHead => f.write_str(" mtp")?,
        }
        match self.rule {
            DraftRule::SameCoin => Ok(()),
            DraftRule::Ratio => f.write_str(" ratio"),
        }
    }
}

/// A draft after its verification by speculative sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verified {
    /// The draft, or its replacement.
    pub token: TokenId,
    pub accepted: bool,
    /// The coin that decided.
    pub coin: f64,
}

/// Accepts a draft with probability min(1, p/q), or else draws its replacement from max(0, p − q).
/// `p` and `q` are the probabilities that the model and the draft model assign to all tokens.
pub(super) fn verify(p: &[f64], q: &[f64], draft: TokenId, coins: Coins) -> Verified {
    let at = |probs: &[f64]| probs.get(draft.index()).copied().unwrap_or(0.0);
    let coin = coins.acceptance();
    if coin * at(q) < at(p) {
        return Verified {
            token: draft,
            accepted: true,
            coin,
        };
    }
    let excess: Vec<f64> = p.iter().zip(q).map(|(p, q)| (p - q).max(0.0)).collect();
    Verified {
        token: pick(&excess, coins.replacement()),
        accepted: false,
        coin,
    }
}

/// Picks a token with a coin in `[0, 1)`, in proportion to its weight. There is one weight per
/// token.
pub fn pick(weights: &[f64], coin: f64) -> TokenId {
    let mut left = coin * weights.iter().sum::<f64>();
    let mut token = TokenId(0);
    for (id, weight) in (0..).map(TokenId).zip(weights) {
        if *weight > 0.0 {
            // The last one takes what rounding leaves.
            token = id;
            if left < *weight {
                break;
            }
            left -= weight;
        }
    }
    token
}

#[cfg(test)]
mod tests {
    use super::{DraftRule, Drafter, ModelDrafts, verify};
    use crate::decoding::selector::MirostatV2;
    use crate::decoding::{ChainConfig, Coins, Selector, TokenId};

    /// The tokens that drafts from `q` become, for many coins, and how many were accepted.
    fn outcomes(p: &[f64], q: &[f64], n: u64) -> (Vec<f64>, f64) {
        let mut counts = vec![0.0; p.len()];
        let mut n_accepted = 0.0;
        for position in 0..n {
            let coins = Coins { seed: 5, position };
            let mut left = coins.draw();
            let draft = q.iter().position(|q| {
                left -= q;
                left < 0.0
            });
            let draft = TokenId(draft.unwrap() as u32);
            let verified = verify(p, q, draft, coins);
            counts[verified.token.index()] += 1.0;
            n_accepted += f64::from(u32::from(verified.accepted));
            assert!(!verified.accepted || verified.token == draft);
        }
        (counts, n_accepted)
    }

    #[test]
    fn verified_drafts_have_the_distribution_of_the_model() {
        let n = 40_000;
        for (p, q) in [
            ([0.5, 0.3, 0.15, 0.05], [0.2, 0.4, 0.3, 0.1]),
            ([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]),
            ([0.25; 4], [0.97, 0.01, 0.01, 0.01]),
        ] {
            let (counts, n_accepted) = outcomes(&p, &q, n);
            let chi_squared: f64 = counts
                .iter()
                .zip(p)
                .map(|(count, p)| (count - p * n as f64).powi(2) / (p * n as f64))
                .sum();
            // With three degrees of freedom, one seed in 1,000 exceeds 16.3.
            assert!(chi_squared < 16.3, "{p:?} {q:?}: {chi_squared}");
            let overlap: f64 = p.iter().zip(q).map(|(p, q)| p.min(q)).sum();
            assert!((n_accepted / n as f64 - overlap).abs() < 0.01, "{overlap}");
        }
    }

    #[test]
    fn a_sure_model_accepts_its_own_token_only() {
        let coins = Coins {
            seed: 1,
            position: 9,
        };
        let (sure, other) = ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
        assert!(verify(&sure, &sure, TokenId(1), coins).accepted);
        let replaced = verify(&sure, &other, TokenId(2), coins);
        assert_eq!((replaced.token, replaced.accepted), (TokenId(1), false));
    }

    #[test]
    fn impossible_values_are_invalid() {
        let chain = ChainConfig::sampled([]);
        let drafts = |n_drafts, drafter, rule| ModelDrafts {
            n_drafts,
            drafter,
            rule,
        };
        let ratio = drafts(4, Drafter::SecondModel, DraftRule::Ratio);
        assert_eq!(ratio.validate(&chain), Ok(()));
        for wrong in [
            drafts(0, Drafter::SecondModel, DraftRule::Ratio),
            drafts(17, Drafter::MtpHead, DraftRule::SameCoin),
            drafts(4, Drafter::FirstLayers(0), DraftRule::SameCoin),
        ] {
            assert!(wrong.validate(&chain).is_err(), "{wrong}");
        }
        let adaptive = ChainConfig {
            selector: Selector::MirostatV2(MirostatV2 { tau: 3.0, eta: 0.1 }),
            ..chain
        };
        let error = ratio.validate(&adaptive).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Mirostat v2 draws in its own way; choose the same-coin rule for its drafts"
        );
    }

    #[test]
    fn each_drafter_is_stored_in_its_own_words() {
        for (drafter, json) in [
            (Drafter::SecondModel, r#"{"n_drafts":3,"rule":"same_coin"}"#),
            (
                Drafter::FirstLayers(2),
                r#"{"n_drafts":3,"n_layers":2,"rule":"same_coin"}"#,
            ),
            (
                Drafter::MtpHead,
                r#"{"n_drafts":3,"mtp_head":true,"rule":"same_coin"}"#,
            ),
        ] {
            let drafts = ModelDrafts {
                n_drafts: 3,
                ..ModelDrafts::usual(drafter)
            };
            assert_eq!(serde_json::to_string(&drafts).unwrap(), json);
            assert_eq!(serde_json::from_str::<ModelDrafts>(json).unwrap(), drafts);
        }
        let both = r#"{"n_drafts":3,"n_layers":2,"mtp_head":true,"rule":"same_coin"}"#;
        assert!(serde_json::from_str::<ModelDrafts>(both).is_err());
    }
}

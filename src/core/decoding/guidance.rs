//! Guidance: before the chain, the logits are moved away from those of a second row, computed from
//! another prompt or by another model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::setting::{Field, Limits, ParamSpec, SettingError};
use super::{ChainConfig, DecodingError, RankedCandidate, Softmax, TokenId, Trace};

/// What a pane's own distribution is contrasted with, and how strongly.
///
/// With the log-probs of the pane's own row and of the other, the mixture is
/// `other + scale · (own − other)`: 1 leaves the own row as it is, more than 1 moves away from the
/// other, and 0 is the other.
///
/// The formula is that of transformers' `UnbatchedClassifierFreeGuidanceLogitsProcessor`, and that
/// of O'Brien and Lewis with β = scale − 1; [`Against::source`] names the papers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Guidance {
    pub scale: f32,
    /// A token stays only if its own probability is at least this share of the likeliest one's. 0
    /// keeps all.
    #[serde(default)]
    pub cutoff: f32,
    pub against: Against,
}

/// Where the other row comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The same model, which reads this text in place of the prompt. If it is empty, the last token
    /// of the prompt takes its place, as in transformers.
    Prompt(String),
    /// The second model, which reads the same text.
    Model,
}

impl Against {
    /// The name, as people say it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Prompt(_) => "Second prompt",
            Self::Model => "Second model",
        }
    }

    /// What guidance against it does, in two sentences.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Prompt(_) => {
                "The same model also reads another prompt, and the text moves away from what it would \
                 write there: classifier-free guidance. Each token costs two rows of the forward pass."
            }
            Self::Model => {
                "A smaller model reads the same text, and tokens that this model prefers more strongly \
                 gain: contrastive decoding. Choose the smaller model below its numbers."
            }
        }
    }

    /// Author, year, title and arXiv number of the papers.
    pub const fn source(&self) -> &'static str {
        match self {
            Self::Prompt(_) => {
                "Sanchez et al. 2023, \"Stay on topic with Classifier-Free Guidance\", arXiv 2306.17806"
            }
            Self::Model => {
                "Li et al. 2022, \"Contrastive Decoding: Open-ended Text Generation as Optimization\", \
                 arXiv 2210.15097; in the form of O'Brien, Lewis 2023, \"Contrastive Decoding Improves \
                 Reasoning in Large Language Models\", arXiv 2309.09117"
            }
        }
    }
}

impl Guidance {
    /// The name, as people say it.
    pub const NAME: &'static str = "Guidance";

    /// The word that begins it in `--pane`.
    pub const KEY: &'static str = "guide";

    /// What it does, in two sentences.
    pub const HELP: &'static str = "Runs every step twice and moves the probabilities away from those \
        of the other run. Each token costs two rows of the forward pass.";

    /// The initial values when it is chosen from a menu.
    pub const fn usual(against: Against) -> Self {
        let cutoff = match against {
            Against::Prompt(_) => 0.0,
            Against::Model => 0.1,
        };
        Self {
            scale: 1.5,
            cutoff,
            against,
        }
    }

    /// Its numbers.
    pub const PARAMS: &'static [ParamSpec<Self>] = &[
        ParamSpec {
            label: "Scale",
            help: "How far the logits move away from the other run.",
            range: 0.0..=4.0,
            limits: Limits::Finite,
            neutral: Some(1.0),
            usual: 1.2..=2.0,
            ..ParamSpec::new(Field::Real {
                get: |guidance| Some(guidance.scale),
                set: |guidance, scale| guidance.scale = scale,
            })
        },
        ParamSpec {
            key: "cutoff",
            label: "Cutoff",
            help: "Drops tokens whose probability in the pane’s own run is below this share of the \
                   likeliest token’s.",
            limits: Limits::Between(0.0, 1.0),
            neutral: Some(0.0),
            usual: 0.05..=0.2,
            ..ParamSpec::new(Field::Real {
                get: |guidance| Some(guidance.cutoff),
                set: |guidance, cutoff| guidance.cutoff = cutoff,
            })
        },
    ];

    /// Checks every value against its limits, and that the chain writes one text, token by token.
    pub fn validate(&self, chain: &ChainConfig) -> Result<(), SettingError> {
        if chain.selector.beam_search().is_some() || chain.drafts.is_some() {
            return Err(SettingError::GuidanceWithOthers);
        }
        let mut params = Self::PARAMS.iter();
        params.try_for_each(|param| param.validate(Self::NAME, self))
    }

    /// Whether it leaves the pane's own distribution as it is.
    pub fn is_neutral(&self) -> bool {
        let neutral = |value: f32, neutral: f32| (value - neutral).abs() <= 0.0;
        neutral(self.scale, 1.0) && neutral(self.cutoff, 0.0)
    }

    /// Mixes two rows of logits, which have the same length.
    pub fn mix(&self, own: &[f32], other: &[f32]) -> Result<Vec<f32>, DecodingError> {
        let (own_sum, other_sum) = (log_sum_exp(own)?, log_sum_exp(other)?);
        let largest = own.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let least = largest + self.cutoff.ln();
        let scale = f64::from(self.scale);
        let mixed = |(own, other): (&f32, &f32)| {
            if own.is_infinite() || *own < least {
                return f32::NEG_INFINITY;
            }
            let own = f64::from(*own) - own_sum;
            // A token that the other row rules out has nothing to move away from.
            let other = match f64::from(*other) - other_sum {
                other if other.is_finite() => other,
                _ => own,
            };
            (other + scale * (own - other)) as f32
        };
        Ok(own.iter().zip(other).map(mixed).collect())
    }
}

fn log_sum_exp(logits: &[f32]) -> Result<f64, DecodingError> {
    let mut row = super::Candidates::from_logits(logits)?;
    Ok(row.softmax().log_sum_exp)
}

impl std::fmt::Display for Guidance {
    /// The words of `--pane`: `guide 1.5 against "a sad story"`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", Self::KEY, self.scale)?;
        if self.cutoff > 0.0 {
            write!(f, " cutoff {}", self.cutoff)?;
        }
        match &self.against {
            Against::Model => f.write_str(" against model"),
            Against::Prompt(text) if text.is_empty() => Ok(()),
            Against::Prompt(text) => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                write!(f, " against \"{escaped}\"")
            }
        }
    }
}

/// The two rows of a guided step, before they were mixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixture {
    /// How they were mixed.
    pub guidance: Arc<Guidance>,
    pub own: MixedRow,
    pub other: MixedRow,
}

/// What is recorded of a row that was mixed with another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedRow {
    /// The likeliest token and its probability.
    pub top: TokenId,
    pub top_prob: f64,
    /// The probability of the token that was picked.
    pub prob: f64,
    /// Shannon entropy of the whole row, in nats.
    pub entropy_nats: f64,
    /// The probability of each token of the mixture's recorded head.
    pub head_probs: Vec<f32>,
}

impl Mixture {
    /// Records two rows of logits for the tokens of the mixture's head, and for the token that was
    /// picked.
    pub fn of(
        guidance: &Arc<Guidance>,
        head: &[RankedCandidate],
        picked: TokenId,
        [own, other]: [&[f32]; 2],
    ) -> Result<Self, DecodingError> {
        Ok(Self {
            guidance: Arc::clone(guidance),
            own: MixedRow::of(head, picked, own)?,
            other: MixedRow::of(head, picked, other)?,
        })
    }

    /// Records the two rows of a guided step in its trace.
    pub fn note(
        trace: &mut Trace,
        guidance: &Arc<Guidance>,
        picked: TokenId,
        rows: [&[f32]; 2],
    ) -> Result<(), DecodingError> {
        let mixture = Self::of(guidance, &trace.raw.head, picked, rows)?;
        trace.mixture = Some(Box::new(mixture));
        Ok(())
    }

    /// Returns the memory it takes, in bytes.
    pub fn n_bytes(&self) -> usize {
        let of_row = |row: &MixedRow| size_of_val(row.head_probs.as_slice());
        size_of::<Self>() + of_row(&self.own) + of_row(&self.other)
    }
}

impl MixedRow {
    fn of(
        head: &[RankedCandidate],
        picked: TokenId,
        logits: &[f32],
    ) -> Result<Self, DecodingError> {
        let mut row = super::Candidates::from_logits(logits)?;
        let (softmax, top) = (row.softmax(), row.best());
        let prob = |token: TokenId, softmax: &Softmax| {
            logits
                .get(token.index())
                .map_or(0.0, |logit| softmax.prob(*logit))
        };
        let in_head = head.iter();
        Ok(Self {
            top: top.token,
            top_prob: softmax.prob(top.logit),
            prob: prob(picked, &softmax),
            entropy_nats: softmax.entropy_nats,
            head_probs: in_head
                .map(|ranked| prob(ranked.token, &softmax) as f32)
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Against, Guidance, Mixture};
    use crate::decoding::testing::logits_of;
    use crate::decoding::{
        ChainConfig, Coins, History, PromptLookup, SamplerChain, Selector, Softmax, TokenId,
    };

    fn guidance(scale: f32, cutoff: f32) -> Guidance {
        Guidance {
            scale,
            cutoff,
            against: Against::Prompt(String::new()),
        }
    }

    fn mixed_probs(guidance: &Guidance, own: &[f32], other: &[f32]) -> Vec<f64> {
        let mixed = guidance.mix(&logits_of(own), &logits_of(other)).unwrap();
        let mut row = crate::decoding::Candidates::from_logits(&mixed).unwrap();
        let softmax: Softmax = row.softmax();
        mixed.iter().map(|logit| softmax.prob(*logit)).collect()
    }

    #[test]
    fn a_mixture_moves_away_from_the_other_row() {
        let (own, other) = ([0.5, 0.3, 0.2], [0.6, 0.2, 0.2]);
        for (scale, cutoff, expected) in [
            (1.0, 0.0, [0.5, 0.3, 0.2]),
            (0.0, 0.0, [0.6, 0.2, 0.2]),
            // own² / other: 0.4167, 0.45, 0.2 in sum 1.0667.
            (2.0, 0.0, [0.3906, 0.4219, 0.1875]),
            // 0.2 is less than half of 0.5.
            (2.0, 0.5, [0.4808, 0.5192, 0.0]),
            (1.0, 0.7, [1.0, 0.0, 0.0]),
        ] {
            let probs = mixed_probs(&guidance(scale, cutoff), &own, &other);
            for (prob, expected) in probs.iter().zip(expected) {
                assert!(
                    (prob - expected).abs() < 1e-4,
                    "{scale} {cutoff}: {probs:?}"
                );
            }
        }
    }

    #[test]
    fn tokens_that_a_row_rules_out_stay_numbers() {
        let mixed = guidance(1.5, 0.0).mix(
            &[0.0, f32::NEG_INFINITY, 1.0],
            &[0.0, 1.0, f32::NEG_INFINITY],
        );
        let mixed = mixed.unwrap();
        assert!(mixed[0].is_finite() && mixed[2].is_finite());
        assert!(mixed[1] < 0.0 && mixed[1].is_infinite());
    }

    #[test]
    fn both_rows_are_recorded_at_the_tokens_of_the_mixture() {
        let (own, other) = (logits_of(&[0.5, 0.3, 0.2]), logits_of(&[0.6, 0.2, 0.2]));
        let guidance = Arc::new(guidance(2.0, 0.0));
        let mixed = guidance.mix(&own, &other).unwrap();
        let mut chain = SamplerChain::new(ChainConfig::greedy());
        let coins = Coins {
            seed: 1,
            position: 0,
        };
        let sampled = chain.sample(&mixed, History::empty(), coins).unwrap();
        let mixture = Mixture::of(
            &guidance,
            &sampled.trace.raw.head,
            sampled.token,
            [&own, &other],
        );
        let mixture = mixture.unwrap();
        assert_eq!(sampled.token, TokenId(1));
        assert_eq!([mixture.own.top, mixture.other.top], [TokenId(0); 2]);
        assert!((mixture.own.prob - 0.3).abs() < 1e-6 && (mixture.other.prob - 0.2).abs() < 1e-6);
        let probs = mixture.other.head_probs.iter();
        let expected = [0.2, 0.6, 0.2];
        assert!(
            probs
                .zip(expected)
                .all(|(p, e): (&f32, f32)| (p - e).abs() < 1e-6)
        );
    }

    #[test]
    fn guidance_writes_one_text_token_by_token() {
        let chain = ChainConfig::greedy();
        assert_eq!(guidance(1.5, 0.1).validate(&chain), Ok(()));
        for wrong in [guidance(f32::NAN, 0.0), guidance(1.5, 1.1)] {
            assert!(wrong.validate(&chain).is_err(), "{wrong}");
        }
        let beams = ChainConfig {
            selector: Selector::SPECS.last().unwrap().usual,
            ..chain.clone()
        };
        let drafts = ChainConfig {
            drafts: Some(PromptLookup::USUAL.into()),
            ..chain
        };
        for other in [beams, drafts] {
            let error = guidance(1.5, 0.0).validate(&other).unwrap_err();
            assert_eq!(
                error.to_string(),
                "Guidance writes one token at a time, so it can’t be combined with beams or drafts"
            );
        }
    }
}

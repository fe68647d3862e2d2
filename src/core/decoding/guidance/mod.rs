//! Guidance: before the chain, the logits are moved away from those of a second row, computed from
//! another prompt, by another model or by the early layers of the model itself.

mod against;
mod early_layers;
mod mixture;

pub use self::against::{Against, AgainstSpec};
pub use self::early_layers::{EarlyLayers, most_divergent};
pub use self::mixture::{MixedRow, Mixture};

use serde::{Deserialize, Serialize};

use super::setting::{Field, Limits, ParamSpec, SettingError};
use super::{Candidates, ChainConfig, DecodingError};

/// What a pane's own distribution is contrasted with, and how strongly.
///
/// With the log-probs of the pane's own row and of the other, the mixture is
/// `other + scale · (own − other)`: 1 leaves the own row as it is, more than 1 moves away from the
/// other, and 0 is the other.
///
/// The formula is that of transformers' `UnbatchedClassifierFreeGuidanceLogitsProcessor`, and that
/// of O'Brien and Lewis with β = scale − 1; [`AgainstSpec::source`] names the papers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Guidance {
    /// `None` for the plain difference of the log-probs, `own − other`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f32>,
    /// A token stays only if its own probability is at least this share of the likeliest one's. 0
    /// keeps all.
    #[serde(default)]
    pub cutoff: f32,
    pub against: Against,
}

impl Guidance {
    /// The name, as people say it.
    pub const NAME: &'static str = "Guidance";

    /// The word that begins it in `--pane`.
    pub const KEY: &'static str = "guide";

    /// The word that takes the place of the scale in `--pane` for the plain difference.
    pub const DIFFERENCE: &'static str = "dola";

    /// What it does, in one sentence.
    pub const HELP: &'static str = "Moves the probabilities away from those after another prompt, of \
        another model, or of the model’s own early layers.";

    /// Returns guidance at the values that are usual against this.
    pub fn usual(against: Against) -> Self {
        let usual = (against.spec().usual)();
        Self { against, ..usual }
    }

    /// Its numbers.
    pub const PARAMS: &'static [ParamSpec<Self>] = &[
        ParamSpec {
            label: "Scale",
            help: "How far the logits move away from the other row’s.",
            range: 0.0..=4.0,
            limits: Limits::Finite,
            neutral: Some(1.0),
            usual: 1.2..=2.0,
            ..ParamSpec::new(Field::Real {
                get: |guidance| guidance.scale,
                set: |guidance, scale| {
                    if let Some(old) = &mut guidance.scale {
                        *old = scale;
                    }
                },
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

    /// Checks every value, and that the chain writes one text, token by token.
    pub fn validate(&self, chain: &ChainConfig) -> Result<(), SettingError> {
        if chain.selector.beam_search().is_some() || chain.drafts.is_some() {
            return Err(SettingError::GuidanceWithOthers);
        }
        if self.scale.is_none() && self.against.layers().is_empty() {
            return Err(SettingError::DifferenceWithoutLayers);
        }
        self.validate_numbers()
    }

    /// Checks every value against its limits.
    pub fn validate_numbers(&self) -> Result<(), SettingError> {
        let mut params = Self::PARAMS.iter();
        params.try_for_each(|param| param.validate(Self::NAME, self))
    }

    /// Whether it leaves the pane's own distribution as it is.
    pub fn is_neutral(&self) -> bool {
        let neutral = |value: f32, neutral: f32| (value - neutral).abs() <= 0.0;
        self.scale.is_some_and(|scale| neutral(scale, 1.0)) && neutral(self.cutoff, 0.0)
    }

    /// Says how far it moves away: "× 1.5", or "by difference".
    pub fn strength(&self) -> String {
        match self.scale {
            Some(scale) => format!("× {scale}"),
            None => "by difference".to_owned(),
        }
    }

    /// Says in words how it computes the mixture.
    pub fn formula(&self) -> String {
        let run = self.against.spec().run;
        match self.scale {
            Some(scale) => {
                format!("The {run}’s log-probs + {scale} × (the pane’s own − the {run}’s)")
            }
            None => format!("The pane’s own log-probs − the {run}’s"),
        }
    }

    /// Mixes two rows of logits, which have the same length.
    pub fn mix(&self, own: &[f32], other: &[f32]) -> Result<Vec<f32>, DecodingError> {
        let (own_sum, other_sum) = (log_sum_exp(own)?, log_sum_exp(other)?);
        let largest = own.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let least = largest + self.cutoff.ln();
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
            self.mix_log_probs(own, other) as f32
        };
        Ok(own.iter().zip(other).map(mixed).collect())
    }

    /// Mixes the log-probs of a token in both rows.
    pub fn mix_log_probs(&self, own: f64, other: f64) -> f64 {
        match self.scale {
            Some(scale) => other + f64::from(scale) * (own - other),
            None => own - other,
        }
    }
}

fn log_sum_exp(logits: &[f32]) -> Result<f64, DecodingError> {
    let mut row = Candidates::from_logits(logits)?;
    Ok(row.softmax().log_sum_exp)
}

impl std::fmt::Display for Guidance {
    /// The words of `--pane`: `guide 1.5 against "a sad story"`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ", Self::KEY)?;
        match self.scale {
            Some(scale) => write!(f, "{scale}")?,
            None => f.write_str(Self::DIFFERENCE)?,
        }
        if self.cutoff > 0.0 {
            write!(f, " cutoff {}", self.cutoff)?;
        }
        match &self.against {
            Against::Prompt(text) if text.is_empty() => Ok(()),
            against => write!(f, " against {against}"),
        }
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
            scale: Some(scale),
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
        let mixed = guidance(1.5, 0.0)
            .mix(
                &[0.0, f32::NEG_INFINITY, 1.0],
                &[0.0, 1.0, f32::NEG_INFINITY],
            )
            .unwrap();
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
        )
        .unwrap();
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

//! A ranked list of candidates, without what can be derived from another list or from a formula.

use serde::{Deserialize, Serialize};

use crate::decoding::{RankedCandidate, TokenId};
use crate::export::json::{N_VOCAB_MAX, ParseError};

/// How many neighbors of a rounded `ln_mass` to try on each side.
const N_TRIES: i32 = 128;

/// Candidates, most likely first, described by their differences from a base list.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ranking {
    /// The token ids are those of the first `n` candidates of the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<Vec<TokenId>>,
    /// `None` if they are those of the base. A logit of −∞ is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logits: Option<Vec<Option<f32>>>,
    /// A probability is exp(logit − first logit − `ln_mass`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ln_mass: Option<f64>,
    /// The probabilities, if the formula does not reproduce them to the last bit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probs: Option<Vec<f64>>,
}

impl Ranking {
    /// Describes a list by its differences from `base`.
    pub(super) fn of(list: &[RankedCandidate], base: &[RankedCandidate]) -> Self {
        let start = base.get(..list.len());
        let tokens = || list.iter().map(|candidate| candidate.token);
        let bits = |candidate: &RankedCandidate| candidate.logit.to_bits();
        let same_tokens = start.is_some_and(|start| {
            let base = start.iter().map(|candidate| candidate.token);
            tokens().eq(base)
        });
        let same_logits =
            start.is_some_and(|start| list.iter().map(bits).eq(start.iter().map(bits)));
        let logits = list.iter().map(|candidate| finite(candidate.logit));
        let ln_mass = ln_mass(list);
        let probs = || list.iter().map(|candidate| candidate.prob);
        Self {
            n: same_tokens.then_some(list.len()),
            tokens: (!same_tokens).then(|| tokens().collect()),
            logits: (!same_logits).then(|| logits.collect()),
            ln_mass,
            probs: ln_mass.is_none().then(|| probs().collect()),
        }
    }

    /// Reconstructs the list from `base`.
    pub(super) fn into_list(
        self,
        base: &[RankedCandidate],
    ) -> Result<Vec<RankedCandidate>, ParseError> {
        let tokens = match (self.tokens, self.n) {
            (Some(tokens), None) => tokens,
            (None, Some(n)) => {
                let start = base.get(..n).ok_or_else(damaged)?;
                start.iter().map(|candidate| candidate.token).collect()
            }
            _ => return Err(damaged()),
        };
        if let Some(id) = tokens.iter().find(|token| token.0 >= N_VOCAB_MAX) {
            return Err(ParseError::UnknownToken { id: id.0 });
        }
        let logits: Vec<f32> = match self.logits {
            Some(logits) => logits.into_iter().map(infinite).collect(),
            None => base.iter().map(|candidate| candidate.logit).collect(),
        };
        let first = logits.first().copied().unwrap_or_default();
        let probs: Vec<f64> = match (self.probs, self.ln_mass) {
            (Some(probs), None) => probs,
            (None, Some(ln_mass)) => logits
                .iter()
                .take(tokens.len())
                .map(|logit| prob(*logit, first, ln_mass))
                .collect(),
            _ => return Err(damaged()),
        };
        if logits.len() < tokens.len() || probs.len() != tokens.len() {
            return Err(damaged());
        }
        let values = logits.into_iter().zip(probs);
        let list = tokens.into_iter().zip(values);
        let candidate = |(token, (logit, prob))| RankedCandidate { token, logit, prob };
        Ok(list.map(candidate).collect())
    }
}

fn damaged() -> ParseError {
    ParseError::damaged("a step’s candidates are inconsistent")
}

fn prob(logit: f32, first: f32, ln_mass: f64) -> f64 {
    (f64::from(logit) - f64::from(first) - ln_mass).exp()
}

/// Finds the `ln_mass` with which the formula reproduces every probability to the last bit.
fn ln_mass(list: &[RankedCandidate]) -> Option<f64> {
    let Some(first) = list.first() else {
        return Some(0.0);
    };
    let near = 0.0 - first.prob.ln();
    // Below this difference, no probability changes.
    let unit = (near.abs() * f64::EPSILON / 2.0).max(f64::EPSILON / 16.0);
    let fits = |ln_mass: &f64| {
        let exact = |other: &RankedCandidate| {
            prob(other.logit, first.logit, *ln_mass).to_bits() == other.prob.to_bits()
        };
        ln_mass.is_finite() && list.iter().all(exact)
    };
    (0..=N_TRIES)
        .flat_map(|n| [near + f64::from(n) * unit, near - f64::from(n) * unit])
        .find(fits)
}

/// Maps −∞, the logit of an impossible token, to `None` because JSON can't represent it.
fn finite(logit: f32) -> Option<f32> {
    logit.is_finite().then_some(logit)
}

fn infinite(logit: Option<f32>) -> f32 {
    logit.unwrap_or(f32::NEG_INFINITY)
}

#[cfg(test)]
mod tests {
    use super::{Ranking, ln_mass};
    use crate::decoding::testing::row;
    use crate::decoding::{ChainConfig, Coins, History, RankedCandidate, SamplerChain};

    #[test]
    fn probabilities_follow_from_logits_to_the_last_bit() {
        for seed in 0..200 {
            let logits = row(seed, 1.0 + seed as f32 / 10.0);
            let mut chain = SamplerChain::new(ChainConfig::sampled([]));
            let coins = Coins {
                seed: 1,
                position: 0,
            };
            let sampled = chain.sample(&logits, History::empty(), coins).unwrap();
            let head = sampled.trace.raw.head;
            let ranking = Ranking::of(&head, &[]);
            assert!(ranking.probs.is_none(), "{seed}");
            assert_eq!(ranking.into_list(&[]).unwrap(), head);
        }
    }

    #[test]
    fn probabilities_that_follow_no_formula_are_kept() {
        let odd = [0.5, 0.3].map(|prob| RankedCandidate {
            token: crate::decoding::TokenId(1),
            logit: 1.0,
            prob,
        });
        assert_eq!(ln_mass(&odd), None);
        let ranking = Ranking::of(&odd, &[]);
        assert_eq!(ranking.into_list(&[]).unwrap(), odd);
    }
}

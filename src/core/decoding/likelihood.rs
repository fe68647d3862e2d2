//! How likely a chain is to sample a given token: exactly, because the chain itself runs.

use super::filters::Xtc;
use super::{
    ChainConfig, Coins, DecodingError, Filter, History, SamplerChain, Selector, Stage, TokenId,
};

/// A chain that computes the probability of given tokens instead of sampling.
#[derive(Debug, Clone)]
pub struct ChainLikelihood {
    /// A chain for each outcome of the random stages' coins, with the outcome's probability.
    outcomes: Vec<(f64, SamplerChain)>,
}

impl ChainLikelihood {
    /// Returns `None` for a selector that adapts to what it has picked: the probability of a token
    /// then depends on more than the tokens before it.
    pub fn new(config: &ChainConfig) -> Option<Self> {
        if config.selector.is_adaptive() {
            return None;
        }
        let outcomes = outcomes(config).into_iter();
        Some(Self {
            outcomes: outcomes
                .map(|(prob, config)| (prob, SamplerChain::new(config)))
                .collect(),
        })
    }

    /// Returns the natural logarithm of the probability with which the chain samples this token,
    /// before any coin is tossed: −∞ if it can't.
    pub fn ln_prob(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        token: TokenId,
    ) -> Result<f64, DecodingError> {
        let ln_probs = self.ln_probs(logits, history, &[token])?;
        Ok(ln_probs.first().copied().unwrap_or(f64::NEG_INFINITY))
    }

    /// Returns the same for several tokens, in their order. The chain runs only once.
    pub fn ln_probs(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        tokens: &[TokenId],
    ) -> Result<Vec<f64>, DecodingError> {
        if let [(_, chain)] = self.outcomes.as_mut_slice() {
            return chain.ln_probs(logits, history, tokens);
        }
        let mut probs = vec![0.0; tokens.len()];
        for (share, chain) in &mut self.outcomes {
            let ln_probs = chain.ln_probs(logits, history, tokens)?;
            for (prob, ln_prob) in probs.iter_mut().zip(ln_probs) {
                *prob += *share * ln_prob.exp();
            }
        }
        Ok(probs.into_iter().map(f64::ln).collect())
    }
}

/// Returns a chain without randomness in its stages for each way in which their coins can fall, and
/// how likely that is.
fn outcomes(config: &ChainConfig) -> Vec<(f64, ChainConfig)> {
    let mut outcomes = vec![(1.0, config.clone())];
    for (place, stage) in config.stages.iter().enumerate() {
        let Filter::Xtc(xtc) = &stage.filter else {
            continue;
        };
        let prob = f64::from(xtc.probability).clamp(0.0, 1.0);
        if !stage.enabled || stage.filter.is_neutral() || prob >= 1.0 {
            continue;
        }
        let always = Stage::from(Filter::Xtc(Xtc {
            probability: 1.0,
            ..*xtc
        }));
        let never = Stage {
            enabled: false,
            ..stage.clone()
        };
        let with = |config: &ChainConfig, stage: &Stage| {
            let mut config = config.clone();
            if let Some(old) = config.stages.get_mut(place) {
                *old = stage.clone();
            }
            config
        };
        outcomes = outcomes
            .iter()
            .flat_map(|(share, config)| {
                [
                    (share * prob, with(config, &always)),
                    (share * (1.0 - prob), with(config, &never)),
                ]
            })
            .collect();
    }
    outcomes
}

impl SamplerChain {
    /// Returns the natural logarithm of the probability of each token after the chain. The stages
    /// must not be random, because no coin is tossed.
    fn ln_probs(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        tokens: &[TokenId],
    ) -> Result<Vec<f64>, DecodingError> {
        let coins = Coins {
            seed: 0,
            position: 0,
        };
        let greedy = self.config().selector == Selector::Greedy;
        self.with_filtered(logits, history, coins, |candidates| {
            if greedy {
                let best = candidates.best().token;
                let ln_prob = |token: &TokenId| {
                    if *token == best {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    }
                };
                return tokens.iter().map(ln_prob).collect();
            }
            let softmax = candidates.softmax();
            let ln_prob = |token: &TokenId| match candidates.logit(*token) {
                Some(logit) => softmax.ln_prob(logit),
                None => f64::NEG_INFINITY,
            };
            tokens.iter().map(ln_prob).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ChainLikelihood;
    use crate::decoding::filters::{Temperature, TopK, TopP, Xtc};
    use crate::decoding::selector::MirostatV2;
    use crate::decoding::testing::{logits_of, row, token_ids};
    use crate::decoding::{
        ChainConfig, Coins, Filter, FilterKind, History, SamplerChain, Selector, TokenId,
    };

    const HEAT: Filter = Filter::Temperature(Temperature { temperature: 0.8 });

    fn ln_prob(chain: &ChainConfig, logits: &[f32], history: &[u32], token: u32) -> f64 {
        let tokens = token_ids(history);
        let mut likelihood = ChainLikelihood::new(chain).unwrap();
        likelihood
            .ln_prob(logits, History::new(&tokens, 0), TokenId(token))
            .unwrap()
    }

    #[test]
    fn it_is_the_probability_that_the_chain_draws_with() {
        let tokens = token_ids(&[3, 7, 3]);
        let mut chains = vec![ChainConfig::greedy()];
        for kind in FilterKind::ALL.iter().filter(|kind| !kind.spec().random) {
            let chain = ChainConfig::sampled([(kind.spec().usual)(), HEAT]);
            let selector = Selector::GumbelMax;
            chains.extend([
                ChainConfig {
                    selector,
                    ..chain.clone()
                },
                chain,
            ]);
        }
        for chain in chains {
            for seed in 0..20 {
                let logits = row(seed, 2.0);
                let coins = Coins {
                    seed: u64::from(seed),
                    position: 4,
                };
                let history = History::new(&tokens, 1);
                let mut sampler = SamplerChain::new(chain.clone());
                let sampled = sampler.sample(&logits, history, coins).unwrap();
                let mut likelihood = ChainLikelihood::new(&chain).unwrap();
                let ln = likelihood.ln_prob(&logits, history, sampled.token).unwrap();
                let expected = sampled.trace.draw.prob.ln();
                assert!((ln - expected).abs() < 1e-9, "{chain}: {ln} {expected}");
            }
        }
    }

    #[test]
    fn a_token_that_is_cut_is_impossible() {
        let logits = logits_of(&[0.5, 0.3, 0.15, 0.05]);
        let top_2 = ChainConfig::sampled([Filter::TopK(TopK { k: 2 })]);
        let ln = ln_prob(&top_2, &logits, &[], 1);
        assert!((ln - (0.3_f64 / 0.8).ln()).abs() < 1e-6);
        let cold = Filter::Temperature(Temperature { temperature: 0.0 });
        for (chain, token) in [
            (top_2, 2),
            (ChainConfig::greedy(), 1),
            (ChainConfig::sampled([cold]), 1),
            (ChainConfig::sampled([Filter::TopP(TopP { p: 0.4 })]), 1),
        ] {
            let ln = ln_prob(&chain, &logits, &[], token);
            assert!(ln.is_infinite() && ln < 0.0, "{chain}: {ln}");
        }
        assert!(ln_prob(&ChainConfig::greedy(), &logits, &[], 0).abs() < 1e-12);
    }

    #[test]
    fn penalties_see_the_history() {
        let logits = logits_of(&[0.5, 0.5]);
        let mut penalty = (FilterKind::PresencePenalty.spec().usual)();
        let params = FilterKind::PresencePenalty.spec().params;
        params.first().unwrap().set(&mut penalty, 1.0);
        let chain = ChainConfig::sampled([penalty]);
        let alone = ln_prob(&chain, &logits, &[], 0);
        let again = ln_prob(&chain, &logits, &[0], 0);
        assert!((alone - 0.5_f64.ln()).abs() < 1e-6);
        let expected = (1.0 / (1.0 + 1.0_f64.exp())).ln();
        assert!((again - expected).abs() < 1e-6, "{again}");
    }

    #[test]
    fn the_coin_of_xtc_is_averaged_out() {
        let logits = logits_of(&[0.5, 0.3, 0.2]);
        // When XTC acts, the last top choice and what is below it stay: 0.3 and 0.2 of 0.5.
        let chain = ChainConfig::sampled([Filter::Xtc(Xtc {
            probability: 0.25,
            threshold: 0.25,
        })]);
        let expected = [0.5 * 0.75, 0.25 * 0.6 + 0.75 * 0.3, 0.25 * 0.4 + 0.75 * 0.2];
        for (token, expected) in (0..).zip(expected) {
            let prob = ln_prob(&chain, &logits, &[], token).exp();
            assert!((prob - expected).abs() < 1e-6, "{token}: {prob} {expected}");
        }
    }

    #[test]
    fn an_adaptive_selector_has_no_likelihood() {
        let mut config = ChainConfig::sampled([]);
        config.selector = Selector::MirostatV2(MirostatV2 { tau: 3.0, eta: 0.1 });
        assert!(ChainLikelihood::new(&config).is_none());
    }
}

//! What an adaptive selector learns from a given token, and whether the state that it recorded
//! follows from the one before.

use super::{AdaptiveP, Candidates, Draw, Selector, SelectorState, bits};
use crate::decoding::Taken;

/// The relative rounding error of a logarithm on another processor.
const ROUNDING: f64 = 1e-9;

impl Selector {
    /// Returns the probability before the selector of a token that it learns from without picking
    /// it: that of a given text.
    pub(in crate::decoding) fn prob_to_learn(
        &self,
        taken: Taken,
        candidates: &mut Candidates,
    ) -> Option<f64> {
        let Taken::Given(token) = taken else {
            return None;
        };
        if !self.is_adaptive() {
            return None;
        }
        let softmax = candidates.softmax();
        let logit = candidates.logit(token)?;
        Some(softmax.prob(logit))
    }

    /// Returns what it knows after a token that it did not pick, as if it had. `prob_before` is the
    /// token's probability before the selector.
    pub(in crate::decoding) fn learn(
        &self,
        prob_before: f64,
        draw: &Draw,
        before: SelectorState,
    ) -> SelectorState {
        let memory = before.memory.filter(|_| before.learned_by == Some(*self));
        let memory = match self {
            Self::MirostatV1(of) => Some([next_mu(memory, of.tau, of.eta, draw), 0.0]),
            Self::MirostatV2(of) => Some([next_mu(memory, of.tau, of.eta, draw), 0.0]),
            Self::AdaptiveP(of) if of.target >= 0.0 => {
                let decay = f64::from(of.decay.clamp(0.0, 0.99));
                let [sum, weight] = memory.unwrap_or_else(|| start_of(*of));
                Some([prob_before + decay * sum, 1.0 + decay * weight])
            }
            Self::AdaptiveP(_) => memory,
            _ => return before,
        };
        SelectorState {
            memory,
            learned_by: Some(*self),
        }
    }
}

impl SelectorState {
    /// Returns whether this state can follow the one `before` when the selector learned from a token.
    /// `prob_before` is the token's probability before the selector, if it is known.
    pub fn follows(
        &self,
        before: &Self,
        selector: Selector,
        draw: &Draw,
        prob_before: Option<f64>,
    ) -> bool {
        if !selector.is_adaptive() {
            return self == before;
        }
        let known = before.learned_by == Some(selector);
        let memory = before.memory.filter(|_| known);
        if self.learned_by != Some(selector) {
            return false;
        }
        match (selector, self.memory) {
            (Selector::MirostatV1(of), Some([mu, rest])) => {
                let next = next_mu(memory, of.tau, of.eta, draw);
                near(mu, next) && rest == 0.0
            }
            (Selector::MirostatV2(of), Some([mu, rest])) => {
                let next = next_mu(memory, of.tau, of.eta, draw);
                near(mu, next) && rest == 0.0
            }
            // Below 0 it is a plain draw, which learns nothing.
            (Selector::AdaptiveP(of), now) if of.target < 0.0 => now == memory,
            (Selector::AdaptiveP(of), Some([sum, weight])) => {
                let decay = f64::from(of.decay.clamp(0.0, 0.99));
                let [sum_before, weight_before] = memory.unwrap_or_else(|| start_of(of));
                let prob = sum - decay * sum_before;
                let is_prob = match prob_before {
                    Some(expected) => (prob - expected).abs() <= 1e-5,
                    None => (-1e-9..=1.0 + 1e-9).contains(&prob),
                };
                near(weight, 1.0 + decay * weight_before) && is_prob
            }
            _ => false,
        }
    }
}

/// The sum and the weight before the first draw, whose average is the target.
fn start_of(of: AdaptiveP) -> [f64; 2] {
    let decay = f64::from(of.decay.clamp(0.0, 0.99));
    [f64::from(of.target), 1.0].map(|value| value / (1.0 - decay))
}

fn next_mu(memory: Option<[f64; 2]>, tau: f32, eta: f32, draw: &Draw) -> f64 {
    let mu = memory.map_or(2.0 * f64::from(tau), |[mu, _]| mu);
    mu - f64::from(eta) * (bits(draw.prob) - f64::from(tau))
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= ROUNDING * expected.abs().max(1.0)
}

#[cfg(test)]
mod tests {
    use crate::decoding::filters::MinP;
    use crate::decoding::selector::{AdaptiveP, MirostatV1, MirostatV2};
    use crate::decoding::testing::logits_of;
    use crate::decoding::{
        ChainConfig, Coins, Filter, History, SamplerChain, Selector, Taken, TokenId,
    };

    #[test]
    fn a_recorded_state_follows_from_the_one_before() {
        let probs = [0.3, 0.25, 0.2, 0.15, 0.1];
        for selector in [
            Selector::Multinomial,
            Selector::MirostatV1(MirostatV1 { tau: 2.0, eta: 0.3 }),
            Selector::MirostatV2(MirostatV2 { tau: 2.0, eta: 0.3 }),
            Selector::AdaptiveP(AdaptiveP {
                target: 0.2,
                decay: 0.5,
            }),
            Selector::AdaptiveP(AdaptiveP {
                target: -1.0,
                decay: 0.5,
            }),
        ] {
            let mut chain = SamplerChain::new(ChainConfig {
                selector,
                ..ChainConfig::sampled([])
            });
            let mut states = vec![chain.state()];
            for position in 0..20 {
                let (before, coins) = (chain.state(), Coins { seed: 1, position });
                let sampled = chain.sample(&logits_of(&probs), History::empty(), coins);
                let trace = sampled.unwrap().trace;
                let prob = f64::from(probs[trace.draw.token.index()]);
                let after = trace.selector_state;
                assert!(after.follows(&before, selector, &trace.draw, Some(prob)));
                assert!(after.follows(&before, selector, &trace.draw, None));
                states.push(after);
            }
            if let Selector::MirostatV1(_) | Selector::MirostatV2(_) = selector {
                let coins = Coins {
                    seed: 1,
                    position: 20,
                };
                let before = chain.state();
                let sampled = chain.sample(&logits_of(&probs), History::empty(), coins);
                let trace = sampled.unwrap().trace;
                assert!(!states[3].follows(&before, selector, &trace.draw, None));
                assert!(
                    !trace
                        .selector_state
                        .follows(&states[3], selector, &trace.draw, None)
                );
            }
        }
    }

    #[test]
    fn a_given_text_teaches_the_selector_what_writing_it_did() {
        for selector in [
            Selector::MirostatV1(MirostatV1 { tau: 2.0, eta: 0.3 }),
            Selector::MirostatV2(MirostatV2 { tau: 1.5, eta: 0.3 }),
            Selector::AdaptiveP(AdaptiveP {
                target: 0.2,
                decay: 0.5,
            }),
        ] {
            let config = ChainConfig {
                selector,
                ..ChainConfig::sampled([Filter::MinP(MinP { p: 0.3 })])
            };
            let mut writer = SamplerChain::new(config.clone());
            let mut reader = SamplerChain::new(config);
            for position in 0..20 {
                let coins = Coins { seed: 1, position };
                let written =
                    writer.sample(&logits_of(&[0.1, 0.2, 0.3, 0.4]), History::empty(), coins);
                let given = Taken::Given(written.unwrap().token);
                let read = reader.take(
                    &logits_of(&[0.1, 0.2, 0.3, 0.4]),
                    History::empty(),
                    coins,
                    given,
                );
                assert_eq!(read.unwrap().trace.selector_state, writer.state());
                assert_eq!(reader.state(), writer.state(), "{selector}");
            }
            // Min-p drops token 0, so the selector could not have picked it.
            for taken in [Taken::Given(TokenId(0)), Taken::ByHand(TokenId(3))] {
                let before = reader.state();
                let taken = reader.take(
                    &logits_of(&[0.1, 0.2, 0.3, 0.4]),
                    History::empty(),
                    Coins {
                        seed: 2,
                        position: 0,
                    },
                    taken,
                );
                assert_eq!(taken.unwrap().trace.selector_state, before);
                assert_eq!(reader.state(), before, "{selector}");
            }
        }
    }
}

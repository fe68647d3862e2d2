//! What an adaptive selector learns from a given token, and whether the state that it recorded
//! follows from the one before.

use super::{Candidates, Draw, Selector, SelectorState};
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
        if !self.is_adaptive() {
            return before;
        }
        let known = before.memory.filter(|_| before.learned_by == Some(*self));
        let memory = self.rule().learn(known, prob_before, draw);
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
        let rule = selector.rule();
        rule.follows(self.memory, memory, draw, prob_before)
    }
}

/// Returns whether two numbers are the same but for rounding.
pub(super) fn near(value: f64, expected: f64) -> bool {
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

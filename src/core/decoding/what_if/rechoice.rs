//! Chooses a recorded token again: the same settings, coin and selector state over the recorded
//! distribution.

use super::recorded::{Recorded, answer};
use super::tail::ROUNDING;
use super::{WhatIf, context_of};
use crate::decoding::{
    ChainConfig, Coins, Detail, Evidence, History, Selector, SelectorState, StageContext,
};

/// Chooses from a recorded distribution as [`what_if`](super::what_if) does, with the state that
/// the selector had before the step, and without deciding what the rounding of another processor
/// may decide otherwise.
pub fn rechoice(
    evidence: &Evidence,
    chain: &ChainConfig,
    history: History<'_>,
    coins: Coins,
    state: SelectorState,
) -> Option<WhatIf> {
    let context = context_of(evidence, chain, history, coins);
    let from = |recorded: Option<Recorded<'_>>| {
        let mut step = recorded?.after(chain, context);
        Some(step.choose_again(chain.selector, context, state))
    };
    let outcome = from(Recorded::of_head(evidence))?;
    if matches!(outcome, WhatIf::Exact(_)) || evidence.detail == Detail::HeadOnly {
        return Some(outcome);
    }
    from(Recorded::of(evidence))
}

impl Recorded<'_> {
    fn choose_again(
        &mut self,
        selector: Selector,
        context: StageContext<'_>,
        mut state: SelectorState,
    ) -> WhatIf {
        match (self.tail, selector) {
            (None, Selector::Multinomial) => match self.hits(context.coins.draw()) {
                [Some(first), Some(last)] => answer(self.sure && first == last, first.token),
                _ => WhatIf::Bounded(self.head.best().token),
            },
            (None, selector) if selector.is_adaptive() => {
                let mut left = self.head.clone();
                let draw = selector.pick(context.coins, context.history, &mut state, &mut left);
                let end = draw.below + draw.prob;
                let is_inside = draw.coin.is_some_and(|coin| {
                    let is_after = draw.below <= 0.0 || draw.below + ROUNDING <= coin;
                    is_after && (end >= 1.0 - ROUNDING || coin <= end - ROUNDING)
                });
                answer(self.sure && is_inside, draw.token)
            }
            _ => self.draw(selector, context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rechoice;
    use crate::decoding::filters::{Temperature, TopK, TopP};
    use crate::decoding::selector::{AdaptiveP, MirostatV2};
    use crate::decoding::testing::row;
    use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Selector, WhatIf};

    fn top_k(k: u32, selector: Selector) -> ChainConfig {
        ChainConfig {
            selector,
            ..ChainConfig::sampled([Filter::TopK(TopK { k })])
        }
    }

    #[test]
    fn every_recorded_choice_is_made_again() {
        // How many of 200 choices the recorded heads decide at least.
        let mirostat = Selector::MirostatV2(MirostatV2 { tau: 2.0, eta: 0.3 });
        let adaptive = Selector::AdaptiveP(AdaptiveP {
            target: 0.3,
            decay: 0.9,
        });
        let usual = ChainConfig::sampled([
            Filter::Temperature(Temperature { temperature: 0.7 }),
            Filter::TopP(TopP { p: 0.9 }),
        ]);
        for (chain, n_least) in [
            (ChainConfig::greedy(), 200),
            (ChainConfig::sampled([]), 100),
            (top_k(5, Selector::Multinomial), 195),
            (usual, 100),
            (top_k(8, mirostat), 195),
            (top_k(8, adaptive), 150),
            (top_k(20, Selector::GumbelMax), 195),
        ] {
            let settings = chain.to_string();
            let mut sampler = SamplerChain::new(chain.clone());
            let mut n_decided = 0;
            for position in 0..200 {
                let logits = row(position, 3.0);
                let coins = Coins {
                    seed: 5,
                    position: u64::from(position),
                };
                let state = sampler.state();
                let sampled = sampler.sample(&logits, History::empty(), coins).unwrap();
                let raw = &sampled.trace.raw;
                match rechoice(raw, &chain, History::empty(), coins, state) {
                    Some(WhatIf::Exact(token)) => {
                        assert_eq!(token, sampled.token, "{settings} at {position}");
                        n_decided += 1;
                    }
                    Some(WhatIf::Unrecorded) => {
                        assert!(raw.head.iter().all(|known| known.token != sampled.token));
                    }
                    _ => {}
                }
            }
            assert!(n_decided >= n_least, "{settings}: {n_decided}");
        }
    }
}

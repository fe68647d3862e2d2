//! How far a recorded text stays the same under other settings, without running the model.

mod choice;
#[cfg(test)]
mod head_only;
mod intervals;
mod map;
mod text;

pub(crate) use choice::{Choice, HeldToken};
pub(crate) use intervals::{Flip, IntervalSearch, StableInterval};
pub(crate) use map::{KeptMap, StabilityMap};
pub(crate) use text::MappedText;

use serde::{Deserialize, Serialize};

use self::choice::is_recorded;
use crate::analysis::WhatIfReader;
use crate::decoding::{ChainConfig, WhatIf};
use crate::generation::Generation;

/// How far a text stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stability {
    /// How many of its first tokens certainly stay the same.
    pub n_same: usize,
    /// Whether the next token certainly changes, or there is none. Otherwise the record can't tell,
    /// and more tokens may stay the same.
    pub exact: bool,
}

/// Applies a chain to each recorded step, with the recorded coins, until a token differs. From
/// there on the texts have different contexts, so nothing more is known.
pub(crate) fn stability(generation: &Generation, chain: &ChainConfig) -> Stability {
    let seed = generation.config.seed;
    let mut reader = WhatIfReader::new(&generation.prompt, chain.clone(), seed);
    for (n_same, step) in generation.steps.iter().enumerate() {
        let exact = match reader.read(step) {
            Some(WhatIf::Exact(token)) if token == step.token => continue,
            Some(WhatIf::Unrecorded) => is_recorded(step),
            Some(WhatIf::Exact(_)) => true,
            Some(WhatIf::Bounded(_)) => reader.rules_out(n_same, step),
            None => false,
        };
        return Stability { n_same, exact };
    }
    Stability {
        n_same: generation.steps.len(),
        exact: true,
    }
}

#[cfg(test)]
mod tests {
    use super::{HeldToken, IntervalSearch, Stability, StabilityMap, stability};
    use crate::analysis::sweep::{Axis, Parameter};
    use crate::decoding::{ChainConfig, Coins, FilterKind, History, SamplerChain};
    use crate::generation::testing::generation;
    use crate::generation::{Generation, PaneSettings};

    /// A text whose every token is what the chain draws with the recorded coin.
    fn drawn(settings: &str) -> Generation {
        let chain = settings.parse::<PaneSettings>().unwrap().chain;
        let mut text = generation(&[(" fox", 0.4), (" house", 0.1), (" little", 0.3), (".", 0.2)]);
        text.config.chain = chain;
        let mut tokens = text.prompt.tokens.clone();
        for index in 0..text.steps.len() {
            let mut logits = vec![f32::NEG_INFINITY; text.vocabulary.n_tokens()];
            let step = &mut text.steps[index];
            for candidate in &step.trace.raw.head {
                logits[candidate.token.index()] = candidate.logit;
            }
            let coins = Coins {
                seed: text.config.seed,
                position: tokens.len() as u64,
            };
            let mut chain = SamplerChain::new(text.config.chain.clone());
            let history = History::new(&tokens, 3);
            let sampled = chain.sample(&logits, history, coins).unwrap();
            step.token = sampled.token;
            step.trace = std::sync::Arc::new(sampled.trace);
            tokens.push(step.token);
        }
        text
    }

    fn chain(settings: &str) -> ChainConfig {
        settings.parse::<PaneSettings>().unwrap().chain
    }

    #[test]
    fn a_text_is_stable_under_its_own_settings() {
        let text = drawn("T 0.9, top-p 0.95");
        let all = Stability {
            n_same: 4,
            exact: true,
        };
        assert_eq!(stability(&text, &text.config.chain), all);
    }

    #[test]
    fn the_first_token_that_differs_ends_the_comparison() {
        let text = drawn("T 1.5");
        let tops = text
            .steps
            .iter()
            .take_while(|step| step.trace.raw_rank == 1);
        let found = stability(&text, &chain("top-k 1"));
        assert_eq!(found.n_same, tops.count());
        assert!(found.exact);
    }

    #[test]
    fn a_map_fills_coarse_first_and_agrees_with_each_cell() {
        let text = drawn("T 0.9, top-p 0.95");
        let axis = |kind, ends, n| Axis::range(Parameter::Filter(kind, 0), ends, n).unwrap();
        let rows = axis(FilterKind::Temperature, [2.0, 0.1], 9);
        let columns = axis(FilterKind::TopP, [0.1, 1.0], 10);
        let mut map = StabilityMap::new(&text, rows, columns);
        let mut n = 0;
        assert!(!map.advance(&text, || {
            n += 1;
            n <= 9
        }));
        assert_eq!((map.n_done(), map.n_cells()), (9, 90));
        // The first cells are every fourth cell of every fourth row; the others show their values.
        assert!(map.is_known(0) && map.is_known(8) && map.is_known(40) && !map.is_known(1));
        assert_eq!(map.shown(13), map.shown(0));
        assert!(map.advance(&text, || true));
        for cell in 0..map.n_cells() {
            let expected = stability(&text, &map.chain_of(cell));
            assert_eq!(map.shown(cell), Some(expected), "{cell}");
        }
    }

    #[test]
    fn a_held_token_is_replayed_with_the_tokens_before_it() {
        let text = drawn("T 0.9, top-p 0.95");
        let axis = |kind, ends, n| Axis::range(Parameter::Filter(kind, 0), ends, n).unwrap();
        for index in 0..text.steps.len() {
            let held = HeldToken::new(&text, index).unwrap();
            let own = held.stability(held.choice(&text.config.chain));
            assert_eq!((own.n_same, own.exact), (1, true), "{index}");
            let rows = axis(FilterKind::Temperature, [2.0, 0.1], 9);
            let columns = axis(FilterKind::TopP, [0.1, 1.0], 10);
            let mut map = StabilityMap::of_token(&text, index, rows, columns);
            assert!(map.advance(&text, || true));
            let mut whole = 0;
            for cell in 0..map.n_cells() {
                let chain = map.chain_of(cell);
                let shown = map.shown(cell).unwrap();
                // If the whole text stays the same up to here, so does this token.
                let all = stability(&text, &chain);
                if all.n_same > index {
                    assert_eq!(shown.n_same, 1, "{index} {chain}");
                    whole += 1;
                } else if all.n_same == index && all.exact {
                    assert_eq!(shown.n_same, 0, "{index} {chain}");
                }
            }
            assert!(whole > 0, "{index}");
        }
        assert!(HeldToken::new(&text, 99).is_none());
    }

    #[test]
    fn the_intervals_of_a_token_contain_those_of_the_text() {
        let text = drawn("T 0.9, top-p 0.95");
        let mut whole = IntervalSearch::new(&text);
        whole.advance(&text, || true);
        for step in 0..text.steps.len() {
            let mut search = IntervalSearch::of_token(&text, step);
            assert!(!search.is_complete());
            assert!(search.advance(&text, || true));
            for (one, all) in search.intervals().iter().zip(whole.intervals()) {
                assert!(
                    one.low <= all.low && all.high <= one.high,
                    "{one:?} {all:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_changes_within_the_intervals_and_something_does_beyond_their_ends() {
        let text = drawn("T 0.9, top-p 0.95");
        let mut search = IntervalSearch::new(&text);
        assert!(search.advance(&text, || true));
        let intervals = search.intervals();
        assert_eq!(intervals.len(), 2);
        for interval in intervals {
            let at = |value: f64| {
                let mut chain = text.config.chain.clone();
                interval.parameter.set(&mut chain, value);
                stability(&text, &chain)
            };
            for (end, last) in [
                (interval.below.as_ref(), interval.low),
                (interval.above.as_ref(), interval.high),
            ] {
                assert_eq!(at(last).n_same, 4, "{} {last}", interval.parameter.name());
                if let Some(flip) = end {
                    assert!(at(flip.value).n_same <= flip.step, "{flip:?}");
                }
            }
        }
    }
}

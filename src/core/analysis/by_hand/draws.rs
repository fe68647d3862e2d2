//! Many draws from one row of logits, compared with the distribution they should follow.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ChiSquared, LogitRow};
use crate::decoding::{ChainConfig, Coins, DecodingError, Filter, SamplerChain, Selector, TokenId};

/// How often each token was drawn, with a test of fairness.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draws {
    /// Sorted by descending expectation.
    pub counts: Vec<Tally>,
    /// `None` if the selector uses no coin, only one token can be drawn, or there are too few
    /// draws. [`Self::untested`] says which.
    pub chi_squared: Option<ChiSquared>,
}

/// A token's observed and expected counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tally {
    pub id: TokenId,
    /// How often it was drawn.
    pub count: u32,
    /// The number of draws times its probability in the distribution that the selector picks from.
    pub expected: f64,
}

/// Why the draws can't be tested for fairness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untested {
    /// The selector always takes the most likely token.
    NoCoin,
    /// The selector is greedy; only a random stage before it varies the outcome.
    ChanceBefore,
    /// The chain keeps one token.
    OneToken,
    /// There are too few draws for two bins with an expected count of 5.
    TooFewDraws,
}

impl Draws {
    /// Draws `n` times, at `n` consecutive positions. Each draw starts with a fresh chain, so that
    /// an adaptive selector does not carry state from one draw to the next.
    pub fn toss(
        config: &ChainConfig,
        row: &LogitRow,
        coins: Coins,
        n: u32,
    ) -> Result<Self, DecodingError> {
        let history = row.history();
        let mut chain = SamplerChain::new(config.clone());
        let by_chance = config.active().any(Filter::is_random);
        let mut counts: BTreeMap<TokenId, (u32, f64)> = BTreeMap::new();
        for toss in 0..n {
            let coins = Coins {
                position: coins.position + u64::from(toss),
                ..coins
            };
            chain.restart();
            let sampled = chain.sample(&row.logits, history, coins)?;
            counts.entry(sampled.token).or_default().0 += 1;
            // A random stage produces a different distribution at each position.
            if by_chance || toss == 0 {
                let n_draws = if by_chance { 1 } else { n };
                for candidate in chain.first_distribution(&row.logits, history, coins)? {
                    counts.entry(candidate.token).or_default().1 +=
                        candidate.prob * f64::from(n_draws);
                }
            }
        }
        Ok(Self::of(config.selector, counts))
    }

    /// Merges these draws with more draws from the same row.
    #[must_use]
    pub fn and(&self, more: &Self, selector: Selector) -> Self {
        let mut counts: BTreeMap<TokenId, (u32, f64)> = BTreeMap::new();
        for tally in self.counts.iter().chain(&more.counts) {
            let sum = counts.entry(tally.id).or_default();
            sum.0 = sum.0.saturating_add(tally.count);
            sum.1 += tally.expected;
        }
        Self::of(selector, counts)
    }

    /// Returns why the draws were not tested. Meaningful only if `chi_squared` is `None`.
    pub fn untested(&self, selector: Selector) -> Untested {
        // A smaller expectation means that the token can't be drawn.
        let possible = self.counts.iter().filter(|tally| tally.expected > 1e-9);
        match (selector, possible.count()) {
            (selector, ..2) if selector.is_deterministic() => Untested::NoCoin,
            (selector, _) if selector.is_deterministic() => Untested::ChanceBefore,
            (_, ..2) => Untested::OneToken,
            _ => Untested::TooFewDraws,
        }
    }

    /// Returns the number of draws.
    pub fn n(&self) -> u64 {
        self.counts.iter().map(|tally| u64::from(tally.count)).sum()
    }

    fn of(selector: Selector, counts: BTreeMap<TokenId, (u32, f64)>) -> Self {
        let mut counts: Vec<Tally> = counts
            .into_iter()
            .map(|(id, (count, expected))| Tally {
                id,
                count,
                expected,
            })
            .collect();
        counts.sort_by(|a, b| b.expected.total_cmp(&a.expected).then(a.id.cmp(&b.id)));
        // Greedy counts match the expectation by construction, so a test would say nothing.
        let chi_squared = match selector {
            selector if selector.is_deterministic() => None,
            _ => ChiSquared::of(&counts),
        };
        Self {
            counts,
            chi_squared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Draws, Untested};
    use crate::analysis::by_hand::LogitRow;
    use crate::decoding::filters::{TopK, Xtc};
    use crate::decoding::selector::{AdaptiveP, MirostatV1, MirostatV2};
    use crate::decoding::{ChainConfig, Filter, Selector};

    fn row() -> LogitRow {
        LogitRow {
            logits: vec![2.0, 1.0, 0.5, -1.0],
            ..LogitRow::default()
        }
    }

    #[test]
    fn merged_draws_equal_draws_made_in_one_go() {
        for filter in [
            Filter::TopK(TopK { k: 3 }),
            Filter::Xtc(Xtc {
                probability: 0.5,
                threshold: 0.1,
            }),
        ] {
            let config = ChainConfig::sampled([filter]);
            let coins = row().coins(7);
            let all = Draws::toss(&config, &row(), coins, 300).unwrap();
            let first = Draws::toss(&config, &row(), coins, 100).unwrap();
            let mut later = coins;
            later.position += 100;
            let rest = Draws::toss(&config, &row(), later, 200).unwrap();
            let both = first.and(&rest, config.selector);
            assert_eq!(both.n(), 300);
            for (one, other) in both.counts.iter().zip(&all.counts) {
                assert_eq!((one.id, one.count), (other.id, other.count));
                assert!((one.expected - other.expected).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn expected_counts_include_what_an_adaptive_selector_changes() {
        let (tau, eta) = (1.5, 0.1);
        for selector in [
            Selector::MirostatV1(MirostatV1 { tau, eta }),
            Selector::MirostatV2(MirostatV2 { tau, eta }),
            Selector::AdaptiveP(AdaptiveP {
                target: 0.5,
                decay: 0.9,
            }),
        ] {
            let config = ChainConfig {
                selector,
                ..ChainConfig::sampled([])
            };
            let draws = Draws::toss(&config, &row(), row().coins(7), 2000).unwrap();
            let expected: f64 = draws.counts.iter().map(|tally| tally.expected).sum();
            assert!((expected - 2000.0).abs() < 1e-6, "{selector}: {expected}");
            for tally in &draws.counts {
                let possible = tally.count == 0 || tally.expected > 0.0;
                assert!(possible, "{selector}: {tally:?}");
            }
            if let Some(test) = draws.chi_squared {
                assert!(test.p_value() > 0.001, "{selector}: {test:?}");
            }
        }
    }

    #[test]
    fn only_draws_with_a_coin_are_tested() {
        let coins = row().coins(7);
        let greedy = Draws::toss(&ChainConfig::greedy(), &row(), coins, 100).unwrap();
        assert_eq!(greedy.chi_squared, None);
        let best = greedy.counts[0];
        assert_eq!((greedy.counts.len(), best.count), (1, 100));
        assert!((best.expected - 100.0).abs() < 1e-9);
        assert_eq!(greedy.untested(Selector::Greedy), Untested::NoCoin);
        let by_chance = ChainConfig {
            selector: Selector::Greedy,
            ..ChainConfig::sampled([Filter::Xtc(Xtc {
                probability: 0.5,
                threshold: 0.1,
            })])
        };
        let draws = Draws::toss(&by_chance, &row(), coins, 100).unwrap();
        assert!(draws.counts.len() > 1, "{draws:?}");
        assert_eq!(draws.untested(Selector::Greedy), Untested::ChanceBefore);
        let fair = Draws::toss(&ChainConfig::sampled([]), &row(), coins, 2000).unwrap();
        let test = fair.chi_squared.unwrap();
        assert!(test.p_value() > 0.001, "{test:?}");
    }
}

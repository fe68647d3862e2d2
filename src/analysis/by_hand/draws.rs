//! Many draws from one row, against the distribution that they should follow.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ChiSquared, ScoreRow};
use crate::decoding::{ChainConfig, Coins, DecodingError, SamplerChain, Selector, TokenId};

/// How often each token was drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draws {
    /// The most expected first.
    pub counts: Vec<Tally>,
    /// Nothing where no coin chooses, where only one token can be drawn, and where there are too few
    /// draws.
    pub chi_squared: Option<ChiSquared>,
}

/// A token's count, and the one that was to be expected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tally {
    /// The token.
    pub id: TokenId,
    /// How often it was drawn.
    pub count: u32,
    /// How often the distribution from which the selector picks lets one expect it.
    pub expected: f64,
}

/// Why draws can't be held against chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untested {
    /// The most likely token is always taken.
    NoCoin,
    /// The most likely of those is always taken that a stage leaves by chance.
    ChanceBefore,
    /// The chain leaves one token.
    OneToken,
    /// There are too few draws to expect 5 of two kinds of token.
    TooFewDraws,
}

impl Draws {
    /// Draws at as many positions in a row, each as the first of its text: what a selector learns from
    /// one does not change the next.
    pub fn toss(
        config: &ChainConfig,
        row: &ScoreRow,
        coins: Coins,
        n: u32,
    ) -> Result<Self, DecodingError> {
        let history = row.history();
        let mut chain = SamplerChain::new(config.clone());
        let by_chance = config.active().any(|filter| filter.is_random());
        let mut counts: BTreeMap<TokenId, (u32, f64)> = BTreeMap::new();
        for toss in 0..n {
            let coins = Coins {
                position: coins.position + u64::from(toss),
                ..coins
            };
            chain.restart();
            let sampled = chain.sample(&row.logits, history, coins)?;
            counts.entry(sampled.token).or_default().0 += 1;
            // A stage that acts by chance leaves another distribution at another position.
            if by_chance || toss == 0 {
                let n_for = if by_chance { 1 } else { n };
                for candidate in chain.first_distribution(&row.logits, history, coins)? {
                    counts.entry(candidate.token).or_default().1 +=
                        candidate.prob * f64::from(n_for);
                }
            }
        }
        Ok(Self::of(config.selector, counts))
    }

    /// These draws and others from the same row.
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

    /// Why there is no χ²; means nothing where there is one.
    pub fn untested(&self, selector: Selector) -> Untested {
        // Less than this is never drawn.
        let possible = self.counts.iter().filter(|tally| tally.expected > 1e-9);
        match (selector, possible.count()) {
            (Selector::Greedy, ..2) => Untested::NoCoin,
            (Selector::Greedy, _) => Untested::ChanceBefore,
            (_, ..2) => Untested::OneToken,
            _ => Untested::TooFewDraws,
        }
    }

    /// How many draws there are.
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
        // Where the best is always taken, the counts are what is expected, whatever chance does.
        let chi_squared = match selector {
            Selector::Greedy => None,
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
    use crate::analysis::by_hand::ScoreRow;
    use crate::decoding::filters::{TopK, Xtc};
    use crate::decoding::selector::{AdaptiveP, MirostatV1, MirostatV2};
    use crate::decoding::{ChainConfig, Filter, Selector};

    fn row() -> ScoreRow {
        ScoreRow {
            logits: vec![2.0, 1.0, 0.5, -1.0],
            ..ScoreRow::default()
        }
    }

    #[test]
    fn draws_in_parts_are_the_draws_of_the_whole() {
        for filter in [
            Filter::TopK(TopK { k: 3 }),
            Filter::Xtc(Xtc {
                probability: 0.5,
                threshold: 0.1,
            }),
        ] {
            let config = ChainConfig::sampled([filter]);
            let coins = row().coins(7);
            let whole = Draws::toss(&config, &row(), coins, 300).unwrap();
            let first = Draws::toss(&config, &row(), coins, 100).unwrap();
            let mut later = coins;
            later.position += 100;
            let rest = Draws::toss(&config, &row(), later, 200).unwrap();
            let both = first.and(&rest, config.selector);
            assert_eq!(both.n(), 300);
            for (one, other) in both.counts.iter().zip(&whole.counts) {
                assert_eq!((one.id, one.count), (other.id, other.count));
                assert!((one.expected - other.expected).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_a_selector_cuts_and_weighs_is_expected() {
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
    fn only_draws_by_a_coin_are_tested() {
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

//! Many draws from one row, against the distribution that they should follow.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Row;
use crate::decoding::{
    ChainConfig, Coins, DecodingError, History, SamplerChain, Selector, TokenId,
};

/// How often each token was drawn.
#[derive(Debug, Serialize)]
pub(super) struct Draws {
    pub counts: Vec<Tally>,
    /// Nothing where the selector draws by rules of its own, or where only one token can be drawn.
    pub chi_squared: Option<Test>,
}

/// A token's count, and the one that was to be expected.
#[derive(Debug, Serialize)]
pub(super) struct Tally {
    pub id: TokenId,
    pub count: u32,
    pub expected: f64,
}

/// How far the counts lie from those expected.
#[derive(Debug, Serialize)]
pub(super) struct Test {
    /// The sum of `(count - expected)² / expected`; the rarest tokens count as one, so that 5 or more
    /// are expected of each.
    pub chi_squared: f64,
    pub n_freedom: u32,
    /// What honest draws pass once in 20 times, and once in 1,000.
    pub bound_one_in_20: f64,
    pub bound_one_in_1000: f64,
}

impl Draws {
    /// Draws at as many positions in a row, each as the first of its text.
    pub fn toss(
        config: &ChainConfig,
        row: &Row,
        coins: Coins,
        n: u32,
    ) -> Result<Self, DecodingError> {
        let history = History::new(&row.history, row.n_prompt);
        let chain = SamplerChain::new(config.clone());
        let by_chance = config.active().any(|filter| filter.rule().acts_by_chance());
        let mut counts: BTreeMap<TokenId, (u32, f64)> = BTreeMap::new();
        for toss in 0..n {
            let coins = Coins {
                position: coins.position + u64::from(toss),
                ..coins
            };
            let sampled = chain.clone().sample(&row.logits, history, coins)?;
            counts.entry(sampled.token).or_default().0 += 1;
            // A stage that acts by chance leaves another distribution at another position.
            if by_chance || toss == 0 {
                let n_for = if by_chance { 1 } else { n };
                for candidate in chain.distribution(&row.logits, history, coins)? {
                    counts.entry(candidate.token).or_default().1 +=
                        candidate.prob * f64::from(n_for);
                }
            }
        }
        let mut counts: Vec<Tally> = counts
            .into_iter()
            .map(|(id, (count, expected))| Tally {
                id,
                count,
                expected,
            })
            .collect();
        counts.sort_by(|a, b| b.expected.total_cmp(&a.expected).then(a.id.cmp(&b.id)));
        let plain = matches!(config.selector, Selector::Multinomial | Selector::GumbelMax);
        let chi_squared = if plain { Test::of(&counts) } else { None };
        Ok(Self {
            counts,
            chi_squared,
        })
    }
}

impl Test {
    fn of(counts: &[Tally]) -> Option<Self> {
        let mut bins = vec![(0.0, 0.0)];
        for Tally {
            count, expected, ..
        } in counts.iter().rev()
        {
            if bins.last().is_none_or(|(_, expected)| *expected >= 5.0) {
                bins.push((0.0, 0.0));
            }
            if let Some(bin) = bins.last_mut() {
                bin.0 += f64::from(*count);
                bin.1 += expected;
            }
        }
        let n_freedom = bins.len().checked_sub(1).filter(|n| *n > 0)? as u32;
        Some(Self {
            chi_squared: bins
                .iter()
                .map(|(count, expected)| (count - expected).powi(2) / expected)
                .sum(),
            n_freedom,
            bound_one_in_20: bound(n_freedom, 1.645),
            bound_one_in_1000: bound(n_freedom, 3.09),
        })
    }
}

/// The χ² that is passed as seldom as a normal variable passes `deviations`.
///
/// Wilson, Hilferty 1931, "The Distribution of Chi-square".
fn bound(n_freedom: u32, deviations: f64) -> f64 {
    let n = f64::from(n_freedom);
    let part = 2.0 / (9.0 * n);
    n * (1.0 - part + deviations * part.sqrt()).powi(3)
}

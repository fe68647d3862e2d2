//! Many draws from the final distribution of a recorded step, with the coins of later positions.

use super::{ChiSquared, Tally};
use crate::decoding::{Coins, TokenId, Trace};

/// The number of equal bins between 0 and 1 in which the coins are counted.
pub const N_COIN_BINS: usize = 20;

/// Stands for all tokens that were not recorded.
const UNRECORDED: TokenId = TokenId(u32::MAX);

/// Draws from one step's final distribution, compared with its probabilities.
#[derive(Debug, Clone, PartialEq)]
pub struct StepDraws {
    /// The recorded tokens, and where the segment of each ends on the bar from 0 to 1.
    ends: Vec<(TokenId, f64)>,
    /// How often each of them was drawn; the last entry counts all other tokens.
    counts: Vec<u32>,
    /// The number of coins in each bin.
    coins: [u32; N_COIN_BINS],
    first_position: u64,
    /// The coins of the next draw.
    next: Coins,
}

impl StepDraws {
    /// Prepares draws from a step, starting with these coins. Returns `None` unless a single coin
    /// decided the step.
    pub fn new(trace: &Trace, coins: Coins) -> Option<Self> {
        trace.draw.coin?;
        // Tokens that a server did not name have no segment of known width.
        trace.known_final_prob()?;
        let survivors = trace.survivors.iter();
        let ends: Vec<(TokenId, f64)> = survivors
            .scan(0.0, |sum, known| {
                *sum += known.prob;
                Some((known.token, *sum))
            })
            .collect();
        Some(Self {
            counts: vec![0; ends.len() + 1],
            ends,
            coins: [0; N_COIN_BINS],
            first_position: coins.position,
            next: coins,
        })
    }

    /// Tosses `n` more coins, one per position.
    pub fn draw(&mut self, n: u32) {
        for _ in 0..n {
            let coin = self.next.draw();
            let place = self.ends.partition_point(|(_, end)| *end <= coin);
            if let Some(count) = self.counts.get_mut(place) {
                *count += 1;
            }
            let is_above = |edge: &usize| coin * N_COIN_BINS as f64 >= *edge as f64;
            let bin = (1..N_COIN_BINS).take_while(is_above).count();
            if let Some(count) = self.coins.get_mut(bin) {
                *count += 1;
            }
            self.next.position += 1;
        }
    }

    /// Returns the number of draws so far.
    pub fn n(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Returns each recorded token with its count and its expected count, most likely first.
    pub fn tallies(&self) -> Vec<Tally> {
        let mut tallies = self.all_tallies();
        tallies.pop();
        tallies
    }

    /// Tests the counts against the probabilities. Returns `None` if there are too few draws.
    pub fn chi_squared(&self) -> Option<ChiSquared> {
        let mut tallies = self.all_tallies();
        // Even if every token was recorded, their probabilities may not quite sum to 1.
        if let Some(rest) = tallies.last_mut()
            && rest.expected < 1e-3
            && rest.count == 0
        {
            tallies.pop();
        }
        tallies.sort_by(|a, b| b.expected.total_cmp(&a.expected));
        ChiSquared::of(&tallies)
    }

    /// Returns the number of coins in each bin.
    pub const fn coin_counts(&self) -> &[u32; N_COIN_BINS] {
        &self.coins
    }

    /// Returns the first and the last address (position) of the coins tossed so far.
    pub const fn addresses(&self) -> (u64, u64) {
        let next = self.next.position;
        (self.first_position, next.saturating_sub(1))
    }

    /// Tests whether the coins of consecutive addresses are uniform. Returns `None` if there are
    /// too few draws.
    pub fn coins_chi_squared(&self) -> Option<ChiSquared> {
        let expected = f64::from(self.n()) / N_COIN_BINS as f64;
        let tallies = self.coins.map(|count| Tally {
            id: UNRECORDED,
            count,
            expected,
        });
        ChiSquared::of(&tallies)
    }

    fn all_tallies(&self) -> Vec<Tally> {
        let n = f64::from(self.n());
        let rest = (UNRECORDED, 1.0);
        let mut start = 0.0;
        let ends = self.ends.iter().copied().chain([rest]);
        ends.zip(&self.counts)
            .map(|((id, end), count)| {
                let prob = (end - start).max(0.0);
                start = end;
                Tally {
                    id,
                    count: *count,
                    expected: n * prob,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::StepDraws;
    use crate::decoding::testing::logits_of;
    use crate::decoding::{ChainConfig, Coins, History, SamplerChain};

    fn draws(chain: ChainConfig, n: u32) -> Option<StepDraws> {
        let coins = Coins {
            seed: 42,
            position: 0,
        };
        let logits = logits_of(&[0.5, 0.3, 0.15, 0.05]);
        let sampled = SamplerChain::new(chain).sample(&logits, History::empty(), coins);
        let mut draws = StepDraws::new(&sampled.unwrap().trace, coins)?;
        draws.draw(n);
        Some(draws)
    }

    #[test]
    fn fair_coins_follow_the_recorded_probabilities() {
        let draws = draws(ChainConfig::sampled([]), 10_000).unwrap();
        assert_eq!(draws.n(), 10_000);
        let tallies = draws.tallies();
        let rounded = tallies.iter().map(|tally| format!("{:.0}", tally.expected));
        let expected = ["5000", "3000", "1500", "500"];
        assert_eq!(rounded.collect::<Vec<_>>(), expected);
        let test = draws.chi_squared().unwrap();
        assert_eq!(test.n_freedom, 3);
        assert!(test.p_value() > 0.001, "{}", test.p_value());
    }

    #[test]
    fn the_coins_of_consecutive_addresses_are_uniform() {
        let draws = draws(ChainConfig::sampled([]), 10_000).unwrap();
        assert_eq!(draws.coin_counts().iter().sum::<u32>(), 10_000);
        assert_eq!(draws.addresses(), (0, 9_999));
        let test = draws.coins_chi_squared().unwrap();
        assert_eq!(test.n_freedom, 19);
        assert!(test.p_value() > 0.001, "{}", test.p_value());
    }

    #[test]
    fn a_biased_distribution_fails_the_test() {
        let mut draws = draws(ChainConfig::sampled([]), 10_000).unwrap();
        // The draws of the first token are counted for the second.
        draws.counts.swap(0, 1);
        assert!(draws.chi_squared().unwrap().p_value() < 1e-6);
    }

    #[test]
    fn draws_in_slices_equal_draws_in_one_go() {
        let all = draws(ChainConfig::sampled([]), 300).unwrap();
        let mut slices = draws(ChainConfig::sampled([]), 100).unwrap();
        slices.draw(200);
        assert_eq!(slices, all);
        assert_eq!(draws(ChainConfig::greedy(), 5), None);
    }
}

//! How one of the remaining candidates is picked.

use serde::{Deserialize, Serialize};

use super::trace::Draw;
use super::{Candidates, Coins};

/// The end of a chain: picks one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "selector", rename_all = "kebab-case")]
pub enum Selector {
    /// The most likely one; of equals the one with the lowest id. No coin.
    Greedy,
    /// By chance, each as often as its probability says.
    Multinomial,
}

impl Selector {
    /// Picks one.
    ///
    /// Multinomial lays the candidates end to end from 0 to 1, the most likely first, and takes the
    /// one on which the coin falls: the first whose end lies above the coin.
    pub fn pick(self, coins: Coins, candidates: &mut Candidates) -> Draw {
        match self {
            Self::Greedy => {
                let softmax = candidates.softmax();
                let best = candidates.best();
                Draw {
                    token: best.token,
                    prob: softmax.prob(best.logit),
                    coin: None,
                    below: 0.0,
                }
            }
            Self::Multinomial => draw_by_coin(coins.draw(), candidates),
        }
    }
}

fn draw_by_coin(coin: f64, candidates: &mut Candidates) -> Draw {
    let softmax = candidates.softmax();
    let (mut end, mut drawn) = (0.0, None);
    candidates.find_in_order(|candidate| {
        let prob = softmax.prob(candidate.logit);
        if prob > 0.0 {
            drawn = Some(Draw {
                token: candidate.token,
                prob,
                coin: Some(coin),
                below: end,
            });
        }
        end += prob;
        coin < end
    });
    // Where rounding left the sum a hair under a coin that is nearly 1, it is the last possible one.
    drawn.unwrap_or_else(|| Selector::Greedy.pick(Coins::NONE, candidates))
}

#[cfg(test)]
mod tests {
    use super::{Selector, draw_by_coin};
    use crate::decoding::testing::logits_of;
    use crate::decoding::{Candidates, Coins};

    #[test]
    fn the_coin_falls_on_a_bar_with_the_most_likely_first() {
        // In order: token 3 from 0, token 2 from 0.4, token 1 from 0.7, token 0 from 0.9.
        for (coin, token, below) in [
            (0.0, 3, 0.0),
            (0.399, 3, 0.0),
            (0.401, 2, 0.4),
            (0.699, 2, 0.4),
            (0.701, 1, 0.7),
            (0.901, 0, 0.9),
            (1.0 - f64::EPSILON / 2.0, 0, 0.9),
        ] {
            let mut candidates =
                Candidates::from_logits(&logits_of(&[0.1, 0.2, 0.3, 0.4, 0.0])).unwrap();
            let draw = draw_by_coin(coin, &mut candidates);
            assert_eq!(draw.token.0, token, "{coin}");
            assert!((draw.below - below).abs() < 1e-6, "{coin}");
            assert_eq!(draw.coin, Some(coin));
        }
    }

    #[test]
    fn greedy_takes_the_best_and_of_equals_the_lowest_id() {
        for (probs, token, prob) in [
            (&[1.0][..], 0, 1.0),
            (&[0.1, 0.6, 0.3], 1, 0.6),
            (&[0.2, 0.4, 0.4], 1, 0.4),
            (&[0.0, 0.0, 1.0], 2, 1.0),
        ] {
            let mut candidates = Candidates::from_logits(&logits_of(probs)).unwrap();
            let draw = Selector::Greedy.pick(Coins::NONE, &mut candidates);
            assert_eq!((draw.token.0, draw.coin), (token, None));
            assert!((draw.prob - prob).abs() < 1e-6);
        }
    }

    #[test]
    fn draws_come_as_often_as_their_probability_says() {
        let probs = [0.5, 0.25, 0.125, 0.125];
        let n = 100_000;
        let mut counts = [0_u32; 4];
        for position in 0..n {
            let coins = Coins { seed: 11, position };
            let mut candidates = Candidates::from_logits(&logits_of(&probs)).unwrap();
            let draw = Selector::Multinomial.pick(coins, &mut candidates);
            counts[draw.token.index()] += 1;
        }
        let chi_squared: f64 = counts
            .iter()
            .zip(probs)
            .map(|(count, prob)| (f64::from(*count), f64::from(prob) * n as f64))
            .map(|(count, expected)| (count - expected).powi(2) / expected)
            .sum();
        // Three degrees of freedom: 21.1 is passed once in 10,000 seeds.
        assert!(chi_squared < 21.1, "{chi_squared}");
    }
}

//! How one of the remaining candidates is picked.

use serde::{Deserialize, Serialize};

use super::trace::Draw;
use super::{Candidates, Coins};

/// The end of a chain: picks one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    let (mut n_seen, mut below) = (0, 0.0);
    let mut last_possible = None;
    let mut n_asked = 64;
    loop {
        let n_kept = candidates.n_kept();
        for candidate in candidates.head(n_asked).iter().skip(n_seen) {
            let prob = softmax.prob(candidate.logit);
            if prob > 0.0 {
                let draw = Draw {
                    token: candidate.token,
                    prob,
                    coin: Some(coin),
                    below,
                };
                if coin < below + prob {
                    return draw;
                }
                last_possible = Some(draw);
            }
            below += prob;
        }
        n_seen = n_asked.min(n_kept);
        if n_seen == n_kept {
            // Rounding left the sum a hair under a coin that is nearly 1.
            return last_possible.unwrap_or_else(|| Selector::Greedy.pick(Coins::NONE, candidates));
        }
        n_asked *= 2;
    }
}

//! How often the intervals of a blind test hold the true strengths, by simulation.

use quartet::decoding::{Coins, TokenId};
use quartet::lab::blind::next_shown;
use quartet::lab::blind::{Choice, PRIOR_SPREAD, Strengths};

/// Draws from a standard normal distribution.
struct Normal {
    coins: Coins,
    n_drawn: u32,
}

impl Normal {
    fn uniform(&mut self) -> f64 {
        self.n_drawn += 1;
        self.coins.token(TokenId(self.n_drawn))
    }

    /// Box and Muller 1958, "A note on the generation of random normal deviates".
    fn draw(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Who votes, and about what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) n_contestants: usize,
    pub(crate) n_shown: usize,
    pub(crate) n_votes: usize,
    /// The standard deviation of the true strengths.
    pub(crate) spread: f64,
    /// The share of votes that are undecided, whatever is shown.
    pub(crate) undecided: f64,
}

/// Four contestants whose strengths are as the prior expects, and ten votes between two of them.
pub(crate) const TEN_VOTES: Setting = Setting {
    n_contestants: 4,
    n_shown: 2,
    n_votes: 10,
    spread: PRIOR_SPREAD,
    undecided: 0.0,
};

/// Returns the share of intervals that hold the true strength, over this many tests.
pub(crate) fn coverage(setting: Setting, n_tests: u64) -> f64 {
    let n = setting.n_contestants;
    let mut n_held = 0_u32;
    for test in 0..n_tests {
        let coins = Coins {
            seed: 77,
            position: test,
        };
        let mut random = Normal { coins, n_drawn: 0 };
        let truth: Vec<f64> = (0..n).map(|_| setting.spread * random.draw()).collect();
        let mut choices: Vec<Choice> = Vec::new();
        for _ in 0..setting.n_votes {
            let strengths = Strengths::of(n, &choices, PRIOR_SPREAD);
            let shown = next_shown(&strengths, setting.n_shown, |_, _| false).unwrap();
            let weights: Vec<f64> = shown.iter().map(|c| truth[*c].exp()).collect();
            let mut left = random.uniform() * weights.iter().sum::<f64>();
            let place = weights.iter().position(|weight| {
                left -= weight;
                left <= 0.0
            });
            let is_decided = random.uniform() >= setting.undecided;
            let picked = is_decided.then(|| shown[place.unwrap_or(0)]);
            choices.push(Choice { shown, picked });
        }
        let mean = truth.iter().sum::<f64>() / n as f64;
        let all = Strengths::of(n, &choices, PRIOR_SPREAD).all();
        for (strength, value) in all.iter().zip(&truth) {
            let chance = 1.0 / (1.0 + (mean - value).exp());
            n_held += u32::from(strength.low <= chance && chance <= strength.high);
        }
    }
    f64::from(n_held) / (n_tests * n as u64) as f64
}

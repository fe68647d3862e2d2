//! How often the intervals of judged prompts hold the true shares and differences, by simulation.

use quartet::decoding::{Coins, TokenId};
use quartet::lab::prompts::{Paired, PromptShare, ShareEstimate, differences, is_decided};

/// Uniform numbers from a seed.
struct Uniform {
    coins: Coins,
    n_drawn: u32,
}

impl Uniform {
    fn of(seed: u64, test: u64) -> Self {
        let coins = Coins {
            seed,
            position: test,
        };
        Self { coins, n_drawn: 0 }
    }

    fn draw(&mut self) -> f64 {
        self.n_drawn += 1;
        self.coins.token(TokenId(self.n_drawn))
    }

    /// Draws from a beta distribution: Jöhnk 1964, "Erzeugung von betaverteilten und
    /// gammaverteilten Zufallszahlen".
    fn beta(&mut self, [a, b]: [f64; 2]) -> f64 {
        loop {
            let (x, y) = (self.draw().powf(1.0 / a), self.draw().powf(1.0 / b));
            if x + y > 0.0 && x + y <= 1.0 {
                return x / (x + y);
            }
        }
    }
}

/// How many prompts were judged, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgedCase {
    pub(crate) n_prompts: usize,
    /// The number of answers to each prompt, or 0 for exact shares.
    pub(crate) n_answers: usize,
    /// The beta distribution of a prompt's probability of a right answer.
    pub(crate) difficulty: [f64; 2],
}

/// Distributions of difficulty: hard or easy, mostly easy, middling, mostly hard, and easy.
pub(crate) const DIFFICULTIES: [[f64; 2]; 5] =
    [[0.3, 0.3], [0.9, 0.1], [2.0, 2.0], [1.0, 3.0], [5.0, 1.0]];

impl JudgedCase {
    fn share(self, prob: f64, coins: &[f64]) -> PromptShare {
        match self.n_answers {
            0 => PromptShare::Exact(prob),
            n_answers => PromptShare::Sampled {
                n_right: coins.iter().filter(|coin| **coin < prob).count(),
                n_answers,
            },
        }
    }

    fn coins(self, random: &mut Uniform) -> Vec<f64> {
        (0..self.n_answers).map(|_| random.draw()).collect()
    }
}

/// Returns the share of tests whose interval holds the true share, and the mean width.
pub(crate) fn share_coverage(case: JudgedCase, n_tests: u64) -> [f64; 2] {
    let [a, b] = case.difficulty;
    let mut sums = [0.0; 2];
    for test in 0..n_tests {
        let mut random = Uniform::of(78, test);
        let shares = (0..case.n_prompts).map(|_| {
            let prob = random.beta(case.difficulty);
            let coins = case.coins(&mut random);
            case.share(prob, &coins)
        });
        let estimate = ShareEstimate::of(&shares.collect::<Vec<_>>()).unwrap();
        let interval = estimate.interval.unwrap();
        sums[0] += f64::from(u8::from(interval.contains(a / (a + b))));
        sums[1] += 2.0 * interval.half_width();
    }
    sums.map(|sum| sum / n_tests as f64)
}

/// Returns the share of tests whose interval holds the true difference between two settings, and the
/// mean width. The second setting answers right with the square of the first's probability, with the
/// same coins; if `are_alike`, with the same probability and its own coins.
pub(crate) fn difference_coverage(case: JudgedCase, are_alike: bool, n_tests: u64) -> [f64; 2] {
    let [a, b] = case.difficulty;
    let square = a * (a + 1.0) / ((a + b) * (a + b + 1.0));
    let truth = if are_alike { 0.0 } else { a / (a + b) - square };
    let mut sums = [0.0; 2];
    for test in 0..n_tests {
        let mut random = Uniform::of(79, test);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..case.n_prompts {
            let prob = random.beta(case.difficulty);
            let coins = case.coins(&mut random);
            first.push(Some(case.share(prob, &coins)));
            second.push(Some(if are_alike {
                let coins = case.coins(&mut random);
                case.share(prob, &coins)
            } else {
                case.share(prob * prob, &coins)
            }));
        }
        let paired = Paired::of(&differences(&first, &second)).unwrap();
        sums[0] += f64::from(u8::from(paired.interval.contains(truth)));
        sums[1] += 2.0 * paired.interval.half_width();
    }
    sums.map(|sum| sum / n_tests as f64)
}

/// Returns the share of runs in which one of two settings that are equally good is ever found to be
/// better, when asked after each prompt.
pub(crate) fn false_alarms(case: JudgedCase, n_runs: u64) -> f64 {
    let mut n_alarms = 0_u32;
    for run in 0..n_runs {
        let mut random = Uniform::of(80, run);
        let mut found = Vec::new();
        let is_alarm = (0..case.n_prompts).any(|_| {
            let prob = random.beta(case.difficulty);
            let [first, second] = [(); 2].map(|()| {
                let coins = case.coins(&mut random);
                [Some(case.share(prob, &coins))]
            });
            found.extend(differences(&first, &second));
            let reversed: Vec<f64> = found.iter().map(|difference| -difference).collect();
            is_decided(&found, 1) || is_decided(&reversed, 1)
        });
        n_alarms += u32::from(is_alarm);
    }
    f64::from(n_alarms) / n_runs as f64
}

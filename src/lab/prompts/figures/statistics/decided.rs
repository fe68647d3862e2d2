//! Whether a run can stop early, because one setting is better than another.

use super::paired::Paired;

/// The chance that any pair is wrongly found decided, at any time during a run.
const FALSE_ALARMS: f64 = 0.05;

/// The stakes of the bets, as shares of the fortune. None can lose everything.
const STAKES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Returns whether the first of two settings is better than the second, however often this is asked
/// while answers arrive. `differences` are those of the prompts that are complete, and `n_pairs` says
/// how many pairs of settings are watched.
///
/// A gambler who bets on each prompt that the first is better multiplies the fortune by 1 + λd, where
/// λ is the stake and d the difference. If the first is no better, the fortune does not grow on
/// average, so it ever reaches 1/α with a probability of at most α (Ville 1939, "Étude critique de la
/// notion de collectif"; Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables
/// by betting"). The fortune is divided equally among the stakes, and α among the pairs and the two
/// directions of each. Since the same data should not also be called chance, the sign-flip test must
/// agree.
pub fn is_decided(differences: &[f64], n_pairs: usize) -> bool {
    let alpha = FALSE_ALARMS / (2 * n_pairs.max(1)) as f64;
    ln_fortune(differences) >= -alpha.ln()
        && Paired::of(differences).is_some_and(|paired| paired.is_significant())
}

fn ln_fortune(differences: &[f64]) -> f64 {
    let fortunes = STAKES.map(|stake| {
        let factors = differences
            .iter()
            .map(|difference| (stake * difference).ln_1p());
        factors.sum::<f64>()
    });
    let most = fortunes.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = fortunes.iter().map(|fortune| (fortune - most).exp()).sum();
    most + (sum / STAKES.len() as f64).ln()
}

//! The share of right answers over all prompts, and its interval.

use crate::analysis::futures::Share;

/// The 97.5th percentile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Shares closer than this are equal: they differ by rounding only.
pub(super) const ROUNDING: f64 = 1e-9;

/// The share of right answers to one prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PromptShare {
    /// The probability of a right answer.
    Exact(f64),
    /// `n_answers` is at least 1.
    Sampled { n_right: usize, n_answers: usize },
}

impl PromptShare {
    /// Returns the share, from 0 to 1.
    pub fn value(self) -> f64 {
        match self {
            Self::Exact(prob) => prob.clamp(0.0, 1.0),
            Self::Sampled { n_right, n_answers } => {
                n_right.min(n_answers) as f64 / n_answers.max(1) as f64
            }
        }
    }

    /// Returns the number of drawn answers, which is infinite for an exact share.
    fn n_answers(self) -> f64 {
        match self {
            Self::Exact(_) => f64::INFINITY,
            Self::Sampled { n_answers, .. } => n_answers as f64,
        }
    }
}

/// A 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Returns whether a value is inside. The ends are.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// The mean share of right answers over prompts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareEstimate {
    pub n_prompts: usize,
    pub share: f64,
    /// The mean share over all prompts like these. `None` if there is only one prompt.
    pub interval: Option<Interval>,
}

impl ShareEstimate {
    /// Estimates the mean share from these prompts. Returns `None` if there are none.
    ///
    /// Answers to the same prompt are not independent, so prompts are what a bootstrap would resample
    /// (the cluster bootstrap). The variance over all resamples has a closed form, s²/n with the
    /// correction for small samples, so nothing is resampled: the interval is Wilson's with the
    /// effective sample size p(1 − p)·n/s², at most the number of answers, and the quantile of
    /// Student's t for n − 1. In simulations with 20 and 40 prompts, its coverage is closer to 95 %
    /// than with percentile, bias-corrected and studentized resampling, and about as close with 10. It
    /// stays between 0 and 1. (Dean and Pagano 2015, "Evaluating confidence interval methods for
    /// binomial proportions in clustered surveys".)
    ///
    /// With one answer to each prompt, or only right or only wrong answers, it is Wilson's.
    pub fn of(shares: &[PromptShare]) -> Option<Self> {
        let n_prompts = shares.len();
        if n_prompts == 0 {
            return None;
        }
        let n = n_prompts as f64;
        let share = shares.iter().map(|share| share.value()).sum::<f64>() / n;
        Some(Self {
            n_prompts,
            share,
            interval: (n_prompts > 1).then(|| interval(shares, share)),
        })
    }
}

/// Returns the interval of the mean share of at least two prompts.
fn interval(shares: &[PromptShare], mean: f64) -> Interval {
    let n = shares.len() as f64;
    let has_one_answer =
        |share: &PromptShare| matches!(share, PromptShare::Sampled { n_answers: 1, .. });
    let is_certain = mean.min(1.0 - mean) < ROUNDING;
    if is_certain || shares.iter().all(has_one_answer) {
        // Each share is then 0 or 1.
        let n_with = shares.iter().filter(|share| share.value() > 0.5).count();
        let (low, high) = Share {
            n_with,
            n: shares.len(),
        }
        .interval();
        return Interval { low, high };
    }
    let squares = shares.iter().map(|share| (share.value() - mean).powi(2));
    let variance = squares.sum::<f64>() / (n - 1.0);
    let n_answers: f64 = shares.iter().map(|share| share.n_answers()).sum();
    let n_effective = (mean * (1.0 - mean) * n / variance).min(n_answers);
    score_interval(mean, n_effective, student_quantile(n - 1.0))
}

/// Wilson's interval for a number of independent answers that need not be whole.
fn score_interval(share: f64, n: f64, quantile: f64) -> Interval {
    let square = quantile * quantile / n;
    let center = (share + square / 2.0) / (1.0 + square);
    let spread = share * (1.0 - share) / n + square / (4.0 * n);
    let half = quantile * spread.sqrt() / (1.0 + square);
    Interval {
        low: (center - half).max(0.0),
        high: (center + half).min(1.0),
    }
}

/// Returns the 97.5th percentile of Student's t, within 0.2 %: Abramowitz and Stegun 1964, "Handbook
/// of mathematical functions", 26.7.5.
fn student_quantile(n_free: f64) -> f64 {
    if n_free < 1.5 {
        return 12.706;
    }
    if n_free < 2.5 {
        return 4.303;
    }
    let odd = |coefficients: &[f64]| {
        let sum = coefficients.iter().rev();
        Z * sum.fold(0.0, |sum, coefficient| sum * Z * Z + coefficient)
    };
    let terms = [
        odd(&[1.0]),
        odd(&[1.0, 1.0]) / 4.0,
        odd(&[3.0, 16.0, 5.0]) / 96.0,
        odd(&[-15.0, 17.0, 19.0, 3.0]) / 384.0,
        odd(&[-945.0, -1920.0, 1482.0, 776.0, 79.0]) / 92160.0,
    ];
    let sum = terms.iter().rev();
    sum.fold(0.0, |sum, term| sum / n_free + term)
}

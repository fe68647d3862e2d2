//! The difference between two settings, prompt by prompt.

use super::flips::Flips;
use super::share::{Interval, PromptShare, ROUNDING};
use crate::analysis::futures::Share;

/// How two settings differ on the prompts that both answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paired {
    /// The prompts on which the first is right more often.
    pub n_wins: usize,
    pub n_losses: usize,
    pub n_ties: usize,
    /// The mean of the first's share of right answers minus the second's.
    pub difference: f64,
    /// How often chance alone makes the mean difference this far from 0.
    pub p_value: f64,
    /// Contains 0 if and only if the p-value is at least 0.05.
    pub interval: Interval,
}

impl Paired {
    /// Tests and estimates the mean of these differences. Returns `None` if there are none.
    ///
    /// The test flips signs: if two settings are equally good, each difference could just as well have
    /// had the opposite sign (Fisher 1935, "The design of experiments", section 21). The interval
    /// contains the differences that the same test does not reject. Where few prompts differ, or the
    /// differences are skewed, its coverage can fall below 95 % (`cargo bench --bench coverage --
    /// judged`). If no prompt differs, the interval is derived from the interval of the share of
    /// prompts that do. With fewer than six prompts, nothing can be rejected, and the interval is −1
    /// to 1.
    pub fn of(differences: &[f64]) -> Option<Self> {
        let n = differences.len();
        if n == 0 {
            return None;
        }
        let n_wins = differences.iter().filter(|d| **d > 0.0).count();
        let n_losses = differences.iter().filter(|d| **d < 0.0).count();
        let flips = Flips::of(differences);
        let p_value = flips.p_value();
        let interval = if n_wins + n_losses > 0 {
            flips.interval()
        } else {
            let (_, high) = Share { n_with: 0, n }.interval();
            Interval { low: -high, high }
        };
        Some(Self {
            n_wins,
            n_losses,
            n_ties: n - n_wins - n_losses,
            difference: differences.iter().sum::<f64>() / n as f64,
            p_value,
            interval,
        })
    }

    /// Returns the number of prompts.
    pub const fn n_prompts(&self) -> usize {
        self.n_wins + self.n_losses + self.n_ties
    }

    /// Returns whether chance alone rarely makes such a difference.
    pub fn is_significant(&self) -> bool {
        self.p_value < 0.05
    }

    /// Returns how the second differs from the first.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            n_wins: self.n_losses,
            n_losses: self.n_wins,
            difference: -self.difference,
            interval: Interval {
                low: -self.interval.high,
                high: -self.interval.low,
            },
            ..self
        }
    }
}

/// Two of several settings, by index, and how the first differs from the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    pub first: usize,
    pub second: usize,
    pub paired: Paired,
}

/// Returns the differences on the prompts for which both shares are known, in order. Those within
/// rounding errors are 0.
pub fn differences(first: &[Option<PromptShare>], second: &[Option<PromptShare>]) -> Vec<f64> {
    let pairs = first.iter().zip(second);
    let differences = pairs.filter_map(|(first, second)| {
        let difference = (*first)?.value() - (*second)?.value();
        let is_tie = difference.abs() < ROUNDING;
        Some(if is_tie { 0.0 } else { difference })
    });
    differences.collect()
}

/// Compares each setting with each later one. Each has a share for each prompt, in the same order.
pub fn compare(settings: &[&[Option<PromptShare>]]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for (second, later) in settings.iter().enumerate() {
        for (first, earlier) in settings.iter().take(second).enumerate() {
            let paired = Paired::of(&differences(earlier, later));
            comparisons.extend(paired.map(|paired| Comparison {
                first,
                second,
                paired,
            }));
        }
    }
    comparisons.sort_unstable_by_key(|comparison| (comparison.first, comparison.second));
    comparisons
}

/// Returns the difference that these comparisons can just tell from none: the median of the
/// half-widths of their intervals. Returns `None` if there are no comparisons, or if there are too
/// few prompts to tell any difference.
pub fn smallest_difference(comparisons: &[Comparison]) -> Option<f64> {
    let intervals = comparisons
        .iter()
        .map(|comparison| comparison.paired.interval);
    let mut widths: Vec<f64> = intervals.map(Interval::half_width).collect();
    widths.sort_unstable_by(f64::total_cmp);
    let middle = widths.len() / 2;
    let upper = *widths.get(middle)?;
    let is_even = widths.len().is_multiple_of(2);
    let lower = if is_even {
        *widths.get(middle.checked_sub(1)?)?
    } else {
        upper
    };
    let median = f64::midpoint(lower, upper);
    (median < 1.0).then_some(median)
}

//! The sentence about one swept setting: which values are alike, and beyond which accuracy falls.

use super::paired::{Comparison, Paired, differences};
use super::sentence::{Verdict, is_exact, limits};
use super::share::{PromptShare, ROUNDING, ShareEstimate};
use super::words::share_words;
use crate::generation::formatting::counted;

/// A value of the swept setting.
#[derive(Debug, Clone, Copy)]
pub struct AxisPoint<'a> {
    /// The value, as it is shown.
    pub label: &'a str,
    /// The share of right answers to each prompt, as far as they are known.
    pub shares: &'a [Option<PromptShare>],
}

/// Says how accuracy depends on a setting. The points are in the order of their values. Returns
/// `None` if fewer than two of them were judged.
pub fn axis_sentence(points: &[AxisPoint<'_>]) -> Option<Verdict> {
    let judged = points.iter().filter_map(|point| {
        let shares: Vec<PromptShare> = point.shares.iter().flatten().copied().collect();
        Some((*point, ShareEstimate::of(&shares)?))
    });
    let judged: Vec<(AxisPoint<'_>, ShareEstimate)> = judged.collect();
    let are_exact = points.iter().all(|point| is_exact(point.shares));
    let (points, estimates): (Vec<AxisPoint<'_>>, Vec<ShareEstimate>) = judged.into_iter().unzip();
    let ranked = estimates.iter().enumerate().rev();
    let (best, estimate) = ranked.max_by(|(_, a), (_, b)| a.share.total_cmp(&b.share))?;
    if points.len() < 2 {
        return None;
    }
    let comparisons = against(&points, best);
    let (first, last) = alike(&comparisons, best);
    let axis = Axis {
        labels: points.iter().map(|point| point.label).collect(),
        shares: estimates.iter().map(|estimate| estimate.share).collect(),
        first,
        last,
    };
    let (before, after): (Vec<usize>, Vec<usize>) = (
        (0..first).collect(),
        (last + 1..points.len()).rev().collect(),
    );
    let on_prompts = format!("On {} {}", prompts(estimate.n_prompts), axis.alike());
    let clauses = [
        Some(on_prompts),
        axis.fall("below", &before, first),
        axis.fall("above", &after, last),
    ];
    let clauses: Vec<String> = clauses.into_iter().flatten().collect();
    Some(Verdict {
        sentence: clauses.join("; ") + ".",
        limits: limits(estimate.n_prompts, are_exact, &comparisons),
    })
}

pub(super) fn prompts(n: usize) -> String {
    match n {
        1 => "this one prompt".to_owned(),
        _ => format!("these {}", counted(n, "prompt")),
    }
}

/// Compares the best point with each other point.
pub(super) fn against(points: &[AxisPoint<'_>], best: usize) -> Vec<Comparison> {
    let others = points
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != best);
    let comparisons = others.filter_map(|(second, other)| {
        let differences = differences(points.get(best)?.shares, other.shares);
        Some(Comparison {
            first: best,
            second,
            paired: Paired::of(&differences)?,
        })
    });
    comparisons.collect()
}

/// Returns the first and the last of the points around the best that chance may separate from it.
fn alike(comparisons: &[Comparison], best: usize) -> (usize, usize) {
    let is_alike = |comparison: &&Comparison| !comparison.paired.is_significant();
    let (before, after) = comparisons.split_at(comparisons.partition_point(|c| c.second < best));
    let first = before.iter().rev().take_while(is_alike).last();
    let last = after.iter().take_while(is_alike).last();
    (
        first.map_or(best, |c| c.second),
        last.map_or(best, |c| c.second),
    )
}

/// The values of the setting, the accuracy at each, and which of them are alike.
struct Axis<'a> {
    labels: Vec<&'a str>,
    shares: Vec<f64>,
    first: usize,
    last: usize,
}

impl Axis<'_> {
    fn label(&self, index: usize) -> &str {
        self.labels.get(index).copied().unwrap_or_default()
    }

    fn share(&self, index: usize) -> f64 {
        self.shares.get(index).copied().unwrap_or_default()
    }

    fn alike(&self) -> String {
        let (low, high) = (self.label(self.first), self.label(self.last));
        match self.last - self.first {
            n if n > 1 && n + 1 == self.labels.len() => {
                format!("all values from {low} to {high} are alike")
            }
            0 => format!("{low} is best"),
            1 => format!("{low} and {high} are alike"),
            _ => format!("{low} to {high} are alike"),
        }
    }

    /// Says from where on one side of the values that are alike accuracy is below a multiple of 10 %
    /// that they all reach, or else whether it is lower on all of that side. `beyond` are the points on that side,
    /// from the end of the axis inward, and `edge` is the next one.
    fn fall(&self, side: &str, beyond: &[usize], edge: usize) -> Option<String> {
        let alike = (self.first..=self.last).map(|index| self.share(index));
        let lowest = alike.fold(1.0, f64::min);
        let tens = ((lowest * 10.0 + ROUNDING).floor() / 10.0).min(0.9);
        let is_below = |limit: f64| move |index: &&usize| self.share(**index) < limit;
        let n_low = beyond.iter().take_while(is_below(tens)).count();
        if n_low > 0 {
            let limit = beyond.get(n_low).copied().unwrap_or(edge);
            let (limit, tens) = (self.label(limit), share_words(tens));
            return Some(format!("{side} {limit} accuracy falls below {tens}"));
        }
        let is_lower = !beyond.is_empty() && beyond.iter().all(|index| self.share(*index) < lowest);
        is_lower.then(|| format!("{side} {} accuracy is lower", self.label(edge)))
    }
}

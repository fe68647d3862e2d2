//! The probability of right answers over a number that is varied.

use serde::{Deserialize, Serialize};

use super::results::{JudgedPane, TaskResults};
use crate::analysis::sweep::Axis;
use crate::lab::prompts::ExactShare;

/// Tasks whose probability changes less than this over a curve don't decide it.
const MIN_RANGE: f64 = 0.02;

/// A number that is varied, and where its values are among the settings of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    pub axis: Axis,
    /// The index of the settings with its first value. Those of the panes come before.
    first: usize,
}

/// The share of right answers at one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    pub value: f64,
    pub share: ExactShare,
}

impl Curve {
    /// Creates a curve whose settings follow those of the panes.
    pub const fn new(axis: Axis, n_panes: usize) -> Self {
        Self {
            axis,
            first: n_panes,
        }
    }

    /// Returns the index of the pane whose other settings all values share: the last one that leaves
    /// something to chance, because greedy decoding has no use for most numbers.
    pub fn base_of(panes: &[JudgedPane]) -> Option<usize> {
        panes.iter().rposition(|pane| !pane.chain.is_greedy())
    }

    /// Returns whether these are the settings of the panes and of each value.
    pub fn fits(&self, panes: &[JudgedPane]) -> bool {
        self.first + self.axis.values().len() == panes.len()
    }

    /// Returns the settings at each value, otherwise those of this pane.
    pub fn settings(&self, base: &JudgedPane) -> impl Iterator<Item = JudgedPane> {
        self.axis.values().iter().map(|value| {
            let mut pane = base.clone();
            self.axis.parameter.set(&mut pane.chain, *value);
            pane
        })
    }

    /// Returns the index of the settings with the value at this index.
    pub const fn settings_at(&self, value: usize) -> usize {
        self.first + value
    }

    /// Returns the tasks whose probability is known at all values.
    pub fn tasks(&self, results: &TaskResults) -> Vec<usize> {
        let is_known = |task: &usize| {
            let exact = results.exact(*task);
            let shares = exact.and_then(|exact| exact.shares.get(self.first..));
            shares.is_some_and(|shares| shares.iter().all(Option::is_some))
        };
        (0..results.tasks().len()).filter(is_known).collect()
    }

    /// Returns the mean over those tasks, from the first value to the last.
    pub fn points(&self, results: &TaskResults) -> Vec<CurvePoint> {
        let tasks = self.tasks(results);
        let values = self.axis.values().iter().enumerate();
        let points = values.filter_map(|(index, value)| {
            Some(CurvePoint {
                value: *value,
                share: mean(results, &tasks, self.settings_at(index))?,
            })
        });
        points.collect()
    }

    /// Returns the mean under the settings of a pane.
    pub fn mean_of_pane(&self, results: &TaskResults, pane: usize) -> Option<ExactShare> {
        mean(results, &self.tasks(results), pane)
    }

    /// Returns the probabilities of one task.
    pub fn task_points(&self, results: &TaskResults, task: usize) -> Vec<CurvePoint> {
        let values = self.axis.values().iter().enumerate();
        let points = values.filter_map(|(index, value)| {
            Some(CurvePoint {
                value: *value,
                share: results.exact_share(task, self.settings_at(index))?,
            })
        });
        points.collect()
    }

    /// Returns the tasks that decide how the curve runs: those whose probability changes, first
    /// those that fall below half of their range first.
    pub fn deciding(&self, results: &TaskResults) -> Vec<usize> {
        let tasks = self.tasks(results).into_iter();
        let mut deciding: Vec<Deciding> = tasks
            .map(|task| Deciding::of(task, &self.task_points(results, task)))
            .filter(|deciding| deciding.range >= MIN_RANGE)
            .collect();
        deciding.sort_by(|a, b| {
            let by_fall = a.falls_at.total_cmp(&b.falls_at);
            by_fall.then(b.range.total_cmp(&a.range))
        });
        deciding.into_iter().map(|deciding| deciding.task).collect()
    }
}

/// How the probability of a task changes over the curve.
struct Deciding {
    task: usize,
    /// The largest probability minus the smallest.
    range: f64,
    /// The first value at which it has fallen below the middle of its range. Infinity if it never
    /// does.
    falls_at: f64,
}

impl Deciding {
    fn of(task: usize, points: &[CurvePoint]) -> Self {
        let shares = points.iter().map(|point| point.share.middle());
        let (least, most) = shares.fold((1.0_f64, 0.0_f64), |(least, most), share| {
            (least.min(share), most.max(share))
        });
        let middle = f64::midpoint(least, most);
        let is_above = |point: &CurvePoint| point.share.middle() >= middle;
        let before = points.iter().position(is_above);
        let rest = before.and_then(|before| points.get(before..));
        let fallen = rest.and_then(|rest| rest.iter().find(|point| !is_above(point)));
        Self {
            task,
            range: most - least,
            falls_at: fallen.map_or(f64::INFINITY, |point| point.value),
        }
    }
}

fn mean(results: &TaskResults, tasks: &[usize], settings: usize) -> Option<ExactShare> {
    let mut sum = ExactShare {
        at_least: 0.0,
        at_most: 0.0,
    };
    for task in tasks {
        let share = results.exact_share(*task, settings)?;
        sum.at_least += share.at_least;
        sum.at_most += share.at_most;
    }
    let n = tasks.len() as f64;
    (!tasks.is_empty()).then_some(ExactShare {
        at_least: sum.at_least / n,
        at_most: sum.at_most / n,
    })
}

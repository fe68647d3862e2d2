//! What a curve shows.

use super::curve::{Curve, CurvePoint};
use super::results::TaskResults;
use super::statistics::Verdict;
use crate::lab::prompts::ExactShare;

/// What a curve shows. Computed from time to time, not in every frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CurveReading {
    /// The share of right answers at each value.
    pub points: Vec<CurvePoint>,
    /// The same under the settings of each pane.
    pub panes: Vec<Option<ExactShare>>,
    /// The tasks that decide how the curve runs.
    pub deciding: Vec<usize>,
    /// How many tasks it is the mean of.
    pub n_tasks: usize,
    /// `None` while tasks are missing.
    pub verdict: Option<Verdict>,
    /// How many tasks must be done before it is computed again.
    n_next: usize,
}

impl CurveReading {
    /// Reads results that are complete.
    pub fn of(results: &TaskResults, curve: &Curve) -> Self {
        Self {
            verdict: curve.verdict(results),
            ..Self::of_running(results, curve)
        }
    }

    /// Reads results that more tasks will follow.
    pub fn of_running(results: &TaskResults, curve: &Curve) -> Self {
        let n_done = results.n_tasks_done();
        let panes = 0..curve.settings_at(0);
        Self {
            points: curve.points(results),
            panes: panes
                .map(|pane| curve.mean_of_pane(results, pane))
                .collect(),
            deciding: curve.deciding(results),
            n_tasks: curve.tasks(results).len(),
            verdict: None,
            n_next: n_done + n_done / 8 + 1,
        }
    }

    /// Reads the results again if enough tasks were done since the last time.
    pub fn advance(&mut self, results: &TaskResults, curve: &Curve) {
        if results.n_tasks_done() >= self.n_next {
            *self = Self::of_running(results, curve);
        }
    }
}

//! One or two numbers that are varied, and the share of right answers over them.

use serde::{Deserialize, Serialize};

use super::results::{JudgedPane, TaskResults};
use super::statistics::PromptShare;
use crate::analysis::sweep::{Axis, label};
use crate::generation::formatting::grouped;
use crate::lab::prompts::ExactShare;

/// Tasks whose share changes less than this over a sweep don't decide it.
const MIN_RANGE: f64 = 0.02;

/// The maximum number of combinations of values.
const N_MAX_CELLS: usize = 1024;

/// One or two numbers that are varied, and where their values are among the settings of the results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSweep {
    /// The first number, which varies from row to row if there are two.
    pub axis: Axis,
    /// The second number.
    #[serde(default)]
    pub columns: Option<Axis>,
    /// The index of the settings with its first values. Those of the panes come before.
    first: usize,
}

/// The probability of a right answer at one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    pub value: f64,
    pub share: ExactShare,
}

impl TaskSweep {
    /// Creates a sweep whose settings follow those of the panes.
    pub const fn new(axis: Axis, columns: Option<Axis>, n_panes: usize) -> Self {
        Self {
            axis,
            columns,
            first: n_panes,
        }
    }

    /// Returns why the numbers can't be varied together.
    pub fn refusal(&self) -> Option<String> {
        let first = self.axis.parameter;
        let columns = self.columns.as_ref();
        if columns.is_some_and(|columns| columns.parameter == first) {
            let name = first.name();
            return Some(format!(
                "Choose two different numbers to vary: both are {name}"
            ));
        }
        let n = self.n_cells();
        (n > N_MAX_CELLS).then(|| {
            let [n, most] = [n, N_MAX_CELLS].map(|n| grouped(n as f64));
            format!("At most {most} combinations of values are tried, but these are {n}")
        })
    }

    /// Returns the index of the pane whose other settings all values share: the last one that leaves
    /// something to chance, because greedy decoding has no use for most numbers.
    pub fn base_of(panes: &[JudgedPane]) -> Option<usize> {
        panes
            .iter()
            .rposition(|pane| pane.chain.leaves_chance() && pane.served().is_none())
    }

    /// Returns the number of panes, whose settings come before.
    pub const fn n_panes(&self) -> usize {
        self.first
    }

    /// Returns the number of columns, 1 if only one number is varied.
    pub fn n_columns(&self) -> usize {
        self.columns.as_ref().map_or(1, |axis| axis.values().len())
    }

    /// Returns the number of settings. They are numbered row by row.
    pub fn n_cells(&self) -> usize {
        self.axis.values().len() * self.n_columns()
    }

    /// Returns whether these are the settings of the panes and of each cell.
    pub fn fits(&self, results: &TaskResults) -> bool {
        (results.panes.len(), results.cells.len()) == (self.first, self.n_cells())
    }

    /// Returns the numbers of a cell: its row's, then its column's.
    pub fn values_of(&self, cell: usize) -> impl Iterator<Item = (&Axis, f64)> {
        let (row, column) = (cell / self.n_columns(), cell % self.n_columns());
        let numbers = [(Some(&self.axis), row), (self.columns.as_ref(), column)];
        numbers.into_iter().filter_map(|(axis, index)| {
            let axis = axis?;
            Some((axis, *axis.values().get(index)?))
        })
    }

    /// Names a cell by its values: "0.8", or "T 0.8 · top-p 0.9" if there are two.
    pub fn cell_words(&self, cell: usize) -> String {
        let words = self.values_of(cell).map(|(axis, value)| {
            if self.columns.is_none() {
                return label(value);
            }
            format!("{} {}", axis.parameter.chip(), label(value))
        });
        words.collect::<Vec<_>>().join(" · ")
    }

    /// Returns the settings of each cell, otherwise those of this pane.
    pub fn settings(&self, base: &JudgedPane) -> impl Iterator<Item = JudgedPane> {
        (0..self.n_cells()).map(move |cell| {
            let mut pane = base.clone();
            for (axis, value) in self.values_of(cell) {
                axis.parameter.set(&mut pane.chain, value);
            }
            pane
        })
    }

    /// Returns the index of the settings of a cell.
    pub const fn settings_at(&self, cell: usize) -> usize {
        self.first + cell
    }

    /// Returns the tasks whose probability is known at all values.
    pub fn exact_tasks(&self, results: &TaskResults) -> Vec<usize> {
        let is_known = |task: &usize| {
            let exact = results.exact(*task, self.first);
            let shares = exact.and_then(|exact| exact.shares.get(self.first..));
            shares.is_some_and(|shares| shares.iter().all(Option::is_some))
        };
        (0..results.tasks().len()).filter(is_known).collect()
    }

    /// Returns the share of right answers to a task in a cell: its probability if that is known, or
    /// else the share of those that were drawn.
    pub fn share(&self, results: &TaskResults, task: usize, cell: usize) -> Option<PromptShare> {
        let settings = self.settings_at(cell);
        let exact = results.exact_share(task, settings);
        let exact = exact.map(|share| PromptShare::Exact(share.middle()));
        exact.or_else(|| results.prompt_share(task, settings))
    }

    /// Returns the tasks whose share is known in all cells.
    pub fn tasks(&self, results: &TaskResults) -> Vec<usize> {
        let is_known =
            |task: &usize| (0..self.n_cells()).all(|it| self.share(results, *task, it).is_some());
        results.comparable().filter(is_known).collect()
    }

    /// Returns the mean probability in each cell over these tasks, for which all must be known.
    pub fn points(&self, results: &TaskResults, tasks: &[usize]) -> Vec<CurvePoint> {
        let points = (0..self.n_cells()).filter_map(|cell| {
            Some(CurvePoint {
                value: self.values_of(cell).next()?.1,
                share: mean_share(results, tasks, self.settings_at(cell))?,
            })
        });
        points.collect()
    }

    /// Returns the share of one task at each value of the first number: as bounds, which are equal if
    /// it was drawn.
    pub fn task_points(&self, results: &TaskResults, task: usize) -> Vec<CurvePoint> {
        let points = (0..self.n_cells()).filter_map(|cell| {
            let drawn = || {
                let share = self.share(results, task, cell)?.value();
                Some(ExactShare {
                    at_least: share,
                    at_most: share,
                })
            };
            let exact = results.exact_share(task, self.settings_at(cell));
            Some(CurvePoint {
                value: self.values_of(cell).next()?.1,
                share: exact.or_else(drawn)?,
            })
        });
        points.collect()
    }

    /// Returns the tasks that decide how the share runs: those for which it changes. Over one number,
    /// those that fall below half of their range first come first; over two, those that change most.
    pub fn deciding(&self, results: &TaskResults, tasks: &[usize]) -> Vec<usize> {
        let mut deciding: Vec<Deciding> = tasks
            .iter()
            .map(|task| {
                let cells = 0..self.n_cells();
                let shares = cells.filter_map(|cell| self.share(results, *task, cell));
                Deciding::of(*task, &shares.map(PromptShare::value).collect::<Vec<_>>())
            })
            .filter(|deciding| deciding.range >= MIN_RANGE)
            .collect();
        let is_curve = self.columns.is_none();
        deciding.sort_by(|a, b| {
            let by_fall = a.falls_at.cmp(&b.falls_at);
            let by_range = b.range.total_cmp(&a.range);
            if is_curve {
                by_fall.then(by_range)
            } else {
                by_range
            }
        });
        deciding.into_iter().map(|deciding| deciding.task).collect()
    }
}

/// How the share of a task changes over a sweep.
struct Deciding {
    task: usize,
    /// The largest share minus the smallest.
    range: f64,
    /// The first cell in which it has fallen below the middle of its range. The largest number if it
    /// never does.
    falls_at: usize,
}

impl Deciding {
    fn of(task: usize, shares: &[f64]) -> Self {
        let (least, most) = shares
            .iter()
            .fold((1.0_f64, 0.0_f64), |(least, most), share| {
                (least.min(*share), most.max(*share))
            });
        let middle = f64::midpoint(least, most);
        let is_above = |share: &f64| *share >= middle;
        let above = shares.iter().position(is_above).unwrap_or(0);
        let mut after = shares.iter().enumerate().skip(above);
        let fallen = after.find(|(_, share)| !is_above(share));
        Self {
            task,
            range: most - least,
            falls_at: fallen.map_or(usize::MAX, |(cell, _)| cell),
        }
    }
}

pub(super) fn mean_share(
    results: &TaskResults,
    tasks: &[usize],
    settings: usize,
) -> Option<ExactShare> {
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

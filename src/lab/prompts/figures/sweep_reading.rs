//! What a sweep over the tasks shows.

use super::overview::PaneOverview;
use super::results::TaskResults;
use super::statistics::{
    AxisPoint, PromptShare, ShareEstimate, Verdict, axis_sentence, map_sentence,
};
use super::sweep::{CurvePoint, TaskSweep, mean_share};
use crate::lab::prompts::ExactShare;

/// What a sweep shows. Computed from time to time, not in every frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SweepReading {
    /// The probability of right answers in each cell. Empty if none is known.
    pub points: Vec<CurvePoint>,
    /// The same under the settings of each pane.
    pub panes: Vec<Option<ExactShare>>,
    /// How many tasks these are the means of.
    pub n_tasks: usize,
    /// What was drawn under the settings of each pane and then in each cell. Empty if nothing was.
    pub drawn: Vec<DrawnSettings>,
    /// The mean share of right answers in each cell, exact where it can be. Empty if no task is known
    /// in all cells.
    pub shares: Vec<ShareEstimate>,
    /// The tasks that decide how the share runs.
    pub deciding: Vec<usize>,
    /// `None` while tasks are missing.
    pub verdict: Option<Verdict>,
    /// How many tasks must be done before it is computed again.
    n_next: usize,
}

/// The answers that were drawn under one of the settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawnSettings {
    /// The share of right answers. `None` if nothing was judged.
    pub share: Option<ShareEstimate>,
    pub overview: PaneOverview,
}

impl SweepReading {
    /// Reads results that are complete.
    pub fn of(results: &TaskResults, sweep: &TaskSweep) -> Self {
        Self::new(results, sweep, true)
    }

    /// Reads results that more tasks will follow.
    pub fn of_running(results: &TaskResults, sweep: &TaskSweep) -> Self {
        Self::new(results, sweep, false)
    }

    fn new(results: &TaskResults, sweep: &TaskSweep, is_complete: bool) -> Self {
        let n_done = results.n_tasks_done();
        let panes = 0..sweep.n_panes();
        let tasks = sweep.tasks(results);
        let exact_tasks = sweep.exact_tasks(results);
        let cells = 0..sweep.n_cells();
        let cells = cells.map(|cell| cell_shares(results, sweep, &tasks, cell));
        let cells: Vec<Vec<PromptShare>> = cells.collect();
        let settings = 0..sweep.settings_at(sweep.n_cells());
        let drawn = settings.filter(|_| results.n_answers > 0);
        Self {
            points: sweep.points(results, &exact_tasks),
            panes: panes
                .map(|pane| mean_share(results, &exact_tasks, pane))
                .collect(),
            n_tasks: exact_tasks.len(),
            drawn: drawn
                .map(|settings| DrawnSettings::of(results, settings))
                .collect(),
            shares: cells
                .iter()
                .filter_map(|shares| ShareEstimate::of(shares))
                .collect(),
            deciding: sweep.deciding(results, &tasks),
            verdict: is_complete.then(|| verdict(sweep, &cells)).flatten(),
            n_next: n_done + n_done / 8 + 1,
        }
    }

    /// Reads the results again if enough tasks were done since the last time.
    pub fn advance(&mut self, results: &TaskResults, sweep: &TaskSweep) {
        if results.n_tasks_done() >= self.n_next {
            *self = Self::of_running(results, sweep);
        }
    }

    /// Returns whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty() && self.drawn_cells().all(|drawn| drawn.share.is_none())
    }

    /// Returns what was drawn in each cell.
    pub fn drawn_cells(&self) -> impl Iterator<Item = &DrawnSettings> {
        self.drawn.iter().skip(self.panes.len())
    }

    /// Returns how many tasks were drawn and judged.
    pub fn n_drawn_tasks(&self) -> usize {
        let shares = self.drawn_cells().filter_map(|drawn| drawn.share);
        shares.map(|share| share.n_prompts).max().unwrap_or(0)
    }

    /// Returns the cell with the largest share of right answers, the first of several.
    pub fn best_cell(&self) -> Option<usize> {
        let shares = self.shares.iter().map(|estimate| estimate.share);
        let best = shares
            .enumerate()
            .reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.map(|(cell, _)| cell)
    }

    /// Says how varied and how long the answers are at both ends of a number, if they were drawn:
    /// "Different answers to a task: 1.2 at 0.1, 4.3 at 1.6. Tokens of an answer: 5.1 and 9.7."
    pub fn variety(&self, sweep: &TaskSweep) -> Option<String> {
        if sweep.columns.is_some() || sweep.n_cells() < 2 {
            return None;
        }
        let ends = [self.drawn_cells().next()?, self.drawn_cells().last()?];
        let [low, high] = [0, sweep.n_cells() - 1].map(|cell| sweep.cell_words(cell));
        let of = |value: fn(&PaneOverview) -> Option<f64>| {
            let [first, last] = ends.map(|drawn| value(&drawn.overview));
            Some([first?, last?])
        };
        let [few, many] = of(|row| row.n_different)?;
        let [short, long] = of(|row| row.n_tokens)?;
        Some(format!(
            "Different answers to a task: {few:.1} at {low}, {many:.1} at {high}. Tokens of an \
             answer: {short:.1} and {long:.1}."
        ))
    }
}

impl DrawnSettings {
    fn of(results: &TaskResults, settings: usize) -> Self {
        let tasks = results.comparable();
        let shares = tasks.filter_map(|task| {
            let (n_right, n_answers) = results.n_right(task, settings)?;
            Some(PromptShare::Sampled { n_right, n_answers })
        });
        Self {
            share: ShareEstimate::of(&shares.collect::<Vec<_>>()),
            overview: PaneOverview::of(results, settings),
        }
    }
}

/// Says how accuracy depends on what is varied, from the shares of the same tasks in each cell.
fn verdict(sweep: &TaskSweep, cells: &[Vec<PromptShare>]) -> Option<Verdict> {
    let labels: Vec<String> = (0..cells.len())
        .map(|cell| sweep.cell_words(cell))
        .collect();
    let shares: Vec<Vec<Option<PromptShare>>> = cells
        .iter()
        .map(|shares| shares.iter().copied().map(Some).collect())
        .collect();
    let points: Vec<AxisPoint<'_>> = labels
        .iter()
        .zip(&shares)
        .map(|(label, shares)| AxisPoint { label, shares })
        .collect();
    if sweep.columns.is_some() {
        map_sentence(&points)
    } else {
        axis_sentence(&points)
    }
}

/// Returns the share of each of these tasks in a cell. All of them must be known in it.
fn cell_shares(
    results: &TaskResults,
    sweep: &TaskSweep,
    tasks: &[usize],
    cell: usize,
) -> Vec<PromptShare> {
    let shares = tasks
        .iter()
        .filter_map(|task| sweep.share(results, *task, cell));
    shares.collect()
}

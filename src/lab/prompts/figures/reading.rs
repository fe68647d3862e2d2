//! What the answers say about the settings.

use super::order::TaskOrder;
use super::overview::PaneOverview;
use super::results::{JudgedPane, TaskResults};
use super::statistics::{
    Comparison, JudgedSetting, PromptShare, ShareEstimate, Verdict, compare, differences,
    is_decided, sentence,
};

/// What the answers say. Computed from time to time, not in every frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TasksReading {
    /// The tasks in the order of the list. Once the run has ended, those about which the settings
    /// disagree most come first, unless the user chose another order.
    pub order: Vec<usize>,
    /// What they are sorted by, and whether in reverse. `None` until the run has ended.
    pub sorted_by: Option<(TaskOrder, bool)>,
    /// The share of right answers under each of the settings. `None` where nothing was judged.
    pub shares: Vec<Option<ShareEstimate>>,
    /// Each pair of settings.
    pub pairs: Vec<Comparison>,
    pub verdict: Option<Verdict>,
    /// What the answers under each of the settings cost, and what several are good for. Empty until
    /// the run has ended.
    pub overview: Vec<PaneOverview>,
    /// Two settings of which the first is better, although not all answers are there yet.
    pub decided: Option<(usize, usize)>,
    /// How many tasks must be done before it is computed again.
    n_next: usize,
}

impl TasksReading {
    /// Reads results that are complete.
    pub fn of(results: &TaskResults) -> Self {
        let mut reading = Self::of_running(results);
        reading.decided = None;
        let panes = 0..results.panes.len();
        reading.overview = panes.map(|pane| PaneOverview::of(results, pane)).collect();
        reading.sort_by(TaskOrder::default(), results);
        reading
    }

    /// Sorts the tasks, or reverses them if they are already sorted by this.
    pub fn sort_by(&mut self, order: TaskOrder, results: &TaskResults) {
        let is_reversed = self.sorted_by == Some((order, false));
        self.sorted_by = Some((order, is_reversed));
        self.order = results.ordered(order, is_reversed);
    }

    /// Reads results that more answers will follow.
    pub fn of_running(results: &TaskResults) -> Self {
        let n_tasks = results.tasks().len();
        let shares: Vec<Vec<Option<PromptShare>>> = (0..results.panes.len())
            .map(|pane| {
                let tasks = results.comparable();
                tasks.map(|task| results.prompt_share(task, pane)).collect()
            })
            .collect();
        let names = results.panes.iter().map(|pane| name_of(pane, results));
        let settings = names.zip(&shares);
        let settings: Vec<JudgedSetting<'_>> = settings
            .map(|(name, shares)| JudgedSetting { name, shares })
            .collect();
        let rows: Vec<&[Option<PromptShare>]> = shares.iter().map(Vec::as_slice).collect();
        let pairs = compare(&rows);
        let n_done = results.n_comparable();
        Self {
            order: (0..n_tasks).collect(),
            sorted_by: None,
            shares: shares
                .iter()
                .map(|shares| {
                    let known: Vec<PromptShare> = shares.iter().flatten().copied().collect();
                    ShareEstimate::of(&known)
                })
                .collect(),
            verdict: sentence(&settings, &pairs),
            overview: Vec::new(),
            decided: decided(&shares, &pairs),
            pairs,
            n_next: n_done + n_done / 8 + 1,
        }
    }

    /// Reads the results again if enough tasks were done since the last time.
    pub fn advance(&mut self, results: &TaskResults) {
        if results.n_comparable() >= self.n_next {
            *self = Self::of_running(results);
        }
    }
}

/// Returns the name of settings, or their letter if others have the same name.
fn name_of<'a>(pane: &'a JudgedPane, results: &TaskResults) -> &'a str {
    let same = results.panes.iter().filter(|other| other.name == pane.name);
    if same.count() > 1 {
        &pane.letter
    } else {
        &pane.name
    }
}

/// Returns a pair of which one is the best of all, and better than the other beyond doubt.
fn decided(shares: &[Vec<Option<PromptShare>>], pairs: &[Comparison]) -> Option<(usize, usize)> {
    let n_pairs = pairs.len();
    pairs.iter().find_map(|pair| {
        let (better, worse) = if pair.paired.difference > 0.0 {
            (pair.first, pair.second)
        } else {
            (pair.second, pair.first)
        };
        let differences = differences(shares.get(better)?, shares.get(worse)?);
        is_decided(&differences, n_pairs).then_some((better, worse))
    })
}

//! The order of the tasks in the table.

use super::results::{JudgedPane, TaskResults};
use super::statistics::PromptShare;

/// What the tasks of a table are sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskOrder {
    /// Those about which the settings disagree most come first.
    #[default]
    Disagreement,
    /// The order of the list.
    List,
    /// Those with the longest answers come first.
    Length,
    /// Those that the settings at this index answer best come first.
    Share(usize),
}

impl TaskOrder {
    /// Returns all orders of a table, in menu order.
    pub fn all(n_panes: usize) -> impl Iterator<Item = Self> {
        let others = [Self::Disagreement, Self::List, Self::Length];
        others.into_iter().chain((0..n_panes).map(Self::Share))
    }

    /// Names it for menus and titles: "most disagreement first".
    pub fn name(self, panes: &[JudgedPane], is_reversed: bool) -> String {
        match (self, is_reversed) {
            (Self::Disagreement, false) => "most disagreement first".to_owned(),
            (Self::Disagreement, true) => "least disagreement first".to_owned(),
            (Self::List, false) => "in the order of the list".to_owned(),
            (Self::List, true) => "last of the list first".to_owned(),
            (Self::Length, false) => "longest answers first".to_owned(),
            (Self::Length, true) => "shortest answers first".to_owned(),
            (Self::Share(pane), is_reversed) => {
                let letter = panes.get(pane).map_or("", |pane| &pane.letter);
                let end = if is_reversed { "worst" } else { "best" };
                format!("{end} of {letter} first")
            }
        }
    }

    /// Returns what a task is sorted by, the largest first. Tasks without it come last.
    fn key(self, results: &TaskResults, task: usize) -> Option<f64> {
        match self {
            Self::Disagreement => Some(results.disagreement(task)),
            Self::List => Some(-(task as f64)),
            Self::Length => results.mean_tokens(task),
            Self::Share(pane) => results.prompt_share(task, pane).map(PromptShare::value),
        }
    }
}

impl TaskResults {
    /// Returns the tasks in an order. Equal ones keep the order of the list.
    pub fn ordered(&self, order: TaskOrder, is_reversed: bool) -> Vec<usize> {
        let keys = (0..self.tasks().len()).map(|task| order.key(self, task));
        let keys = keys.map(|key| key.map(|key| if is_reversed { -key } else { key }));
        let mut tasks: Vec<(usize, Option<f64>)> = keys.enumerate().collect();
        let least = f64::NEG_INFINITY;
        tasks.sort_by(|(_, a), (_, b)| b.unwrap_or(least).total_cmp(&a.unwrap_or(least)));
        tasks.into_iter().map(|(task, _)| task).collect()
    }

    /// Returns the mean number of tokens of the answers to a task under all settings.
    fn mean_tokens(&self, task: usize) -> Option<f64> {
        let answers = (0..self.panes.len()).flat_map(|pane| self.answers(task, pane));
        let (n, n_tokens) = answers.fold((0_usize, 0_usize), |(n, n_tokens), answer| {
            (n + 1, n_tokens + answer.tokens.len())
        });
        (n > 0).then(|| n_tokens as f64 / n as f64)
    }
}

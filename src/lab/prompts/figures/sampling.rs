//! What several answers to a task are good for: a vote among them, or one that is right.

use std::collections::HashMap;

use super::results::TaskResults;
use super::statistics::{
    GroupedAnswer, majority_accuracies, majority_accuracy, pass_at_all, pass_at_k,
};

impl TaskResults {
    /// Returns the accuracy of the answer that most of 1, 2, … answers agree on, as the mean over the
    /// tasks: Wang et al. 2022, "Self-Consistency Improves Chain of Thought Reasoning in Language
    /// Models" (arXiv 2203.11171). Answers agree if they are the same apart from spaces around them.
    pub fn self_consistency(&self, pane: usize) -> Vec<f64> {
        majority_accuracies(&self.all_votes(pane))
    }

    /// Returns the accuracy of a vote among this many answers. `None` if a task has fewer.
    pub(super) fn accuracy_of_vote(&self, pane: usize, n: usize) -> Option<f64> {
        accuracy(&self.all_votes(pane), n)
    }

    /// Returns the probability that at least one of 1, 2, … answers is right, as the mean over the
    /// tasks: Chen et al. 2021, "Evaluating Large Language Models Trained on Code" (arXiv 2107.03374).
    pub fn pass_at(&self, pane: usize) -> Vec<f64> {
        let of_tasks = self.n_right_of_all(pane);
        let of_tasks: Vec<Vec<f64>> = of_tasks.map(|(right, n)| pass_at_all(n, right)).collect();
        let n_max = of_tasks.iter().map(Vec::len).min().unwrap_or(0);
        let mean_at = |index: usize| {
            let shares = of_tasks.iter().filter_map(|shares| shares.get(index));
            mean(&shares.copied().collect::<Vec<_>>())
        };
        (0..n_max).filter_map(mean_at).collect()
    }

    /// Returns the probability that at least one of this many answers is right. `None` if a task has
    /// fewer.
    pub(super) fn share_of_any(&self, pane: usize, k: usize) -> Option<f64> {
        let of_tasks = self.n_right_of_all(pane);
        let shares: Option<Vec<f64>> = of_tasks.map(|(right, n)| pass_at_k(n, right, k)).collect();
        mean(&shares?)
    }

    fn n_right_of_all(&self, pane: usize) -> impl Iterator<Item = (usize, usize)> {
        let tasks = self.comparable();
        tasks.filter_map(move |task| self.n_right(task, pane))
    }

    /// Returns what the answers to each task vote for.
    fn all_votes(&self, pane: usize) -> Vec<Vec<GroupedAnswer>> {
        let tasks = self.comparable();
        let whole = tasks.filter(|task| self.error_of(*task, pane).is_none());
        let votes = whole.map(|task| self.votes(task, pane));
        votes.filter(|votes| !votes.is_empty()).collect()
    }

    /// Returns what each answer votes for, and whether that is right.
    fn votes(&self, task: usize, pane: usize) -> Vec<GroupedAnswer> {
        let mut groups: HashMap<&str, usize> = HashMap::new();
        let answers = self.answers(task, pane).iter();
        answers
            .map(|answer| {
                let n_groups = groups.len();
                let group = groups.entry(answer.answer.text.trim()).or_insert(n_groups);
                GroupedAnswer {
                    group: *group,
                    is_right: answer.is_right(),
                }
            })
            .collect()
    }
}

/// Returns the accuracy of votes among `n` answers to each task.
fn accuracy(of_tasks: &[Vec<GroupedAnswer>], n: usize) -> Option<f64> {
    let of_tasks = of_tasks.iter().map(|votes| majority_accuracy(votes, n));
    mean(&of_tasks.collect::<Option<Vec<f64>>>()?)
}

fn mean(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    (!values.is_empty()).then(|| sum / values.len() as f64)
}

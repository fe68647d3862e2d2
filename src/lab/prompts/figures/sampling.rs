//! What several answers to a task are good for: a vote among them, or one that is right.

use super::results::TaskResults;
use super::statistics::{GroupedAnswer, majority_accuracy, pass_at_k};

/// The accuracy of the answer that most of several answers agree on: Wang et al. 2022,
/// "Self-Consistency Improves Chain of Thought Reasoning in Language Models" (arXiv 2203.11171).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfConsistency {
    /// How many answers vote.
    pub n: usize,
    /// The mean over the tasks.
    pub accuracy: f64,
}

/// The probability that at least one of several answers is right: Chen et al. 2021, "Evaluating
/// Large Language Models Trained on Code" (arXiv 2107.03374).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassAt {
    pub k: usize,
    /// The mean over the tasks.
    pub share: f64,
}

impl TaskResults {
    /// Returns the accuracy of a vote among 1, 2, … answers under one of the settings. Answers agree
    /// if they are the same apart from spaces around them.
    pub fn self_consistency(&self, pane: usize) -> Vec<SelfConsistency> {
        let of_tasks: Vec<Vec<GroupedAnswer>> = self
            .comparable()
            .map(|task| self.votes(task, pane))
            .filter(|votes| !votes.is_empty())
            .collect();
        let n_max = of_tasks.iter().map(Vec::len).min().unwrap_or(0);
        let accuracy = |n: usize| {
            let of_tasks = of_tasks
                .iter()
                .filter_map(|votes| majority_accuracy(votes, n));
            mean(of_tasks)
        };
        (1..=n_max)
            .map(|n| SelfConsistency {
                n,
                accuracy: accuracy(n),
            })
            .collect()
    }

    /// Returns the probability that one of 1, 2, … answers is right.
    pub fn pass_at(&self, pane: usize) -> Vec<PassAt> {
        let of_tasks: Vec<(usize, usize)> = self
            .comparable()
            .filter_map(|task| self.n_right(task, pane))
            .collect();
        let n_max = of_tasks.iter().map(|(_, n)| *n).min().unwrap_or(0);
        let share = |k: usize| {
            mean(
                of_tasks
                    .iter()
                    .filter_map(|(right, n)| pass_at_k(*n, *right, k)),
            )
        };
        (1..=n_max).map(|k| PassAt { k, share: share(k) }).collect()
    }

    /// Returns what each answer votes for, and whether that is right.
    fn votes(&self, task: usize, pane: usize) -> Vec<GroupedAnswer> {
        let mut texts: Vec<&str> = Vec::new();
        let answers = self.answers(task, pane).iter();
        answers
            .map(|answer| {
                let text = answer.answer.text.trim();
                let known = texts.iter().position(|other| *other == text);
                let vote = known.unwrap_or_else(|| {
                    texts.push(text);
                    texts.len() - 1
                });
                GroupedAnswer {
                    group: vote,
                    is_right: answer.is_right(),
                }
            })
            .collect()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0_usize), |(sum, n), value| (sum + value, n + 1));
    sum / n.max(1) as f64
}

//! What answers cost, how varied they are, and what several of them are good for, setting by
//! setting.

use super::results::{JudgedAnswer, TaskResults};
use crate::generation::FinishReason;

/// How many answers a run may have so that votes among them are counted for show.
const N_MAX_VOTES: usize = 200_000;

/// The answers under one of the settings, over all tasks that are done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PaneOverview {
    /// The number of answers to each task.
    pub n_answers: usize,
    /// The accuracy of the answer that most of them agree on. `None` with fewer than two answers.
    pub vote: Option<f64>,
    /// The probability that at least one of them is right.
    pub any: Option<f64>,
    /// The mean number of tokens of an answer, with the thought before it.
    pub n_tokens: Option<f64>,
    /// The mean number of tokens of the thoughts, if there are any.
    pub n_thought: Option<f64>,
    /// The mean number of different answers to a task.
    pub n_different: Option<f64>,
    /// The mean time that an answer took, in seconds. Answers that were drawn in one batch share its
    /// time, by their tokens.
    pub secs: Option<f64>,
    /// The share of answers that the token limit cut off.
    pub cut: Option<f64>,
}

impl PaneOverview {
    /// Reads the answers under one of the settings.
    pub(super) fn of(results: &TaskResults, pane: usize) -> Self {
        let mut sums = Sums::default();
        let tasks = 0..results.tasks().len();
        let is_whole =
            |task: &usize| results.is_done(*task) && results.error_of(*task, pane).is_none();
        for task in tasks.filter(is_whole) {
            let secs = results.secs_per_token(task, pane);
            sums.add(results.answers(task, pane), secs);
        }
        let n_answers = sums.n_least.unwrap_or(0);
        let counts_votes = n_answers > 1 && sums.n <= N_MAX_VOTES && results.is_judged();
        Self {
            n_answers,
            vote: counts_votes
                .then(|| results.accuracy_of_vote(pane, n_answers))
                .flatten(),
            any: counts_votes
                .then(|| results.share_of_any(pane, n_answers))
                .flatten(),
            n_tokens: mean(sums.n_tokens, sums.n),
            n_thought: mean(sums.n_thought, sums.n).filter(|tokens| *tokens > 0.0),
            n_different: mean(sums.n_different, sums.n_tasks),
            secs: (sums.n > 0).then(|| sums.secs / sums.n as f64),
            cut: mean(sums.n_cut, sums.n),
        }
    }
}

/// What the answers to several tasks add up to.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    n_tasks: usize,
    n: usize,
    /// The smallest number of answers to a task.
    n_least: Option<usize>,
    n_tokens: usize,
    n_thought: usize,
    n_different: usize,
    n_cut: usize,
    secs: f64,
}

impl Sums {
    /// Adds the answers to a task, each token of which took this long.
    fn add(&mut self, answers: &[JudgedAnswer], secs_per_token: f64) {
        if answers.is_empty() {
            return;
        }
        self.n_tasks += 1;
        self.n += answers.len();
        let least = self.n_least.map_or(answers.len(), |n| n.min(answers.len()));
        self.n_least = Some(least);
        let mut texts: Vec<&str> = Vec::new();
        for answer in answers {
            self.n_tokens += answer.tokens.len();
            self.secs += answer.tokens.len() as f64 * secs_per_token;
            self.n_cut += usize::from(answer.finish == FinishReason::MaxTokens);
            self.n_thought += answer.answer.n_thought;
            texts.push(answer.answer.text.trim());
        }
        texts.sort_unstable();
        texts.dedup();
        self.n_different += texts.len();
    }
}

fn mean(sum: usize, n: usize) -> Option<f64> {
    (n > 0).then(|| sum as f64 / n as f64)
}

//! Which tasks to answer under which settings, and what the engine reports.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::decoding::{ChainConfig, Sampled, SplitMix64, TokenId};
use crate::generation::formatting::grouped;
use crate::generation::{Limits, PromptText, ServedText, SweepText};

/// The maximum numbers of answers, of their tokens and of probabilities in a run, which bound its
/// memory: a token takes 4 bytes and its text about as much.
const N_MAX_ANSWERS: usize = 1_000_000;
const N_MAX_TOKENS: usize = 200_000_000;
const N_MAX_SHARES: usize = 1_000_000;

/// Prompts to answer, and the settings under which to answer them.
#[derive(Debug, Clone, PartialEq)]
pub struct TasksPlan {
    pub tasks: Arc<[TaskText]>,
    /// The settings under which answers are drawn.
    pub drawn: Vec<ChainConfig>,
    /// How many answers to draw for each task and each of these settings.
    pub n_answers: usize,
    /// The settings under which the probability of a right answer is computed.
    pub exact: Vec<ChainConfig>,
    /// The indices of the settings under which other hosts answer: servers, and other models. The
    /// model leaves them out.
    pub elsewhere: Vec<usize>,
    /// The index of the part of the run that this plan is for.
    pub part: usize,
    /// The seed of the list, from which each task has its own.
    pub seed: u64,
    pub limits: Limits,
}

impl TasksPlan {
    /// Returns the settings under which the model draws answers, with their indices.
    pub fn drawn_here(&self) -> impl Iterator<Item = (usize, &ChainConfig)> {
        let drawn = self.drawn.iter().enumerate();
        drawn.filter(|(index, _)| !self.elsewhere.contains(index))
    }

    /// Returns how many of these answers a setting gets: one if nothing is left to chance.
    pub fn n_answers_of(n_answers: usize, chain: &ChainConfig) -> usize {
        if chain.leaves_chance() {
            n_answers
        } else {
            n_answers.min(1)
        }
    }
}

/// How large a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunSize {
    pub n_tasks: usize,
    /// The number of settings, with those in which numbers are varied.
    pub n_settings: usize,
    /// The number of answers to each task under each of the settings.
    pub n_answers: usize,
    /// The maximum number of tokens of an answer.
    pub n_tokens: usize,
    /// Whether probabilities are computed.
    pub is_exact: bool,
}

impl RunSize {
    /// Returns why a run of this size would take too much memory.
    pub(super) fn refusal(self) -> Option<String> {
        let n_shares = self.n_tasks.saturating_mul(self.n_settings);
        let n_answers = n_shares.saturating_mul(self.n_answers);
        let n_tokens = n_answers.saturating_mul(self.n_tokens);
        let probs = if self.is_exact { n_shares } else { 0 };
        let limits = [
            (
                n_answers,
                N_MAX_ANSWERS,
                "answers",
                "fewer answers to each task",
            ),
            (
                n_tokens,
                N_MAX_TOKENS,
                "tokens",
                "fewer answers or fewer tokens",
            ),
            (probs, N_MAX_SHARES, "probabilities", "fewer values"),
        ];
        let exceeded = limits.into_iter().find(|(n, most, ..)| n > most);
        exceeded.map(|(n, most, what, remedy)| {
            let [n, most] = [n, most].map(|n| grouped(n as f64));
            format!("These are up to {n} {what}, and at most {most} are kept; choose {remedy}")
        })
    }
}

/// Returns the seed of the first answer to a task; the others follow it. It is 32 bits of the task's
/// number in the sequence that `SplitMix64` generates from the seed of the list.
///
/// All settings use the same seeds, so only the settings make their answers differ. Each task has
/// seeds of its own: if all had the same ones, five seeds would be five coins for the whole list, and
/// its tasks would not be independent.
pub const fn task_seed(list: u64, task: usize) -> u64 {
    SplitMix64::after(list, task as u64).bits() >> 32
}

/// A task as the engine sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskText {
    pub prompt: PromptText,
    /// The texts that are exactly the right answers. Empty if a right answer can't be listed.
    pub right: Vec<String>,
}

/// A choice to look into: the token after those that answers have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkPlan {
    pub prompt: PromptText,
    /// The tokens after the prompt that the answers have in common.
    pub shared: Vec<TokenId>,
    pub chain: ChainConfig,
    /// The seeds of the answers.
    pub seeds: Vec<u64>,
}

/// What a chain draws at one place with several coins.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkFound {
    /// The tokens of the prompt.
    pub prompt: Vec<TokenId>,
    /// What it draws with the coin of each seed, in the order of the plan.
    pub draws: Vec<Sampled>,
}

/// What the engine reports of a task, given by its index.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskUpdate {
    pub task: usize,
    /// The index of the part of the run that reports it: a model on this computer, or a server.
    pub part: usize,
    pub news: TaskNews,
}

/// What happened to a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskNews {
    /// Its prompt was tokenized.
    Read(ReadPrompt),
    /// How likely a right answer is, under each of the settings.
    Exact(ExactFound),
    /// Answers were written, or have failed.
    Answered(Vec<SweepText>),
    /// The model can't answer it, or a part of the run can't go on.
    Refused { error: String },
    /// A server has written an answer, or has failed.
    Served(ServedText),
    /// How long a token of the answers under these settings took.
    Timed {
        /// The indices of settings whose answers were drawn in one batch.
        settings: Vec<usize>,
        secs_per_token: f64,
    },
    /// Nothing more follows about it.
    Done {
        /// How long the engine has worked on it, in seconds.
        secs: f64,
    },
}

/// A prompt as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPrompt {
    pub tokens: Vec<TokenId>,
    /// The text that was tokenized: the prompt, or what the chat template made of it.
    pub rendered: String,
}

/// How likely a right answer is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExactFound {
    /// One for each of the settings. `None` where it can't be computed.
    pub shares: Vec<Option<ExactShare>>,
    /// The likeliest spellings of right answers, the likeliest first.
    pub spellings: Vec<Spelling>,
    /// Why no share could be computed, in words.
    pub refusal: Option<String>,
}

/// The probability that an answer is right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExactShare {
    /// The sum over the spellings that were added up.
    pub at_least: f64,
    /// The same, as if everything that was left out were right.
    pub at_most: f64,
}

/// How far apart the bounds may be so that a share counts as exact: less than the rounding of 32-bit
/// logits moves it.
const EXACT: f64 = 1e-6;

impl ExactShare {
    /// Returns whether all spellings that matter were added up: the bounds are at most one in a
    /// million apart.
    pub fn is_exact(self) -> bool {
        self.at_most - self.at_least <= EXACT
    }

    /// Returns the middle between its bounds.
    pub fn middle(self) -> f64 {
        f64::midpoint(self.at_least, self.at_most)
    }
}

/// A way to write a right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spelling {
    /// The tokens of the answer, without the one that ends it unless it is also part of the answer.
    pub tokens: Vec<TokenId>,
    /// The probability of its tokens up to each of them, under each of the settings.
    pub prefix_probs: Vec<Vec<f64>>,
    /// Its probability, with all ends that count, under each of the settings.
    pub probs: Vec<f64>,
}

impl Spelling {
    /// Returns the probability of each token after those before it, under the settings at this
    /// index, and that of an end after them. The end is `None` if the last token has it in itself.
    pub fn token_probs(&self, settings: usize) -> (Vec<f64>, Option<f64>) {
        let of = |probs: &Vec<f64>| probs.get(settings).copied().unwrap_or_default();
        let mut before = 1.0;
        let mut share_of = |prob: f64| {
            let share = if before > 0.0 { prob / before } else { 0.0 };
            before = prob;
            share
        };
        let tokens = self.prefix_probs.iter().map(|probs| share_of(of(probs)));
        let tokens = tokens.collect();
        let has_end = self.prefix_probs.last() != Some(&self.probs);
        let end = has_end.then(|| share_of(of(&self.probs)));
        (tokens, end)
    }
}

#[cfg(test)]
mod tests {
    use super::{RunSize, Spelling, task_seed};
    use crate::decoding::TokenId;

    #[test]
    fn the_probabilities_of_the_tokens_and_the_end_multiply_to_that_of_the_spelling() {
        let mut spelling = Spelling {
            tokens: vec![TokenId(1), TokenId(2)],
            prefix_probs: vec![vec![0.5, 0.0], vec![0.25, 0.0]],
            probs: vec![0.2, 0.0],
        };
        assert_eq!(spelling.token_probs(0), (vec![0.5, 0.5], Some(0.8)));
        assert_eq!(spelling.token_probs(1), (vec![0.0, 0.0], Some(0.0)));
        spelling.probs = vec![0.25, 0.0];
        assert_eq!(spelling.token_probs(0), (vec![0.5, 0.5], None));
    }

    #[test]
    fn the_size_of_a_run_is_bounded() {
        let size = |n_tasks, n_settings, n_answers, n_tokens| RunSize {
            n_tasks,
            n_settings,
            n_answers,
            n_tokens,
            is_exact: true,
        };
        assert_eq!(size(1000, 4, 5, 4096).refusal(), None);
        assert_eq!(size(100_000, 10, 1, 32).refusal(), None);
        for (size, words) in [
            (
                size(1000, 4, 251, 1),
                "1,004,000 answers, and at most 1,000,000",
            ),
            (size(1000, 200, 1, 1024), "tokens, and at most 200,000,000"),
            (size(1000, 1024, 0, 8), "1,024,000 probabilities"),
            (size(usize::MAX, 2, 2, 2), "answers"),
        ] {
            let refusal = size.refusal().unwrap();
            assert!(refusal.contains(words), "{refusal}");
        }
        let drawn = RunSize {
            is_exact: false,
            ..size(1000, 1024, 0, 8)
        };
        assert_eq!(drawn.refusal(), None);
    }

    #[test]
    fn each_task_has_its_own_seeds() {
        let mut seeds: Vec<u64> = (0..1000).map(|task| task_seed(42, task)).collect();
        assert!(seeds.iter().all(|seed| u32::try_from(*seed).is_ok()));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 1000);
        // The first two values of SplitMix64 with the seed 1234567, as its authors' code prints them.
        let first = [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973];
        assert_eq!(
            [0, 1].map(|task| task_seed(1_234_567, task)),
            first.map(|value| value >> 32)
        );
        assert_ne!(task_seed(1, 0), task_seed(2, 0));
    }
}

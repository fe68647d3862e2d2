//! Tasks, the settings under which they are answered, and the answers as they arrive.

mod arrivals;
mod fork;
mod hosts;
mod kept;
mod own_words;
mod served;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::fork::Fork;
use self::hosts::ListHost;
pub use self::kept::KeptTasks;
use self::own_words::SharedText;
use self::served::ServedTokens;
use super::answer::AnswerText;
use super::checks::Verdict;
use super::statistics::PromptShare;
use super::tasks::Task;
use crate::decoding::{ChainConfig, TokenId};
use crate::generation::formatting::place_of_letter;
use crate::generation::{FinishReason, ModelInfo, PaneModel, PromptForm, ServedModel, Vocabulary};
use crate::lab::prompts::{ExactFound, ExactShare, ReadPrompt, TasksPlan};

/// The maximum number of words that are shown of an expected answer.
const N_EXPECTED: usize = 40;

/// Settings under which tasks are answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedPane {
    /// The letter of the pane that they are from.
    pub letter: String,
    pub name: String,
    pub chain: ChainConfig,
    /// The server or the other model that answers, or `None` for the main model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<PaneModel>,
    /// The model there, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<ModelInfo>>,
    /// The settings that the server's own sampler lacks or applies otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_applied: Vec<String>,
}

/// More places than a window has panes.
const N_PLACES: usize = 702;

impl JudgedPane {
    /// Returns the server that answers, or `None` for a model on this computer.
    pub fn served(&self) -> Option<&ServedModel> {
        self.host.as_ref()?.served()
    }

    /// Says which server or other model answers, and which settings a server's own sampler does not
    /// apply.
    pub fn host_words(&self) -> Option<String> {
        let at = match self.host.as_ref()? {
            PaneModel::Local(source) => source.name(),
            PaneModel::Server(served) => served.host().to_owned(),
        };
        let words = match (&self.model, self.served()) {
            (Some(model), Some(_)) => format!("Answered by {} at {at}", model.name),
            (Some(model), None) => format!("Answered by {}", model.name),
            (None, _) => format!("Answered by {at}"),
        };
        Some(if self.not_applied.is_empty() {
            words
        } else {
            format!("{words}; not applied: {}", self.not_applied.join(", "))
        })
    }

    /// Returns the place that its letter stands for, which determines its color.
    fn place(&self) -> Option<usize> {
        place_of_letter(&self.letter, N_PLACES)
    }
}

/// An answer that was drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedAnswer {
    pub seed: u64,
    /// All tokens that were written, with the thought before the answer and what ended it.
    pub tokens: Vec<TokenId>,
    pub answer: AnswerText,
    pub verdict: Verdict,
    pub finish: FinishReason,
    /// Whether its grammar accepts it. `None` without a grammar.
    pub grammar_complete: Option<bool>,
    /// The mean surprise of its tokens before the chain, in bits. `None` without tokens.
    pub surprise_bits: Option<f64>,
}

impl JudgedAnswer {
    pub fn is_right(&self) -> bool {
        self.verdict.is_right()
    }

    /// Says why it ended, and that it is unfinished if it stopped inside the grammar of its
    /// settings.
    pub fn finish_words(&self, chain: &ChainConfig) -> String {
        let rule = chain.grammar.as_deref();
        let is_unfinished = self.grammar_complete == Some(false);
        self.finish.words(rule.filter(|_| is_unfinished))
    }
}

/// What is known about a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Found {
    /// What each part of the run has found.
    parts: Vec<PartFound>,
    /// The answers under each of the settings.
    answers: Vec<Vec<JudgedAnswer>>,
    /// How long a token of the answers under each of the settings took, in seconds.
    #[serde(default)]
    secs_per_token: Vec<f64>,
    /// The settings under which answers are missing, by their index, and why.
    #[serde(default)]
    unanswered: Vec<(usize, String)>,
    /// Why the only part can't answer it.
    error: Option<String>,
    /// How many parts of the run have done it.
    #[serde(default)]
    n_parts_done: usize,
    is_done: bool,
}

/// What a part of the run has found about a task. Servers find nothing of the kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct PartFound {
    prompt: Option<ReadPrompt>,
    exact: Option<ExactFound>,
}

/// Tasks and their answers under several settings.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskResults {
    tasks: Arc<[Task]>,
    pub panes: Vec<JudgedPane>,
    /// Further settings, in which numbers are varied. Their indices follow those of the panes.
    pub cells: Vec<JudgedPane>,
    pub n_answers: usize,
    /// The seed of the list.
    pub seed: u64,
    /// The form of the window's prompt when the run began, which its prompts take.
    pub form: PromptForm,
    /// What answers each task, each a part of the run.
    hosts: Vec<ListHost>,
    served: ServedTokens,
    found: Vec<Found>,
    /// What all prompts have in common.
    shared: SharedText,
    /// What is complete, counted as it arrives because a list can be long.
    counts: Counts,
}

/// How many answers and tasks are complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    answers: usize,
    /// How many answers an error has prevented.
    missing: usize,
    done: usize,
    refused: usize,
    comparable: usize,
}

impl TaskResults {
    /// Returns the place of the pane with this index, which determines its letter and color.
    pub fn place(&self, pane: usize) -> usize {
        let judged = self.panes.get(pane).and_then(JudgedPane::place);
        judged.unwrap_or(pane)
    }

    pub fn new(
        tasks: Arc<[Task]>,
        panes: Vec<JudgedPane>,
        plan: &TasksPlan,
        vocabulary: &Arc<Vocabulary>,
    ) -> Self {
        let hosts = ListHost::all(&panes, vocabulary);
        let nothing = Found {
            parts: vec![PartFound::default(); hosts.len()],
            answers: vec![Vec::new(); panes.len()],
            ..Found::default()
        };
        Self {
            hosts,
            served: ServedTokens::default(),
            found: vec![nothing; tasks.len()],
            shared: SharedText::of(&tasks),
            counts: Counts::default(),
            tasks,
            panes,
            cells: Vec::new(),
            n_answers: plan.n_answers,
            seed: plan.seed,
            form: PromptForm::Raw,
        }
    }

    /// Notes the form of the window's prompt.
    #[must_use]
    pub fn with_form(mut self, form: PromptForm) -> Self {
        self.form = form;
        self
    }

    /// Adds the settings of a sweep, before anything is found.
    #[must_use]
    pub fn with_cells(mut self, cells: Vec<JudgedPane>) -> Self {
        let n = self.panes.len() + cells.len();
        for found in &mut self.found {
            found.answers.resize_with(n, Vec::new);
        }
        self.cells = cells;
        self
    }

    /// Returns the settings of all panes and then of all cells.
    pub fn settings(&self) -> impl Iterator<Item = &JudgedPane> {
        self.panes.iter().chain(&self.cells)
    }

    /// Returns the settings at this index.
    pub fn settings_at(&self, index: usize) -> Option<&JudgedPane> {
        let cell = || self.cells.get(index.checked_sub(self.panes.len())?);
        self.panes.get(index).or_else(cell)
    }

    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns the same tasks, to be shared with another run.
    pub fn shared_tasks(&self) -> Arc<[Task]> {
        Arc::clone(&self.tasks)
    }

    /// Returns the prompt of a task as the model reads it that answers under these settings.
    pub fn prompt(&self, task: usize, settings: usize) -> Option<&ReadPrompt> {
        self.part(task, settings)?.prompt.as_ref()
    }

    /// Returns what the part that answers under these settings has found about a task.
    fn part(&self, task: usize, settings: usize) -> Option<&PartFound> {
        let host = self.host_index(settings)?;
        self.found.get(task)?.parts.get(host)
    }

    /// Returns the vocabulary of the answers under one of the settings.
    pub fn vocabulary_of(&self, settings: usize) -> &Vocabulary {
        let model = self.model_vocabulary(settings);
        model.map_or(self.served.vocabulary(), |vocabulary| vocabulary)
    }

    /// Returns whether a server answers under these settings.
    pub fn is_served(&self, settings: usize) -> bool {
        let settings = self.settings_at(settings);
        settings.is_some_and(|settings| settings.served().is_some())
    }

    /// Notes with which model a server answers under these settings.
    pub fn note_model(&mut self, pane: usize, model: &Arc<ModelInfo>) {
        if let Some(pane) = self.panes.get_mut(pane) {
            pane.model = Some(Arc::clone(model));
        }
    }

    /// Notes which of these settings the server's own sampler lacks or applies otherwise.
    pub fn note_not_applied(&mut self, pane: usize, not_applied: Vec<String>) {
        if let Some(pane) = self.panes.get_mut(pane) {
            pane.not_applied = not_applied;
        }
    }

    /// Returns the answers to a task under one of the settings, in the order of their seeds.
    pub fn answers(&self, task: usize, pane: usize) -> &[JudgedAnswer] {
        let found = self.found.get(task);
        let answers = found.and_then(|found| found.answers.get(pane));
        answers.map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the index of the answer to read first: the selected one, or else the first wrong one.
    pub fn shown_answer(&self, (task, pane): (usize, usize), selected: Option<usize>) -> usize {
        let answers = self.answers(task, pane);
        let selected = selected.filter(|index| *index < answers.len());
        let wrong = || answers.iter().position(|answer| !answer.is_right());
        selected.or_else(wrong).unwrap_or(0)
    }

    /// Returns how long a token of the answers to a task took, in seconds.
    pub fn secs_per_token(&self, task: usize, settings: usize) -> f64 {
        let found = self.found.get(task);
        let secs = found.and_then(|found| found.secs_per_token.get(settings));
        secs.copied().unwrap_or_default()
    }

    /// Returns why the model can't answer a task.
    pub fn error(&self, task: usize) -> Option<&str> {
        self.found.get(task)?.error.as_deref()
    }

    /// Returns why answers to a task are missing under one of the settings.
    pub fn error_of(&self, task: usize, pane: usize) -> Option<&str> {
        let unanswered = self.unanswered(task).iter();
        let own = unanswered.filter(|(settings, _)| *settings == pane);
        let mut own = own.map(|(_, error)| error.as_str());
        own.next().or_else(|| self.error(task))
    }

    /// Returns the settings under which answers to a task are missing, by their index, and why.
    pub fn unanswered(&self, task: usize) -> &[(usize, String)] {
        let found = self.found.get(task);
        found
            .map(|found| found.unanswered.as_slice())
            .unwrap_or_default()
    }

    /// Returns what is known about the probability of a right answer to a task under one of the
    /// settings.
    pub fn exact(&self, task: usize, settings: usize) -> Option<&ExactFound> {
        self.part(task, settings)?.exact.as_ref()
    }

    /// Returns why no probability could be computed for some task.
    pub fn exact_refusal(&self) -> Option<&str> {
        let parts = self.found.iter().flat_map(|found| &found.parts);
        let mut exact = parts.filter_map(|part| part.exact.as_ref());
        exact.find_map(|exact| exact.refusal.as_deref())
    }

    /// Returns the probability of a right answer to a task under one of the settings.
    pub fn exact_share(&self, task: usize, pane: usize) -> Option<ExactShare> {
        *self.exact(task, pane)?.shares.get(pane)?
    }

    /// Returns whether answers are judged at all.
    pub fn is_judged(&self) -> bool {
        self.tasks.iter().any(|task| task.is_judged)
    }

    /// Returns how many answers to a task are right, and how many there are. `None` before the
    /// first one, if the task isn't judged, and if an error has prevented some of them.
    pub fn n_right(&self, task: usize, pane: usize) -> Option<(usize, usize)> {
        if !self.tasks.get(task)?.is_judged || self.error_of(task, pane).is_some() {
            return None;
        }
        let answers = self.answers(task, pane);
        let right = answers.iter().filter(|answer| answer.is_right()).count();
        (!answers.is_empty()).then_some((right, answers.len()))
    }

    /// Returns the share of right answers to a task: of those that were drawn, or else its
    /// probability.
    pub fn prompt_share(&self, task: usize, pane: usize) -> Option<PromptShare> {
        if let Some((n_right, n_answers)) = self.n_right(task, pane) {
            return Some(PromptShare::Sampled { n_right, n_answers });
        }
        let exact = self.exact_share(task, pane)?;
        Some(PromptShare::Exact(exact.middle()))
    }

    /// Returns whether no more answers to a task follow.
    pub fn is_done(&self, task: usize) -> bool {
        self.found.get(task).is_some_and(|found| found.is_done)
    }

    /// Returns the tasks whose answers can be compared: they are judged, and have all their answers.
    pub fn comparable(&self) -> impl Iterator<Item = usize> {
        let judged = self.tasks.iter().map(|task| task.is_judged).enumerate();
        judged
            .filter(|(_, is_judged)| *is_judged)
            .map(|(task, _)| task)
            .filter(|task| self.is_done(*task) && self.error(*task).is_none())
    }

    /// Returns how far the settings disagree about a task: the difference between the largest and
    /// the smallest share of right answers.
    pub fn disagreement(&self, task: usize) -> f64 {
        let shares = (0..self.panes.len()).filter_map(|pane| self.prompt_share(task, pane));
        let shares = shares.map(PromptShare::value);
        let (least, most) = shares.fold((1.0_f64, 0.0_f64), |(least, most), share| {
            (least.min(share), most.max(share))
        });
        (most - least).max(0.0)
    }

    /// Returns the numbers of complete answers and of all answers.
    pub fn n_done(&self) -> (usize, usize) {
        let Counts {
            answers: done,
            missing,
            refused,
            ..
        } = self.counts;
        let each = self.settings().map(|pane| self.n_answers_of(pane));
        let each: usize = each.sum();
        let n_tasks = self.tasks.len() - refused;
        let all = each.saturating_mul(n_tasks).saturating_sub(missing);
        (done, all.max(done))
    }

    /// Returns the number of tasks about which nothing more follows.
    pub const fn n_tasks_done(&self) -> usize {
        self.counts.done
    }

    /// Returns the number of tasks whose answers can be compared.
    pub const fn n_comparable(&self) -> usize {
        self.counts.comparable
    }

    /// Returns what a task asks, in one line: without what all prompts begin and end with.
    pub fn prompt_words(&self, task: usize) -> String {
        let task = self.tasks.get(task);
        task.map(|task| self.shared.words(task)).unwrap_or_default()
    }

    /// Returns what is expected of the answers to a task, in one line: the answer without the spaces
    /// around it, or the checks.
    pub fn expected_words(&self, task: usize) -> String {
        let Some(task) = self.tasks.get(task) else {
            return String::new();
        };
        if let [check] = task.checks.as_slice()
            && let Some([text]) = check.exact_texts()
            && !text.trim().is_empty()
        {
            let words = text.split_whitespace().take(N_EXPECTED);
            return words.collect::<Vec<_>>().join(" ");
        }
        task.expected_words()
    }

    /// Returns how many answers to each task settings get: one if nothing is left to chance.
    pub fn n_answers_of(&self, pane: &JudgedPane) -> usize {
        TasksPlan::n_answers_of(self.n_answers, &pane.chain)
    }

    /// Returns where the right and the wrong answers to a task part.
    pub fn fork(&self, task: usize, pane: usize) -> Option<Fork> {
        Fork::of(self.answers(task, pane))
    }
}

//! Tasks and answers as the history keeps them: with the words of all tokens that occur, rather than
//! a vocabulary, and with checks as they are written.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Counts, Found, JudgedPane, ListHost, ServedTokens, SharedText, TaskResults};
use crate::decoding::{ChainConfig, TokenId};
use crate::generation::PromptForm;
use crate::lab::kept_pieces::KeptPieces;
use crate::lab::prompts::figures::checks::Check;
use crate::lab::prompts::figures::tasks::{Task, TaskPrompt};

/// Tasks and their answers as the history keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptTasks {
    tasks: Vec<KeptTask>,
    /// The settings of the panes and then of the cells.
    panes: Vec<JudgedPane>,
    n_answers: usize,
    seed: u64,
    form: PromptForm,
    /// The pieces of the tokens of each host, which servers have none of.
    pieces: Vec<KeptPieces>,
    /// The pieces of the answers that servers have written.
    #[serde(default)]
    served_pieces: KeptPieces,
    found: Vec<Found>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct KeptTask {
    line: usize,
    prompt: TaskPrompt,
    checks: Vec<String>,
    is_judged: bool,
}

impl Found {
    /// Returns the tokens of the answers whose settings pass a test.
    fn answered(&self, is_meant: impl Fn(usize) -> bool) -> impl Iterator<Item = TokenId> {
        let answers = self.answers.iter().enumerate();
        let meant = answers.filter(move |(settings, _)| is_meant(*settings));
        let meant = meant.flat_map(|(_, answers)| answers);
        meant.flat_map(|answer| answer.tokens.iter().copied())
    }

    /// Returns the tokens of the prompt and of the spellings that a part of the run has found.
    fn read(&self, part: usize) -> impl Iterator<Item = TokenId> {
        let part = self.parts.get(part);
        let prompt = part.and_then(|part| part.prompt.as_ref());
        let prompt = prompt.into_iter().flat_map(|prompt| &prompt.tokens);
        let exact = part.and_then(|part| part.exact.as_ref());
        let exact = exact.into_iter().flat_map(|exact| &exact.spellings);
        let spellings = exact.flat_map(|spelling| &spelling.tokens);
        prompt.chain(spellings).copied()
    }
}

impl TaskResults {
    /// Returns what the history keeps.
    pub fn kept(&self) -> KeptTasks {
        let task = |task: &Task| KeptTask {
            line: task.line,
            prompt: task.prompt.clone(),
            checks: task.checks.iter().map(Check::spec).collect(),
            is_judged: task.is_judged,
        };
        let pieces = self.hosts.iter().enumerate().map(|(index, host)| {
            let answers = |settings| self.host_index(settings) == Some(index) && !host.is_server();
            let found = self.found.iter();
            let tokens = found.flat_map(|found| found.read(index).chain(found.answered(answers)));
            KeptPieces::of(&host.vocabulary, tokens)
        });
        let found = self.found.iter();
        let served = found.flat_map(|found| found.answered(|settings| self.is_served(settings)));
        KeptTasks {
            tasks: self.tasks.iter().map(task).collect(),
            panes: self.settings().cloned().collect(),
            n_answers: self.n_answers,
            seed: self.seed,
            form: self.form.clone(),
            pieces: pieces.collect(),
            served_pieces: KeptPieces::of(self.served.vocabulary(), served),
            found: self.found.clone(),
        }
    }

    /// Returns results that the history has kept. The settings after the first `n_panes` are cells.
    /// Fails, with the reason, if they contradict themselves.
    pub fn of_kept(mut kept: KeptTasks, n_panes: Option<usize>) -> Result<Self, String> {
        let n_settings = kept.panes.len();
        let n_panes = n_panes.unwrap_or(n_settings).min(n_settings);
        let cells = kept.panes.split_off(n_panes);
        let mut hosts = ListHost::all(&kept.panes, &Arc::default());
        let fits = |found: &Found| {
            let exact = found.parts.iter().filter_map(|part| part.exact.as_ref());
            let mut n_shares = exact.map(|exact| exact.shares.len());
            found.answers.len() == n_settings
                && found.parts.len() == hosts.len()
                && n_shares.all(|n_shares| n_shares <= n_settings)
        };
        if kept.found.len() != kept.tasks.len()
            || kept.pieces.len() != hosts.len()
            || !kept.found.iter().all(fits)
        {
            return Err("its answers do not fit its tasks".to_owned());
        }
        for (host, pieces) in hosts.iter_mut().zip(kept.pieces) {
            host.vocabulary = Arc::new(pieces.vocabulary()?);
        }
        let mut chains = kept.panes.iter().chain(&cells).map(|pane| &pane.chain);
        let valid = chains.try_for_each(ChainConfig::validate);
        valid.map_err(|error| error.to_string())?;
        let task = |task: KeptTask| {
            let checks = task.checks.iter().map(|spec| Check::parse(spec));
            Ok(Task {
                line: task.line,
                prompt: task.prompt,
                checks: checks
                    .collect::<Result<_, _>>()
                    .map_err(|error| error.to_string())?,
                is_judged: task.is_judged,
            })
        };
        let tasks: Result<Arc<[Task]>, String> = kept.tasks.into_iter().map(task).collect();
        let tasks = tasks?;
        let n_answers = kept.found.iter().flat_map(|found| &found.answers);
        let done = kept.found.iter().zip(tasks.iter());
        let done: Vec<(&Found, &Task)> = done.filter(|(found, _)| found.is_done).collect();
        let is_comparable =
            |(found, task): &&(&Found, &Task)| task.is_judged && found.error.is_none();
        let counts = Counts {
            answers: n_answers.map(Vec::len).sum(),
            missing: 0,
            done: done.len(),
            refused: kept
                .found
                .iter()
                .filter(|found| found.error.is_some())
                .count(),
            comparable: done.iter().filter(is_comparable).count(),
        };
        let mut results = Self {
            shared: SharedText::of(&tasks),
            counts,
            tasks,
            cells,
            panes: kept.panes,
            n_answers: kept.n_answers,
            seed: kept.seed,
            form: kept.form,
            hosts,
            served: ServedTokens::of_kept(kept.served_pieces.vocabulary()?),
            found: kept.found,
        };
        let done = (0..results.found.len()).filter(|task| results.is_done(*task));
        results.counts.missing = done.map(|task| results.n_missing(task)).sum();
        Ok(results)
    }
}

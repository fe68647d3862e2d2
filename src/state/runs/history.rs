//! The saved runs, as the History page shows them.

use serde::{Deserialize, Serialize};

use super::{RunCommand, RunRequest};
use crate::export::RunSummary;
use crate::generation::{ByteSize, FinishReason};
use crate::state::{AppState, Command, Effect, Notice, unix_time_secs};

/// How many runs are kept. The oldest ones that are not pinned are deleted first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HistoryLimits {
    pub n_runs: u32,
    pub megabytes: u32,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            n_runs: 1000,
            megabytes: 200,
        }
    }
}

/// A run of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRun {
    /// The name of its file, which identifies it.
    pub file: String,
    /// When the file was written, in seconds since 1970.
    pub kept_at: u64,
    pub n_bytes: u64,
    pub pinned: bool,
    /// Why it can't be read, if so.
    pub summary: Result<RunSummary, String>,
}

/// The state of the History page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// All runs, the newest first; `None` until they have been read.
    pub runs: Option<Vec<KeptRun>>,
    /// Why the folder can't be read.
    pub error: Option<String>,
    /// What the user searches for.
    pub search: String,
    /// Only runs of this model are shown; `None` for all.
    pub model: Option<String>,
    /// The selected run.
    pub selected: Option<String>,
    /// Whether the run that is being read is verified once it is shown.
    pub(in crate::state) verifies: bool,
    /// The run whose name is being edited, and the name as typed so far.
    pub renaming: Option<(String, String)>,
}

impl KeptRun {
    /// Returns when the run was finished, in seconds since 1970.
    pub fn finished_at(&self) -> u64 {
        let summary = self.summary.as_ref().ok();
        summary
            .and_then(|run| run.finished_at)
            .unwrap_or(self.kept_at)
    }

    /// Returns the title, or else the prompt, on one line.
    pub fn name(&self) -> String {
        let name = self.summary.as_ref().map(|run| {
            let name = run.title.as_ref().unwrap_or(&run.prompt);
            name.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        name.unwrap_or_else(|_error| self.file.clone())
    }

    /// Returns whether the title, the prompt, the model's name or one of the texts contains this
    /// lowercase text, ignoring case.
    fn contains(&self, lowercase: &str) -> bool {
        let Ok(run) = &self.summary else {
            return self.file.contains(lowercase);
        };
        let texts = run.panes.iter().map(|pane| &pane.text);
        let names = run.title.iter().chain([&run.prompt, &run.model]);
        let mut all = names.chain(texts);
        all.any(|text| text.to_lowercase().contains(lowercase))
    }
}

impl History {
    /// Returns the runs that match the search, the newest first.
    pub fn found(&self) -> Vec<&KeptRun> {
        let search = self.search.trim().to_lowercase();
        let is_of_model = |run: &KeptRun| {
            let name = run.summary.as_ref().ok().map(|run| &run.model);
            self.model.is_none() || name == self.model.as_ref()
        };
        let runs = self.runs.iter().flatten();
        runs.filter(|run| is_of_model(run) && run.contains(&search))
            .collect()
    }

    /// Returns the models of all runs, ordered by name.
    pub fn models(&self) -> Vec<String> {
        let runs = self.runs.iter().flatten();
        let models = runs.filter_map(|run| Some(run.summary.as_ref().ok()?.model.clone()));
        let mut models: Vec<String> = models.collect();
        models.sort();
        models.dedup();
        models
    }

    /// Returns the selected run, or else the first that is found.
    pub fn shown(&self) -> Option<&KeptRun> {
        let found = self.found();
        let is_selected = |run: &&&KeptRun| Some(&run.file) == self.selected.as_ref();
        let selected = found.iter().find(is_selected);
        selected.or(found.first()).copied()
    }

    /// Describes how much is kept: "126 runs, 48 of 200 MB".
    pub fn size_words(&self, limits: HistoryLimits) -> String {
        let runs = self.runs.as_deref().unwrap_or_default();
        let n_bytes = runs.iter().map(|run| run.n_bytes).sum();
        let limit = ByteSize(u64::from(limits.megabytes) * 1_000_000);
        let noun = if runs.len() == 1 { "run" } else { "runs" };
        format!("{} {noun}, {}", runs.len(), ByteSize(n_bytes).of(limit))
    }

    fn change(&mut self, file: &str, run: Option<KeptRun>) {
        let Some(runs) = &mut self.runs else {
            return;
        };
        runs.retain(|other| other.file != file);
        runs.extend(run);
        runs.sort_by_key(|run| std::cmp::Reverse(run.finished_at()));
    }
}

impl AppState {
    /// Returns the request to keep the texts on screen, if they are a finished run. A text that
    /// paused after a single step is not finished.
    pub(in crate::state) fn keep_run(&self) -> Vec<Effect> {
        let is_finished = |finish: Option<&FinishReason>| {
            finish.is_some_and(|finish| *finish != FinishReason::Paused)
        };
        let texts = self.generations();
        let mut written = texts.iter().flatten().filter(|text| !text.steps.is_empty());
        let has_finished = written.any(|text| is_finished(text.finish.as_ref()));
        if self.is_running() || self.hidden().is_some() || !has_finished {
            return Vec::new();
        }
        vec![Effect::Runs(RunRequest::Keep {
            number: self.run_number,
            finished_at: unix_time_secs(),
            limits: self.history_limits,
        })]
    }

    pub(super) fn apply_to_history(&mut self, command: RunCommand) -> Vec<Effect> {
        let history = &mut self.history;
        let request = match command {
            RunCommand::Select(file) => {
                history.selected = Some(file);
                return Vec::new();
            }
            RunCommand::Pin { file, pinned } => RunRequest::Pin { file, pinned },
            RunCommand::BeginRename(file) => {
                let name = history.found().into_iter().find(|run| run.file == file);
                let name = name.map(KeptRun::name).unwrap_or_default();
                history.renaming = Some((file, name));
                return Vec::new();
            }
            RunCommand::Rename => {
                let Some((file, typed)) = history.renaming.take() else {
                    return Vec::new();
                };
                let title = Some(typed.trim().to_owned()).filter(|title| !title.is_empty());
                RunRequest::Rename { file, title }
            }
            RunCommand::CancelRename => {
                history.renaming = None;
                return Vec::new();
            }
            RunCommand::Delete(file) => {
                self.select_next(&file);
                RunRequest::Delete(file)
            }
            RunCommand::Restore(file) => RunRequest::Restore(file),
            RunCommand::Export(path) => {
                let Some(file) = history.shown().map(|run| run.file.clone()) else {
                    return Vec::new();
                };
                RunRequest::Export {
                    file,
                    path,
                    indented: self.view.run_file.indented,
                }
            }
            RunCommand::Exported(path) => {
                return self.notify(Notice::done(format!("Saved {}", path.display())));
            }
            RunCommand::Listed(Ok(runs)) => {
                history.error = None;
                history.runs = Some(runs);
                return Vec::new();
            }
            RunCommand::Listed(Err(error)) => {
                history.error = Some(error);
                history.runs = Some(Vec::new());
                return Vec::new();
            }
            RunCommand::Changed { file, run } => return self.on_history_change(&file, run),
            RunCommand::Failed { title, error } => {
                return self.notify(Notice::error(title, error));
            }
            _ => return Vec::new(),
        };
        vec![Effect::Runs(request)]
    }

    fn on_history_change(&mut self, file: &str, run: Option<KeptRun>) -> Vec<Effect> {
        let restore = Command::Run(RunCommand::Restore(file.to_owned()));
        let undoes = |notice: &Notice| {
            let mut actions = notice.actions.iter();
            actions.any(|action| action.command == restore)
        };
        if run.is_some() {
            self.notices.retain(|notice| !undoes(notice));
            self.history.change(file, run);
            return Vec::new();
        }
        self.history.change(file, None);
        self.notify(Notice::done("Deleted").with_action("Undo", restore))
    }

    /// Selects the run after one that is about to be deleted.
    fn select_next(&mut self, file: &str) {
        let found = self.history.found();
        let place = found.iter().position(|run| run.file == file);
        let next = place.and_then(|place| {
            let after = found.get(place + 1);
            after.or_else(|| found.get(place.checked_sub(1)?))
        });
        self.history.selected = next.map(|run| run.file.clone());
    }
}

//! The saved runs, as the History page shows them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{RunCommand, RunRequest};
use crate::export::{AskedSummary, RunSummary};
use crate::generation::ByteSize;
use crate::state::{Command, FolderKind, Notice, Notices, PathPurpose};

/// How much memory the runs may take that are held until the window is closed.
const MAX_HELD_BYTES: u64 = 64 << 20;

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
#[derive(Debug, Clone, PartialEq)]
pub struct KeptRun {
    /// The name of its file, which identifies it.
    pub file: String,
    /// When the file was written, in seconds since 1970.
    pub kept_at: u64,
    pub n_bytes: u64,
    pub pinned: bool,
    /// The content of its file, if it is held in memory and no file exists.
    pub held: Option<Arc<[u8]>>,
    /// Why it can't be read, if so.
    pub summary: Result<RunSummary, String>,
}

/// Which runs are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunOrigin {
    #[default]
    All,
    /// Those that the user generated.
    Mine,
    /// Those that other programs asked for.
    Programs,
}

impl RunOrigin {
    pub const ALL: [Self; 3] = [Self::All, Self::Mine, Self::Programs];

    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Mine => "Mine",
            Self::Programs => "Asked by programs",
        }
    }
}

/// The state of the History page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// All runs, the newest first; `None` until they have been read.
    pub runs: Option<Vec<KeptRun>>,
    /// Those that are held in memory, the newest first.
    pub(in crate::state) held: Vec<KeptRun>,
    /// Why the folder can't be read.
    pub error: Option<String>,
    /// Why the last run could not be saved, if so.
    pub unkept: Option<String>,
    /// What the user searches for.
    pub search: String,
    /// Only runs of this model are shown; `None` for all.
    pub model: Option<String>,
    pub origin: RunOrigin,
    /// The selected run.
    pub selected: Option<String>,
    /// Whether the run that is being read is verified once it is shown.
    pub(in crate::state) verifies: bool,
    /// The run whose name is being edited, and the name as typed so far.
    pub renaming: Option<(String, String)>,
    /// The runs that the user deleted and that can be brought back, the latest last.
    pub(in crate::state) deleted: Vec<String>,
}

impl KeptRun {
    /// Returns when the run was finished, in seconds since 1970.
    pub fn finished_at(&self) -> u64 {
        let summary = self.summary.as_ref().ok();
        summary
            .and_then(|run| run.finished_at)
            .unwrap_or(self.kept_at)
    }

    /// Returns whether it is a run that can be read, rather than results of an experiment.
    pub fn is_run(&self) -> bool {
        self.summary.as_ref().is_ok_and(|run| run.result.is_none())
    }

    /// Returns the request of another program that it answers.
    pub fn asked(&self) -> Option<&AskedSummary> {
        self.summary.as_ref().ok()?.request.as_deref()
    }

    /// Returns the title, or else what the results of an experiment are, or the prompt, on one line.
    pub fn name(&self) -> String {
        let name = self.summary.as_ref().map(|run| {
            let result = run.result.as_ref().map(|result| &result.words);
            let name = run.title.as_ref().or(result);
            let name = name.unwrap_or(&run.prompt);
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
        let result = run.result.iter().map(|result| &result.words);
        let names = run.title.iter().chain(result);
        let names = names.chain([&run.prompt, &run.model]);
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
        let is_of_origin = |run: &KeptRun| match self.origin {
            RunOrigin::All => true,
            RunOrigin::Mine => run.asked().is_none(),
            RunOrigin::Programs => run.asked().is_some(),
        };
        let runs = self.runs.iter().flatten();
        runs.filter(|run| is_of_model(run) && is_of_origin(run) && run.contains(&search))
            .collect()
    }

    /// Returns the kept results of an experiment, given by its key, the newest first.
    pub fn results_of(&self, experiment: &str) -> Vec<&KeptRun> {
        let is_of = |run: &&KeptRun| {
            let summary = run.summary.as_ref().ok();
            let result = summary.and_then(|run| run.result.as_ref());
            result.is_some_and(|result| result.experiment == experiment)
        };
        self.runs.iter().flatten().filter(is_of).collect()
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

    /// Applies a command about the saved runs. Returns the request to carry it out. `indented` says
    /// how a run is exported.
    pub(in crate::state) fn apply(
        &mut self,
        command: RunCommand,
        indented: bool,
        notices: &mut Notices,
    ) -> Option<RunRequest> {
        match command {
            RunCommand::Select(file) => {
                self.selected = Some(file);
            }
            RunCommand::Pin { file, pinned } => return Some(RunRequest::Pin { file, pinned }),
            RunCommand::BeginRename(file) => {
                let name = self.found().into_iter().find(|run| run.file == file);
                let name = name.map(KeptRun::name).unwrap_or_default();
                self.renaming = Some((file, name));
            }
            RunCommand::Rename => {
                let (file, typed) = self.renaming.take()?;
                let title = Some(typed.trim().to_owned()).filter(|title| !title.is_empty());
                return Some(RunRequest::Rename { file, title });
            }
            RunCommand::CancelRename => self.renaming = None,
            RunCommand::Delete(file) => {
                self.select_next(&file);
                if self.content_of(&file).is_some() {
                    self.held.retain(|run| run.file != file);
                    self.list_held();
                    return None;
                }
                return Some(RunRequest::Delete(file));
            }
            RunCommand::Restore(file) => return Some(RunRequest::Restore(file)),
            RunCommand::UndoDelete => {
                return self.deleted.last().cloned().map(RunRequest::Restore);
            }
            RunCommand::Export(path) => {
                let file = self.shown()?.file.clone();
                return Some(RunRequest::Export {
                    file,
                    path,
                    indented,
                });
            }
            RunCommand::Exported(path) => {
                notices.notify(Notice::done(format!("Saved {}", path.display())));
            }
            RunCommand::Listed(Ok(runs)) => {
                self.error = None;
                self.runs = Some(runs);
                self.list_held();
            }
            RunCommand::Held { run } => self.hold(run),
            RunCommand::Listed(Err(error)) => {
                self.error = Some(error);
                self.runs = Some(Vec::new());
            }
            RunCommand::Changed { file, run } => self.on_change(&file, run, notices),
            RunCommand::NotKept { error } => {
                let choose = Command::AskPath(PathPurpose::Folder(FolderKind::Runs));
                let notice = Notice::error("The run was not added to the history", &*error);
                notices.notify(notice.with_action("Choose another folder…", choose));
                self.unkept = Some(error);
            }
            RunCommand::Failed { title, error } => {
                notices.notify(Notice::error(title, error));
            }
            _ => {}
        }
        None
    }

    fn on_change(&mut self, file: &str, run: Option<KeptRun>, notices: &mut Notices) {
        let restore = Command::Run(RunCommand::Restore(file.to_owned()));
        self.deleted.retain(|other| other != file);
        if run.is_some() {
            self.unkept = None;
            notices.dismiss_offers(&restore);
        } else {
            self.deleted.push(file.to_owned());
            notices.notify(Notice::done("Deleted").with_action("Undo", restore));
        }
        self.change(file, run);
    }

    /// Selects the run after one that is about to be deleted.
    fn select_next(&mut self, file: &str) {
        let found = self.found();
        let place = found.iter().position(|run| run.file == file);
        let next = place.and_then(|place| {
            let after = found.get(place + 1);
            after.or_else(|| found.get(place.checked_sub(1)?))
        });
        self.selected = next.map(|run| run.file.clone());
    }

    fn change(&mut self, file: &str, run: Option<KeptRun>) {
        let Some(runs) = &mut self.runs else {
            return;
        };
        runs.retain(|other| other.file != file);
        runs.extend(run);
        runs.sort_by_key(|run| std::cmp::Reverse(run.finished_at()));
    }

    /// Returns the content of a run that is held in memory.
    pub(in crate::state) fn content_of(&self, file: &str) -> Option<Arc<[u8]>> {
        let run = self.held.iter().find(|run| run.file == file)?;
        run.held.clone()
    }

    /// Holds a run in memory, and forgets the oldest ones if they are too large.
    fn hold(&mut self, run: KeptRun) {
        self.held.insert(0, run);
        let mut n_bytes = 0;
        self.held.retain(|run| {
            n_bytes += run.n_bytes;
            n_bytes <= MAX_HELD_BYTES
        });
        self.list_held();
    }

    /// Lists the runs that are held in memory, once the others are known.
    fn list_held(&mut self) {
        if let Some(runs) = &mut self.runs {
            runs.retain(|run| run.held.is_none());
            runs.extend(self.held.iter().cloned());
            runs.sort_by_key(|run| std::cmp::Reverse(run.finished_at()));
        }
    }
}

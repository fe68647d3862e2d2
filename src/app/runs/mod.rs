//! The folder in which runs are kept: one file per run, written atomically. A second, empty file
//! marks a pinned run, and deleted runs are moved to a subfolder.

mod answers;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use self::answers::{held, keep_answer, read_tasks, read_to_ask};
use crate::export::json::{Form, RunFile, RunHeader};
use crate::export::{
    ResultSummary, read_result, read_run, read_summary, read_text, remove_stale_temporaries,
    write_atomically, write_result, write_run,
};
use crate::generation::formatting::io_words;
use crate::interop::{Messages, MessagesError};
use crate::lab::{LabResult, LabTab, ResultFacts};
use crate::state::{Command, HistoryLimits, KeptRun, RunCommand, RunRequest, RunTexts};

/// The end of every kept run's file name.
const ENDING: &str = ".quartet.json.gz";

/// The end of the file names of results of experiments.
const RESULT_ENDING: &str = ".quartet-lab.json.gz";

/// The ends of the names of such files, wherever they are.
const RESULT_NAMES: [&str; 2] = [".quartet-lab.json", RESULT_ENDING];

/// The suffix of the file that marks a run as pinned.
const PINNED: &str = ".pinned";

/// The folder of deleted runs.
const DELETED: &str = "deleted";

/// How long deleted runs are kept after the latest deletion.
const DELETED_FOR: Duration = Duration::from_hours(24);

/// The folder of runs, or `None` if this system has no place for it.
#[derive(Debug, Clone, Default)]
pub(super) struct RunFolder(Option<PathBuf>);

/// What a request keeps, as it was at the time of the request.
#[derive(Debug)]
pub(super) enum ToKeep {
    Texts(TextsToKeep),
    Result(ResultFacts, LabResult),
}

/// The texts on screen at the time of a request, and the name of the file that keeps them.
#[derive(Debug)]
pub(super) struct TextsToKeep {
    pub texts: RunTexts,
    pub file: String,
}

/// Returns the file name of a run. The process id keeps two windows apart.
pub(super) fn file_name(started_at: u64, number: u64) -> String {
    let process = std::process::id();
    format!("run-{started_at}-{process}-{number}{ENDING}")
}

impl RunFolder {
    /// Uses this folder, and purges the runs that were deleted long ago. Later ones may be restored
    /// by another window.
    pub(super) fn open(folder: PathBuf) -> Self {
        remove_stale_temporaries(&folder);
        let deleted = folder.join(DELETED);
        let changed = fs::metadata(&deleted).and_then(|found| found.modified());
        let age = changed.and_then(|at| at.elapsed().map_err(io::Error::other));
        if age.is_ok_and(|age| age > DELETED_FOR) {
            // If this fails, they only take up disk space.
            fs::remove_dir_all(deleted).ok();
        }
        Self(Some(folder))
    }

    /// Uses this folder. Deleted runs can still be restored.
    pub(super) const fn new(folder: Option<PathBuf>) -> Self {
        Self(folder)
    }

    /// Carries out a request from the state. Blocks, so call it on a background thread.
    pub(super) fn answer(&self, request: RunRequest, kept: Option<ToKeep>) -> Command {
        Command::Run(match request {
            RunRequest::Read(path) => read(&path),
            RunRequest::KeepAnswer {
                texts,
                request,
                finished_at,
                in_history,
                ..
            } if !in_history || self.0.is_none() => held(texts, *request, finished_at),
            request => match &self.0 {
                Some(folder) => answer_in(folder, request, kept),
                None => RunCommand::Listed(Ok(Vec::new())),
            },
        })
    }
}

fn answer_in(folder: &Path, request: RunRequest, kept: Option<ToKeep>) -> RunCommand {
    let (title, changed) = match request {
        RunRequest::Read(path) => return read(&path),
        RunRequest::ReadKept(file) => return named_by_prompt(read(&folder.join(file))),
        RunRequest::ReadToAsk { file, content } => return read_to_ask(folder, file, content),
        RunRequest::ReadTasks { runs, tab } => return read_tasks(folder, runs, tab),
        RunRequest::List => return listed(folder),
        RunRequest::KeepAnswer {
            texts,
            request,
            finished_at,
            limits,
            ..
        } => {
            let (path, written) = keep_answer(folder, texts, *request, finished_at);
            return kept_in(folder, &path, limits, written);
        }
        RunRequest::Keep {
            finished_at,
            limits,
            ..
        } => {
            let Some(ToKeep::Texts(kept)) = kept else {
                return RunCommand::Listed(list(folder).map_err(|error| io_words(&error)));
            };
            return keep(folder, kept, finished_at, limits);
        }
        RunRequest::KeepResult {
            tab,
            finished_at,
            named_at,
            limits,
        } => {
            let Some(ToKeep::Result(facts, result)) = kept else {
                return RunCommand::Listed(list(folder).map_err(|error| io_words(&error)));
            };
            let (file, summary) = (
                result_file(tab, named_at),
                result_summary(tab, facts, finished_at),
            );
            return keep_result(folder, &file, (summary, &result), limits);
        }
        RunRequest::Pin { file, pinned } => {
            let marked = mark_as_pinned(folder, &file, pinned);
            ("The run can’t be pinned", marked.map(|()| file))
        }
        RunRequest::Rename { file, title } => {
            let renamed = rename(&folder.join(&file), title);
            ("The run can’t be renamed", renamed.map(|()| file))
        }
        RunRequest::Restore(file) => {
            let deleted = folder.join(DELETED).join(&file);
            let restored = fs::rename(deleted, folder.join(&file));
            ("The run can’t be restored", restored.map(|()| file))
        }
        RunRequest::Export {
            file,
            path,
            indented,
        } => {
            return match export(&folder.join(file), &path, indented) {
                Ok(()) => RunCommand::Exported(path),
                Err(error) => failed("The run can’t be exported", &path, &error),
            };
        }
        RunRequest::Delete(file) => {
            return match delete(folder, &file) {
                Ok(()) => RunCommand::Changed { file, run: None },
                Err(error) => failed("The run can’t be deleted", folder, &error),
            };
        }
    };
    match changed {
        Ok(file) => {
            let run = kept_run(&folder.join(&file));
            RunCommand::Changed { file, run }
        }
        Err(error) => failed(title, folder, &error),
    }
}

fn mark_as_pinned(folder: &Path, file: &str, pinned: bool) -> io::Result<()> {
    let marker = folder.join(format!("{file}{PINNED}"));
    if pinned {
        fs::write(marker, "")
    } else {
        fs::remove_file(marker)
    }
}

fn failed(title: &'static str, path: &Path, error: &io::Error) -> RunCommand {
    let error = format!("{}\n{}", io_words(error), path.display());
    RunCommand::Failed { title, error }
}

/// Reads a file as the messages of a chat. `None` if it can't hold any: what is wrong with it as a run
/// is said instead.
fn messages(path: &Path) -> Option<Result<Messages, String>> {
    let text = String::from_utf8(read_text(path).ok()?).ok()?;
    match Messages::parse(&text) {
        Err(MessagesError::NotJson { .. } | MessagesError::NoList) => None,
        read => Some(read.map_err(|error| error.to_string())),
    }
}

fn read(path: &Path) -> RunCommand {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy().into_owned();
    if let Some((summary, json)) = results(path) {
        let name = summary.title.unwrap_or(summary.words);
        return match LabResult::parse(&summary.experiment, &json) {
            Ok(result) => RunCommand::ResultRead {
                name,
                result,
                finished_at: summary.finished_at,
            },
            Err(error) => RunCommand::Read {
                name,
                run: Err(error),
            },
        };
    }
    let run = read_run(path);
    if run.is_err()
        && let Some(messages) = messages(path)
    {
        return RunCommand::MessagesRead { name, messages };
    }
    RunCommand::Read {
        name,
        run: run.map(Box::new).map_err(|error| error.to_string()),
    }
}

/// Names a run without a title by its prompt, because the user never saw the name of its file.
fn named_by_prompt(read: RunCommand) -> RunCommand {
    match read {
        RunCommand::Read { name, run: Ok(run) } => {
            let prompt = run.panes.first().map(|pane| pane.prompt.text.clone());
            let name = prompt.unwrap_or(name);
            RunCommand::Read { name, run: Ok(run) }
        }
        other => other,
    }
}

/// Lists all runs, or says why they can't be read.
fn listed(folder: &Path) -> RunCommand {
    RunCommand::Listed(list(folder).map_err(|error| {
        let (error, path) = (io_words(&error), folder.display());
        format!("The folder of runs can’t be read: {error}\n{path}")
    }))
}

/// Lists all runs, the newest first.
fn list(folder: &Path) -> io::Result<Vec<KeptRun>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let runs = entries.filter_map(|entry| kept_run(&entry.ok()?.path()));
    let mut runs: Vec<KeptRun> = runs.collect();
    runs.sort_by_key(|run| std::cmp::Reverse(run.finished_at()));
    Ok(runs)
}

/// Reads the results of an experiment, with what a list shows of them. Returns `None` if the file
/// holds something else, or can't be read.
fn results(path: &Path) -> Option<(ResultSummary, Vec<u8>)> {
    let name = path.file_name()?.to_string_lossy();
    // Other files can be large, and are read only once.
    let is_named_so = RESULT_NAMES.iter().any(|ending| name.ends_with(ending));
    is_named_so.then(|| read_result(path).ok().flatten())?
}

/// Returns whether a file of this name holds a run or results.
fn is_kept(file: &str) -> bool {
    file.ends_with(ENDING) || file.ends_with(RESULT_ENDING)
}

/// Reads what the history shows about a file. Returns `None` if it is not a run.
fn kept_run(path: &Path) -> Option<KeptRun> {
    let file = path.file_name()?.to_str()?.to_owned();
    let metadata = fs::metadata(path).ok()?;
    if !is_kept(&file) || !metadata.is_file() {
        return None;
    }
    let summary = match results(path) {
        Some((result, _)) => Ok(result.into()),
        None => read_summary(path).map_err(|error| error.to_string()),
    };
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(KeptRun {
        kept_at: modified.as_secs(),
        n_bytes: metadata.len(),
        pinned: path.with_file_name(format!("{file}{PINNED}")).exists(),
        held: None,
        summary,
        file,
    })
}

/// Writes a run, and deletes the oldest ones if there are too many.
fn keep(folder: &Path, kept: TextsToKeep, finished_at: u64, limits: HistoryLimits) -> RunCommand {
    let path = folder.join(&kept.file);
    // A continued run keeps its title.
    let title = read_summary(&path).ok().and_then(|run| run.title);
    let header = RunHeader {
        title,
        finished_at: Some(finished_at),
        ..RunHeader::default()
    };
    let run = kept.texts.into_run(header);
    let written = fs::create_dir_all(folder).and_then(|()| write_run(&path, &run, Form::default()));
    kept_in(folder, &path, limits, written)
}

/// Returns the name of the file of an experiment's results. The process id keeps two windows apart.
fn result_file(tab: LabTab, named_at: u64) -> String {
    let process = std::process::id();
    format!("{}-{named_at}-{process}{RESULT_ENDING}", tab.key())
}

/// Returns what a list shows of an experiment's results.
fn result_summary(tab: LabTab, facts: ResultFacts, finished_at: u64) -> ResultSummary {
    ResultSummary {
        experiment: tab.key().to_owned(),
        title: None,
        words: format!("{}, {}", tab.name(), facts.words),
        model: facts.model,
        prompt: facts.prompt,
        finished_at,
    }
}

/// Writes the results of an experiment, and deletes the oldest files if there are too many.
fn keep_result(
    folder: &Path,
    file: &str,
    (summary, result): (ResultSummary, &LabResult),
    limits: HistoryLimits,
) -> RunCommand {
    let path = folder.join(file);
    // Results that take the place of earlier ones keep the title of those.
    let title = results(&path).and_then(|(earlier, _)| earlier.title);
    let summary = ResultSummary { title, ..summary };
    let written = result.to_json().map_err(io::Error::from);
    let written = written.and_then(|json| {
        fs::create_dir_all(folder)?;
        write_result(&path, &summary, &json)
    });
    kept_in(folder, &path, limits, written)
}

/// Deletes the oldest files once one was written, if there are too many. Returns what has changed.
fn kept_in(
    folder: &Path,
    path: &Path,
    limits: HistoryLimits,
    written: io::Result<()>,
) -> RunCommand {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    match written.and_then(|()| delete_oldest(folder, path, limits)) {
        Ok(0) => RunCommand::Changed {
            file: file.into_owned(),
            run: kept_run(path),
        },
        Ok(_) => RunCommand::Listed(list(folder).map_err(|error| io_words(&error))),
        Err(error) => RunCommand::NotKept {
            error: format!("{}\n{}", io_words(&error), folder.display()),
        },
    }
}

/// Deletes the oldest runs that are not pinned until the limits are met. `newest` always stays.
/// Returns how many were deleted.
fn delete_oldest(folder: &Path, newest: &Path, limits: HistoryLimits) -> io::Result<usize> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let metadata = entry.metadata()?;
        if is_kept(&name) && metadata.is_file() {
            let is_pinned = folder.join(format!("{name}{PINNED}")).exists();
            let stays = is_pinned || entry.path() == newest;
            runs.push((metadata.modified()?, metadata.len(), entry.path(), stays));
        }
    }
    runs.sort();
    let mut n_runs = runs.len();
    let mut n_bytes: u64 = runs.iter().map(|(_, n_bytes, ..)| n_bytes).sum();
    let mut n_deleted = 0;
    for (_, n_file_bytes, path, stays) in runs {
        let is_over =
            n_runs > limits.n_runs as usize || n_bytes > u64::from(limits.megabytes) * 1_000_000;
        if is_over && !stays {
            fs::remove_file(path)?;
            n_runs -= 1;
            n_bytes -= n_file_bytes;
            n_deleted += 1;
        }
    }
    Ok(n_deleted)
}

fn rename(path: &Path, title: Option<String>) -> io::Result<()> {
    if let Some((result, json)) = results(path) {
        return write_result(path, &ResultSummary { title, ..result }, json.trim_ascii());
    }
    let run = read_run(path).map_err(io::Error::other)?;
    let header = RunHeader {
        title,
        ..run.header.clone()
    };
    write_run(path, &RunFile { header, ..run }, Form::default())
}

/// Copies a run, compressed only if the copy's name ends in `.gz`.
fn export(run: &Path, copy: &Path, indented: bool) -> io::Result<()> {
    if indented && results(run).is_none() {
        let run = read_run(run).map_err(io::Error::other)?;
        let form = Form {
            pretty: true,
            detail: true,
        };
        return write_run(copy, &run, form);
    }
    let is_compressed = copy.extension().is_some_and(|found| found == "gz");
    let bytes = if is_compressed {
        fs::read(run)?
    } else {
        read_text(run).map_err(io::Error::other)?
    };
    write_atomically(copy, &bytes)
}

fn delete(folder: &Path, file: &str) -> io::Result<()> {
    let deleted = folder.join(DELETED);
    fs::create_dir_all(&deleted)?;
    fs::rename(folder.join(file), deleted.join(file))
}

#[cfg(test)]
mod tests;

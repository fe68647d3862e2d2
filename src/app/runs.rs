//! The folder in which runs are kept: one file per run, written atomically. A second, empty file
//! marks a pinned run, and deleted runs are moved to a subfolder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::export::json::{Form, RunFile, RunHeader};
use crate::export::{
    read_run, read_summary, read_text, remove_stale_temporaries, write_atomically, write_run,
};
use crate::generation::formatting::io_words;
use crate::state::{Command, HistoryLimits, KeptRun, RunCommand, RunRequest, RunTexts};

/// The end of every kept run's file name.
const ENDING: &str = ".quartet.json.gz";

/// The suffix of the file that marks a run as pinned.
const PINNED: &str = ".pinned";

/// The folder of deleted runs.
const DELETED: &str = "deleted";

/// How long deleted runs are kept after the latest deletion.
const DELETED_FOR: Duration = Duration::from_hours(24);

/// The folder of runs, or `None` if this system has no place for it.
#[derive(Debug, Clone, Default)]
pub(super) struct RunFolder(Option<PathBuf>);

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
    pub(super) fn answer(&self, request: RunRequest, kept: Option<TextsToKeep>) -> Command {
        Command::Run(match request {
            RunRequest::Read(path) => read(&path),
            request => match &self.0 {
                Some(folder) => answer_in(folder, request, kept),
                None => RunCommand::Listed(Ok(Vec::new())),
            },
        })
    }
}

fn answer_in(folder: &Path, request: RunRequest, kept: Option<TextsToKeep>) -> RunCommand {
    let (title, changed) = match request {
        RunRequest::Read(path) => return read(&path),
        RunRequest::ReadKept(file) => return named_by_prompt(read(&folder.join(file))),
        RunRequest::List => {
            return RunCommand::Listed(list(folder).map_err(|error| {
                let (error, path) = (io_words(&error), folder.display());
                format!("The folder of runs can’t be read: {error}\n{path}")
            }));
        }
        RunRequest::Keep {
            finished_at,
            limits,
            ..
        } => {
            let Some(kept) = kept else {
                return RunCommand::Listed(list(folder).map_err(|error| io_words(&error)));
            };
            return keep(folder, kept, finished_at, limits);
        }
        RunRequest::Pin { file, pinned } => {
            let marker = folder.join(format!("{file}{PINNED}"));
            let marked = if pinned {
                fs::write(marker, "")
            } else {
                fs::remove_file(marker)
            };
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

fn failed(title: &'static str, path: &Path, error: &io::Error) -> RunCommand {
    let error = format!("{}\n{}", io_words(error), path.display());
    RunCommand::Failed { title, error }
}

fn read(path: &Path) -> RunCommand {
    let name = path.file_name().unwrap_or(path.as_os_str());
    RunCommand::Read {
        name: name.to_string_lossy().into_owned(),
        run: read_run(path)
            .map(Box::new)
            .map_err(|error| error.to_string()),
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

/// Reads what the history shows about a file. Returns `None` if it is not a run.
fn kept_run(path: &Path) -> Option<KeptRun> {
    let file = path.file_name()?.to_str()?.to_owned();
    let metadata = fs::metadata(path).ok()?;
    if !file.ends_with(ENDING) || !metadata.is_file() {
        return None;
    }
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(KeptRun {
        kept_at: modified.as_secs(),
        n_bytes: metadata.len(),
        pinned: path.with_file_name(format!("{file}{PINNED}")).exists(),
        summary: read_summary(path).map_err(|error| error.to_string()),
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
    };
    let run = kept.texts.into_run(header);
    let written = fs::create_dir_all(folder)
        .and_then(|()| write_run(&path, &run, Form::default()))
        .and_then(|()| delete_oldest(folder, &path, limits));
    match written {
        Ok(0) => RunCommand::Changed {
            file: kept.file,
            run: kept_run(&path),
        },
        Ok(_) => RunCommand::Listed(list(folder).map_err(|error| io_words(&error))),
        Err(error) => failed("The run was not added to the history", folder, &error),
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
        if name.ends_with(ENDING) && metadata.is_file() {
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
    let run = read_run(path).map_err(io::Error::other)?;
    let header = RunHeader {
        title,
        ..run.header.clone()
    };
    write_run(path, &RunFile { header, ..run }, Form::default())
}

/// Copies a run, compressed only if the copy's name ends in `.gz`.
fn export(run: &Path, copy: &Path, indented: bool) -> io::Result<()> {
    if indented {
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
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{ENDING, RunFolder, TextsToKeep};
    use crate::generation::testing::generation;
    use crate::state::{Command, HistoryLimits, KeptRun, RunCommand, RunRequest, RunTexts};

    fn run(command: Command) -> RunCommand {
        match command {
            Command::Run(command) => command,
            other => panic!("{other:?}"),
        }
    }

    fn keep(runs: &RunFolder, name: &str, limits: HistoryLimits) -> RunCommand {
        let kept = TextsToKeep {
            texts: RunTexts::shown(vec![generation(&[(" the", 0.5), (" fox", 0.25)])]),
            file: format!("{name}{ENDING}"),
        };
        let request = RunRequest::Keep {
            number: 1,
            finished_at: 7,
            limits,
        };
        run(runs.answer(request, Some(kept)))
    }

    fn listed(runs: &RunFolder) -> Vec<KeptRun> {
        match run(runs.answer(RunRequest::List, None)) {
            RunCommand::Listed(Ok(runs)) => runs,
            other => panic!("{other:?}"),
        }
    }

    fn age(folder: &Path, name: &str, secs: u64) {
        let path = folder.join(format!("{name}{ENDING}"));
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(secs);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    }

    #[test]
    fn a_run_is_kept_pinned_renamed_deleted_and_restored() {
        let folder = tempfile::tempdir().unwrap();
        let runs = RunFolder::open(folder.path().join("runs"));
        assert_eq!(listed(&runs), []);
        keep(&runs, "a", HistoryLimits::default());
        let file = format!("a{ENDING}");
        let pin = RunRequest::Pin {
            file: file.clone(),
            pinned: true,
        };
        runs.answer(pin, None);
        let rename = RunRequest::Rename {
            file: file.clone(),
            title: Some("My fox".to_owned()),
        };
        runs.answer(rename, None);
        // The run is continued, and kept again.
        keep(&runs, "a", HistoryLimits::default());
        let list = listed(&runs);
        let summary = list[0].summary.as_ref().unwrap();
        assert!(list.len() == 1 && list[0].pinned);
        assert_eq!(summary.title.as_deref(), Some("My fox"));
        let gone = run(runs.answer(RunRequest::Delete(file.clone()), None));
        assert!(matches!(gone, RunCommand::Changed { run: None, .. }));
        assert_eq!(listed(&runs), []);
        // Another window that opens leaves it restorable.
        RunFolder::open(folder.path().join("runs"));
        runs.answer(RunRequest::Restore(file.clone()), None);
        assert_eq!(listed(&runs).len(), 1);
        let read = run(runs.answer(RunRequest::ReadKept(file), None));
        let RunCommand::Read { run: Ok(read), .. } = read else {
            panic!("{read:?}");
        };
        let path = folder.path().join("copy.quartet.json");
        for indented in [false, true] {
            let export = RunRequest::Export {
                file: format!("a{ENDING}"),
                path: path.clone(),
                indented,
            };
            assert_eq!(
                run(runs.answer(export, None)),
                RunCommand::Exported(path.clone())
            );
            let copy = fs::read_to_string(&path).unwrap();
            assert!(copy.contains("My fox"));
            assert_eq!(copy.lines().count() > 10, indented);
        }
        assert_eq!(read.panes[0].text(), " the fox");
    }

    #[cfg(unix)]
    #[test]
    fn runs_that_were_deleted_long_ago_are_purged() {
        use super::{DELETED, DELETED_FOR};

        let folder = tempfile::tempdir().unwrap();
        let deleted = folder.path().join(DELETED);
        for (age, stays) in [(DELETED_FOR / 2, true), (DELETED_FOR * 2, false)] {
            fs::create_dir_all(&deleted).unwrap();
            let opened = fs::File::open(&deleted).unwrap();
            opened
                .set_modified(std::time::SystemTime::now() - age)
                .unwrap();
            RunFolder::open(folder.path().to_owned());
            assert_eq!(deleted.exists(), stays, "{age:?}");
        }
    }

    #[test]
    fn the_oldest_runs_that_are_not_pinned_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let runs = RunFolder::open(folder.path().to_owned());
        for (name, secs) in [("a", 40), ("b", 30), ("c", 20)] {
            keep(&runs, name, HistoryLimits::default());
            age(folder.path(), name, secs);
        }
        let pin = RunRequest::Pin {
            file: format!("a{ENDING}"),
            pinned: true,
        };
        runs.answer(pin, None);
        let limits = HistoryLimits {
            n_runs: 3,
            megabytes: 1,
        };
        let kept = keep(&runs, "d", limits);
        assert!(matches!(kept, RunCommand::Listed(Ok(runs)) if runs.len() == 3));
        let mut names: Vec<String> = listed(&runs).into_iter().map(|run| run.file).collect();
        names.sort();
        assert_eq!(names, ["a", "c", "d"].map(|name| format!("{name}{ENDING}")));
        let none = HistoryLimits {
            n_runs: 0,
            megabytes: 0,
        };
        keep(&runs, "e", none);
        assert_eq!(listed(&runs).len(), 2, "the newest and the pinned one stay");
    }

    #[test]
    fn a_damaged_file_stays_in_the_list_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let runs = RunFolder::open(folder.path().to_owned());
        keep(&runs, "a", HistoryLimits::default());
        let path = folder.path().join(format!("a{ENDING}"));
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let list = listed(&runs);
        let reason = list[0].summary.as_ref().unwrap_err();
        assert!(reason.contains("incomplete"), "{reason}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_written_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("runs");
        fs::write(&blocked, "a file").unwrap();
        let runs = RunFolder::open(blocked);
        let kept = keep(&runs, "a", HistoryLimits::default());
        assert!(matches!(kept, RunCommand::Failed { .. }), "{kept:?}");
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        let runs = RunFolder::default();
        keep(&runs, "a", HistoryLimits::default());
        assert_eq!(listed(&runs), []);
    }
}

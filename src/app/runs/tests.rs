//! The folder of runs: keeping, deleting and restoring.

use std::fs;
use std::path::Path;

use super::{ENDING, RunFolder, TextsToKeep, ToKeep};
use crate::generation::testing::generation;
use crate::lab::LabTab;
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
    run(runs.answer(request, Some(ToKeep::Texts(kept))))
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
    let runs = RunFolder::open(blocked.clone());
    let RunCommand::NotKept { error } = keep(&runs, "a", HistoryLimits::default()) else {
        panic!("the run was kept");
    };
    assert!(error.contains(&*blocked.to_string_lossy()), "{error}");
}

#[test]
fn without_a_folder_nothing_is_kept() {
    let runs = RunFolder::default();
    keep(&runs, "a", HistoryLimits::default());
    assert_eq!(listed(&runs), []);
}

#[test]
fn results_of_an_experiment_are_kept_listed_renamed_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let runs = RunFolder::open(folder.path().to_owned());
    let (facts, result) = crate::lab::sweep::finished_sweep();
    let request = RunRequest::KeepResult {
        tab: LabTab::Sweep,
        finished_at: 7,
        named_at: 7,
        limits: HistoryLimits::default(),
    };
    let kept = ToKeep::Result(facts.clone(), result.clone());
    let RunCommand::Changed {
        file,
        run: Some(kept),
    } = run(runs.answer(request, Some(kept)))
    else {
        panic!("the results were not kept");
    };
    assert_eq!(kept.name(), format!("Sweep, {}", facts.words));
    assert!(!kept.is_run());
    assert_eq!(kept.finished_at(), 7);
    let title = Some("Warm and cold".to_owned());
    let file_name = file.clone();
    runs.answer(RunRequest::Rename { file, title }, None);
    keep(&runs, "a", HistoryLimits::default());
    let listed = listed(&runs);
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().any(|run| run.name() == "Warm and cold"));
    let copy = folder.path().join("copy.quartet-lab.json");
    let export = RunRequest::Export {
        file: file_name.clone(),
        path: copy.clone(),
        indented: true,
    };
    runs.answer(export, None);
    for request in [
        RunRequest::ReadKept(file_name.clone()),
        RunRequest::Read(copy),
    ] {
        let RunCommand::ResultRead {
            name,
            result: read,
            finished_at,
        } = run(runs.answer(request, None))
        else {
            panic!("the results were not read");
        };
        assert_eq!((name.as_str(), finished_at), ("Warm and cold", 7));
        assert_eq!(read, result);
    }
    fs::write(folder.path().join(&file_name), "{\"result_version\":1").unwrap();
    let damaged = run(runs.answer(RunRequest::ReadKept(file_name), None));
    assert!(matches!(damaged, RunCommand::Read { run: Err(_), .. }));
}

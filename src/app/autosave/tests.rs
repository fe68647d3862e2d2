//! Sessions that are saved, restored and set aside.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use eframe::egui;

use super::{Autosave, Crashed, MIN_PAUSE, N_TRIAL_FRAMES, SetAside, Unrestored};
use crate::generation::FinishReason;
use crate::state::tests::{asked, text, write, written};
use crate::state::{AppState, Command as StateCommand, Effect, RunCommand, RunRequest, Settings};
use crate::worker::{Event, ModelSource, Progress};

/// Names the folder in which the child process saves its session.
const VARIABLE: &str = "QUARTET_TEST_SESSIONS";

const NAME: &str = "app::autosave::tests::a_killed_window_is_restored_with_its_unfinished_text";

/// What the child process prints once it has saved.
const SAVED: &str = "saved";

/// Saves now, and waits until it is done.
fn save(autosave: &mut Autosave, state: &AppState) {
    autosave.changed = true;
    autosave.started_at = None;
    autosave.update(&egui::Context::default(), state);
    autosave.save.take().unwrap().join().unwrap();
}

/// A window whose first text is finished, and whose second one is being generated.
fn writing() -> AppState {
    let mut state = written();
    state.prompt.text = "Far away".to_owned();
    state.panes[1].settings.seed = Some(9);
    let second = state.panes[1].id;
    let ids = asked(&state.apply(StateCommand::Generate(second)));
    let mut other = state.clone();
    write(&mut other, ids[0], &[(" a", 0.5), (" house", 0.25)]);
    let written = other.panes[1].generation().unwrap().clone();
    let prompt = std::sync::Arc::clone(&written.prompt);
    state.on_event(Event::Progress(Progress::Started {
        ids: ids.clone(),
        prompt,
    }));
    for step in written.steps {
        let step = Box::new(step);
        state.on_event(Event::Progress(Progress::Stepped { id: ids[0], step }));
    }
    state
}

fn open(folder: &Path) -> (Autosave, Option<Crashed>) {
    let (autosave, crashed) = Autosave::open(folder.to_owned());
    (autosave, crashed.map(Result::unwrap))
}

fn n_files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_killed_window_is_restored_with_its_unfinished_text() {
    if let Some(folder) = std::env::var_os(VARIABLE) {
        let (mut autosave, _) = open(Path::new(&folder));
        save(&mut autosave, &writing());
        println!("{SAVED}");
        loop {
            std::thread::park();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(VARIABLE, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with(SAVED)));
    // While the window is open, no other window restores its session.
    assert!(open(folder.path()).1.is_none());
    child.kill().unwrap();
    child.wait().unwrap();

    let (autosave, crashed) = open(folder.path());
    let Crashed {
        settings,
        run,
        places,
    } = crashed.unwrap();
    let (mut state, _) = AppState::new(Settings::default(), ModelSource::Embedded);
    let effects = state.restore_session(settings, run, &places);
    let is_kept = |effect: &Effect| matches!(effect, Effect::Runs(RunRequest::Keep { .. }));
    assert!(effects.iter().any(is_kept), "it enters the history");
    assert_eq!(state.prompt.text, "Far away");
    let before = writing();
    for place in 0..before.panes.len() {
        assert_eq!(text(&state, place), text(&before, place));
    }
    assert_eq!(text(&state, 1), " a house");
    let stopped = state.panes[1].generation().unwrap();
    assert_eq!(stopped.finish, Some(FinishReason::Interrupted));
    assert_eq!(state.panes[1].settings.seed, Some(9));
    assert_eq!(state.notices[0].title, "Restored what was on screen");
    // An orderly exit leaves nothing behind, and has nothing more to keep.
    assert_eq!(state.close(), []);
    drop(autosave);
    assert_eq!(n_files(folder.path()), 0);
    assert!(open(folder.path()).1.is_none());
}

const KILLED: &str = "app::autosave::tests::a_window_killed_at_any_moment_keeps_a_whole_session";

#[test]
fn a_window_killed_at_any_moment_keeps_a_whole_session() {
    if let Some(folder) = std::env::var_os(VARIABLE) {
        let (mut autosave, _) = open(Path::new(&folder));
        let mut state = writing();
        for number in 0.. {
            state.prompt.text = format!("Once upon a time {number}");
            save(&mut autosave, &state);
            if number == 0 {
                println!("{SAVED}");
            }
        }
    }
    let rounds = std::env::var("QUARTET_HOSTILE_ROUNDS").ok();
    let rounds: u64 = rounds.map_or(1, |rounds| rounds.parse().unwrap());
    for attempt in 0..8 * rounds {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", KILLED, "--nocapture"])
            .env(VARIABLE, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with(SAVED)));
        std::thread::sleep(std::time::Duration::from_micros(attempt * 1_377 % 20_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let crashed = open(folder.path()).1.unwrap();
        let (mut state, _) = AppState::new(Settings::default(), ModelSource::Embedded);
        state.restore_session(crashed.settings, crashed.run, &crashed.places);
        assert!(state.prompt.text.starts_with("Once upon a time "));
        assert_eq!(text(&state, 1), " a house");
    }
}

#[test]
fn a_session_that_is_left_behind_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let (mut autosave, _) = open(folder.path());
    save(&mut autosave, &writing());
    autosave.leave_behind();
    drop(autosave);
    assert!(open(folder.path()).1.is_some());
}

#[test]
fn an_unchanged_session_is_not_saved_and_another_window_has_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let (mut first, _) = open(folder.path());
    let state = written();
    first.begin(&state);
    first.changed = true;
    first.update(&egui::Context::default(), &state);
    assert_eq!(n_files(folder.path()), 0);
    let (_, other) = open(folder.path());
    assert!(other.is_none());
    save(&mut first, &writing());
    assert_eq!(n_files(folder.path()), 2);
    // The next save waits.
    first.changed = true;
    assert_eq!(first.pause, MIN_PAUSE);
    first.update(&egui::Context::default(), &state);
    assert!(first.changed && first.save.is_none());
}

#[test]
fn a_session_that_cannot_be_read_is_set_aside_and_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("window-1-1.session");
    for content in [
        "",
        "{}",
        "{\"session_version\":9,\"places\":[],\"settings\":\"\"}\n{}",
    ] {
        fs::write(&path, content).unwrap();
        let (_, crashed) = Autosave::open(folder.path().to_owned());
        let SetAside {
            reason,
            path: aside,
        } = crashed.unwrap().err().unwrap();
        assert!(matches!(reason, Unrestored::Unreadable(_)), "{reason:?}");
        assert_eq!(fs::read_to_string(&aside).unwrap(), content);
        assert!(open(folder.path()).1.is_none());
    }
}

#[test]
fn of_the_sessions_that_were_set_aside_a_few_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..9 {
        let path = folder.path().join(format!("window-{number}-1.session"));
        fs::write(&path, "").unwrap();
        let (_, crashed) = Autosave::open(folder.path().to_owned());
        let aside = crashed.unwrap().err().unwrap().path;
        assert!(aside.exists(), "the newest one is kept");
    }
    let files = fs::read_dir(folder.path()).unwrap().flatten();
    let is_aside = |path: &PathBuf| path.extension().is_some_and(|found| found == "unread");
    assert_eq!(files.map(|file| file.path()).filter(is_aside).count(), 5);
}

/// Leaves a session behind, as a crash does.
fn crash(mut autosave: Autosave) {
    // The lock is released when the process ends, but the files stay.
    drop(autosave.held.take());
}

/// Draws this many frames.
fn draw(autosave: &mut Autosave, state: &AppState, n_frames: u32) {
    for _ in 0..n_frames {
        autosave.update(&egui::Context::default(), state);
    }
}

#[test]
fn a_session_that_crashes_the_window_again_is_set_aside_and_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let (mut autosave, _) = open(folder.path());
    save(&mut autosave, &writing());
    crash(autosave);
    let (mut autosave, crashed) = open(folder.path());
    assert!(crashed.is_some());
    draw(&mut autosave, &writing(), N_TRIAL_FRAMES / 2);
    crash(autosave);

    let (_, crashed) = Autosave::open(folder.path().to_owned());
    let SetAside { reason, path } = crashed.unwrap().unwrap_err();
    assert_eq!(reason, Unrestored::CrashedAgain);
    assert_eq!(n_files(folder.path()), 1, "only the session is left");
    let run = crate::export::read_run(&path).unwrap();
    assert_eq!(run.panes[1].text(), " a house");
    assert!(
        open(folder.path()).1.is_none(),
        "the next window starts empty"
    );

    let mut state = written();
    state.notices.offer_session(path.clone());
    let open = state.notices[0].actions[0].command.clone();
    assert_eq!(open, StateCommand::Run(RunCommand::Open(path)));
}

#[test]
fn a_session_that_was_drawn_for_a_while_is_restored_after_another_crash() {
    let folder = tempfile::tempdir().unwrap();
    let (mut autosave, _) = open(folder.path());
    save(&mut autosave, &writing());
    for _ in 0..3 {
        crash(autosave);
        let (next, crashed) = open(folder.path());
        assert!(crashed.is_some());
        autosave = next;
        draw(&mut autosave, &writing(), N_TRIAL_FRAMES + 1);
    }
    drop(autosave);
    assert_eq!(n_files(folder.path()), 0);
}

#[test]
fn a_failed_save_is_reported_once_until_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("sessions");
    fs::write(&blocked, "a file").unwrap();
    let (mut autosave, _) = open(&blocked);
    let mut state = writing();
    let try_now = |autosave: &mut Autosave| {
        autosave.changed = true;
        autosave.started_at = None;
        let started = autosave.update(&egui::Context::default(), &state);
        while autosave
            .save
            .as_ref()
            .is_some_and(|save| !save.is_finished())
        {
            std::thread::yield_now();
        }
        autosave.changed = false;
        started.or(autosave.update(&egui::Context::default(), &state))
    };
    let error = try_now(&mut autosave).unwrap();
    assert!(error.contains(&*blocked.to_string_lossy()), "{error}");
    assert_eq!(try_now(&mut autosave), None, "it was already reported");
    fs::remove_file(&blocked).unwrap();
    assert_eq!(try_now(&mut autosave), None);
    assert_eq!(n_files(&blocked), 2, "the next attempt succeeds");
    // Its folder is deleted in the meantime.
    fs::remove_dir_all(&blocked).unwrap();
    autosave.saved = crate::state::SessionKey::default();
    assert!(try_now(&mut autosave).is_some());
    state.notices.report_unsaved_session(&error);
    assert_eq!(state.notices.len(), 1);
}

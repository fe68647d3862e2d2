//! Saves what is on screen about once per second, so that it survives a crash.
//!
//! Each window has a file and a lock for as long as it is open, and removes both when it is closed.
//! A file without a locked lock was left behind by a crash: the next window continues it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, UNIX_EPOCH};

use eframe::egui;

use crate::export::json::{RunFile, RunHeader};
use crate::export::{SessionFile, remove_stale_temporaries, write_atomically};
use crate::state::{AppState, Session, SessionKey, Settings, unix_time_secs};

/// The shortest time between two saves.
const MIN_PAUSE: Duration = Duration::from_secs(1);

/// How many times as long as a save takes the pause after it lasts, so that saving long texts does
/// not slow down the model.
const PAUSES_PER_SAVE: u32 = 4;

const SESSION: &str = "session";
const LOCK: &str = "lock";

/// What a crash left behind.
#[derive(Debug)]
pub(super) struct Crashed {
    pub settings: Settings,
    pub places: Vec<usize>,
    pub run: RunFile,
}

/// Saves the session of one window. Dropping it, as when the window closes, removes the file.
#[derive(Default)]
pub(super) struct Autosave {
    folder: Option<PathBuf>,
    held: Option<Held>,
    /// Whether the session may differ from what was saved last.
    pub changed: bool,
    saved: SessionKey,
    /// The save in progress, which returns how long it took.
    save: Option<JoinHandle<Duration>>,
    started_at: Option<Instant>,
    pause: Duration,
}

/// The file of a window, and its lock.
struct Held {
    path: PathBuf,
    _lock: File,
}

impl Autosave {
    /// Uses this folder. Also returns the session of the window that crashed last, if one did, or
    /// why it can't be read.
    pub(super) fn open(folder: PathBuf) -> (Self, Option<Result<Crashed, String>>) {
        remove_stale_temporaries(&folder);
        let held = crashed_in(&folder);
        let crashed = held.as_ref().map(|held| read(&held.path));
        let mut autosave = Self::default();
        autosave.folder = Some(folder);
        autosave.held = held;
        if let Some(Err(_)) = &crashed {
            autosave.set_aside();
        }
        (autosave, crashed)
    }

    /// Keeps a file that can't be read out of the way.
    fn set_aside(&mut self) {
        if let Some(Held { path, .. }) = self.held.take() {
            // If it stays, the next start reports it again.
            fs::rename(&path, path.with_extension("unread")).ok();
            fs::remove_file(path.with_extension(LOCK)).ok();
        }
    }

    /// Takes the session at startup as saved.
    pub(super) fn begin(&mut self, state: &AppState) {
        self.saved = state.session_key();
    }

    /// Saves the session on a background thread if it has changed and a save is due.
    pub(super) fn update(&mut self, ctx: &egui::Context, state: &AppState) {
        let Some(folder) = self.folder.as_ref().filter(|_| self.changed) else {
            return;
        };
        let is_busy = self.save.as_ref().is_some_and(|save| !save.is_finished());
        if let Some(save) = self.save.take_if(|save| save.is_finished()) {
            let took = save.join().unwrap_or_default();
            self.pause = MIN_PAUSE.max(took * PAUSES_PER_SAVE);
        }
        let elapsed = self.started_at.map(|started_at| started_at.elapsed());
        let left = elapsed.map(|elapsed| self.pause.saturating_sub(elapsed));
        if is_busy || left.is_some_and(|left| !left.is_zero()) {
            ctx.request_repaint_after(left.unwrap_or_default().max(MIN_PAUSE / 10));
            return;
        }
        self.changed = false;
        let key = state.session_key();
        if key == self.saved {
            return;
        }
        if self.held.is_none() {
            self.held = new_in(folder).ok();
        }
        // Without a place to write, this window is not saved; the settings report the same problem.
        let Some(path) = self.held.as_ref().map(|held| held.path.clone()) else {
            self.folder = None;
            return;
        };
        let session = state.session();
        let started_at = Instant::now();
        self.started_at = Some(started_at);
        self.pause = MIN_PAUSE;
        self.saved = key;
        let work = move || {
            // A full disk is reported by what the user saves, and the next attempt may succeed.
            write(&path, session).ok();
            started_at.elapsed()
        };
        let spawned = std::thread::Builder::new().name("autosave".to_owned());
        self.save = spawned.spawn(work).ok();
    }
}

impl Drop for Autosave {
    fn drop(&mut self) {
        if let Some(save) = self.save.take() {
            // A panic has already been printed by its thread.
            save.join().ok();
        }
        if let Some(Held { path, .. }) = &self.held
            && !std::thread::panicking()
        {
            // If a file stays, the next start restores it, which loses nothing.
            fs::remove_file(path).ok();
            fs::remove_file(path.with_extension(LOCK)).ok();
        }
    }
}

/// Creates the lock of a new session.
fn new_in(folder: &Path) -> io::Result<Held> {
    fs::create_dir_all(folder)?;
    let process = std::process::id();
    let name = format!("window-{}-{process}.{SESSION}", unix_time_secs());
    let path = folder.join(name);
    let lock = File::create(path.with_extension(LOCK))?;
    lock.lock()?;
    Ok(Held { path, _lock: lock })
}

/// Finds the newest session that no window holds, and holds it.
fn crashed_in(folder: &Path) -> Option<Held> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut sessions: Vec<(u64, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == SESSION))
        .filter_map(|path| {
            let modified = fs::metadata(&path).ok()?.modified().ok()?;
            Some((modified.duration_since(UNIX_EPOCH).ok()?.as_secs(), path))
        })
        .collect();
    sessions.sort_unstable();
    sessions.into_iter().rev().find_map(|(_, path)| {
        let lock = File::create(path.with_extension(LOCK)).ok()?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            // A file system without locks has no second window that could be told apart.
            Ok(()) | Err(TryLockError::Error(_)) => Some(Held { path, _lock: lock }),
        }
    })
}

fn write(path: &Path, session: Session) -> io::Result<()> {
    let file = SessionFile {
        settings: session.settings.to_json()?,
        places: session.places,
        run: session.texts.into_run(RunHeader::default()),
    };
    write_atomically(path, &file.render())
}

fn read(path: &Path) -> Result<Crashed, String> {
    let explained = |error: String| format!("{error}\n{}", path.with_extension("unread").display());
    let bytes = fs::read(path).map_err(|error| explained(error.to_string()))?;
    let file = SessionFile::parse(&bytes).map_err(|error| explained(error.to_string()))?;
    Ok(Crashed {
        settings: Settings::from_json(&file.settings).settings,
        places: file.places,
        run: file.run,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead as _, BufReader};
    use std::path::Path;
    use std::process::{Command, Stdio};

    use eframe::egui;

    use super::{Autosave, Crashed, MIN_PAUSE};
    use crate::app::settings_file::with_session;
    use crate::generation::FinishReason;
    use crate::state::tests::{asked, text, write, written};
    use crate::state::{AppState, Command as StateCommand, Settings};
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
        state.prompt = "Far away".to_owned();
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
        // While the window is open, its session is its own.
        assert!(open(folder.path()).1.is_none());
        child.kill().unwrap();
        child.wait().unwrap();

        let (autosave, crashed) = Autosave::open(folder.path().to_owned());
        let settings = with_session(Settings::default(), crashed.as_ref());
        assert_eq!(settings.prompt, "Far away");
        let (mut state, _) = AppState::new(settings, ModelSource::Embedded);
        let Crashed { run, places, .. } = crashed.unwrap().unwrap();
        state.restore_session(run, &places);
        let before = writing();
        for place in 0..before.panes.len() {
            assert_eq!(text(&state, place), text(&before, place));
        }
        assert_eq!(text(&state, 1), " a house");
        let stopped = state.panes[1].generation().unwrap();
        assert_eq!(stopped.finish, Some(FinishReason::Cancelled));
        assert_eq!(state.panes[1].settings.seed, Some(9));
        assert_eq!(state.notices[0].title, "Restored what was on screen");
        // An orderly exit leaves nothing behind.
        drop(autosave);
        assert_eq!(n_files(folder.path()), 0);
        assert!(open(folder.path()).1.is_none());
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
    fn a_session_that_can_not_be_read_is_set_aside_and_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window-1-1.session");
        for content in [
            "",
            "{}",
            "{\"session_version\":9,\"places\":[],\"settings\":\"\"}\n{}",
        ] {
            fs::write(&path, content).unwrap();
            let (_, crashed) = Autosave::open(folder.path().to_owned());
            let error = crashed.unwrap().err().unwrap();
            let aside = path.with_extension("unread");
            assert!(error.contains(&*aside.to_string_lossy()), "{error}");
            assert_eq!(fs::read_to_string(&aside).unwrap(), content);
            assert!(open(folder.path()).1.is_none());
        }
    }
}

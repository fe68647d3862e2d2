//! The session files: one per window, locked while the window is open.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::export::json::{RunFile, RunHeader};
use crate::export::{SessionFile, write_atomically};
use crate::state::{Session, Settings, unix_time_secs};

const SESSION: &str = "session";
const LOCK: &str = "lock";

/// The extension of a marker, which says that its session is being restored.
const MARKER: &str = "restoring";

/// The extension of a session that was set aside.
const ASIDE: &str = "unread";

/// The session that a crash left behind.
#[derive(Debug)]
pub(in crate::app) struct Crashed {
    pub settings: Settings,
    pub places: Vec<usize>,
    pub run: RunFile,
}

/// A session that was set aside.
#[derive(Debug)]
pub(in crate::app) struct SetAside {
    /// Why it was not restored.
    pub reason: Unrestored,
    /// Where it is now.
    pub path: PathBuf,
}

/// Why a session was not restored.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::app) enum Unrestored {
    /// The file can't be read.
    Unreadable(String),
    /// The window crashed while restoring it.
    CrashedAgain,
}

/// A window's session file and its lock.
pub(super) struct Held {
    pub path: PathBuf,
    _lock: File,
}

impl Held {
    /// Creates the lock of a new session.
    pub(super) fn new_in(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let process = std::process::id();
        let name = format!("window-{}-{process}.{SESSION}", unix_time_secs());
        let path = folder.join(name);
        let lock = File::create(path.with_extension(LOCK))?;
        lock.lock()?;
        Ok(Self { path, _lock: lock })
    }

    /// Finds and locks the newest session that no window holds.
    pub(super) fn crashed_in(folder: &Path) -> Option<Self> {
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
                // Without file locks, open windows can't be detected, so assume there are none.
                Ok(()) | Err(TryLockError::Error(_)) => Some(Self { path, _lock: lock }),
            }
        })
    }

    /// Reads the session, unless an earlier window crashed while restoring it. Marks it as being
    /// restored before anything is read, because reading may be what crashes.
    pub(super) fn begin_restoring(&self) -> Result<Crashed, Unrestored> {
        let marker = self.path.with_extension(MARKER);
        if marker.exists() {
            return Err(Unrestored::CrashedAgain);
        }
        // Without a marker, the session is restored anyway: it is worth more than the safeguard.
        fs::write(marker, "").ok();
        read(&self.path).map_err(Unrestored::Unreadable)
    }

    /// Removes the marker of a session that has been restored.
    pub(super) fn end_restoring(&self) {
        // If it stays, the session is set aside after the next crash, which loses nothing.
        fs::remove_file(self.path.with_extension(MARKER)).ok();
    }

    /// Moves the file out of the way, so that the next window starts without it. Returns its path.
    /// If it can't be renamed, it stays, and the next start reports it again.
    pub(super) fn set_aside(self) -> PathBuf {
        let aside = self.path.with_extension(ASIDE);
        if fs::rename(&self.path, &aside).is_err() {
            return self.path;
        }
        self.remove();
        aside
    }

    /// Removes the file, its lock and its marker.
    pub(super) fn remove(&self) {
        // If a file stays, the next start restores it, which loses nothing.
        fs::remove_file(&self.path).ok();
        for name in [LOCK, MARKER] {
            fs::remove_file(self.path.with_extension(name)).ok();
        }
    }
}

/// Writes a session.
pub(super) fn write(path: &Path, session: Session) -> io::Result<()> {
    let file = SessionFile {
        settings: session.settings.to_json()?,
        places: session.places,
        run: session.texts.into_run(RunHeader::default()),
    };
    write_atomically(path, &file.render())
}

fn read(path: &Path) -> Result<Crashed, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let file = SessionFile::parse(&bytes).map_err(|error| error.to_string())?;
    Ok(Crashed {
        settings: Settings::from_json(&file.settings).settings,
        places: file.places,
        run: file.run,
    })
}

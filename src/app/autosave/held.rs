//! The session files: one per window, locked while the window is open.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::export::json::{RunFile, RunHeader};
use crate::export::{SessionFile, write_atomically};
use crate::generation::formatting::io_words;
use crate::state::{Session, Settings, unix_time_secs};

const SESSION: &str = "session";
const LOCK: &str = "lock";

/// The extension of a marker, which says that its session is being restored.
const MARKER: &str = "restoring";

/// The extension of a session that was set aside.
pub(in crate::app) const ASIDE: &str = "unread";

/// How many sessions that were set aside are kept.
const N_ASIDE: usize = 5;

/// How long they are kept.
const ASIDE_FOR: Duration = Duration::from_hours(24 * 90);

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
    lock: File,
}

impl Drop for Held {
    fn drop(&mut self) {
        // A process that is just being started has a copy of the handle until it runs its program;
        // closing this one would not release the lock.
        self.lock.unlock().ok();
    }
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
        Ok(Self { path, lock })
    }

    /// Finds and locks the newest session that no window holds.
    pub(super) fn crashed_in(folder: &Path) -> Option<Self> {
        newest_first(folder, SESSION).into_iter().find_map(|path| {
            let lock = File::create(path.with_extension(LOCK)).ok()?;
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => None,
                // Without file locks, open windows can't be detected, so assume there are none.
                Ok(()) | Err(TryLockError::Error(_)) => Some(Self { path, lock }),
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
            return self.path.clone();
        }
        self.remove();
        let folder = aside.parent().unwrap_or(Path::new("."));
        let others = newest_first(folder, ASIDE).into_iter();
        for old in others.filter(|path| *path != aside).skip(N_ASIDE - 1) {
            // If it stays, it only takes up disk space.
            fs::remove_file(old).ok();
        }
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

/// Removes the sessions that were set aside long ago.
pub(super) fn remove_old(folder: &Path) {
    for path in newest_first(folder, ASIDE) {
        let modified = fs::metadata(&path).and_then(|found| found.modified());
        let age = modified.ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > ASIDE_FOR) {
            // If it stays, it only takes up disk space.
            fs::remove_file(path).ok();
        }
    }
}

/// Returns the files of a folder with this extension, the newest first.
pub(in crate::app) fn newest_first(folder: &Path, extension: &str) -> Vec<PathBuf> {
    // An unreadable folder is treated as an empty one.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    files.sort_unstable();
    files.into_iter().rev().map(|(_, path)| path).collect()
}

/// Writes a session.
pub(super) fn write(path: &Path, session: Session) -> io::Result<()> {
    let header = RunHeader {
        // What a crash interrupts ends with what was written last.
        finished_at: session.finished_at.or_else(|| Some(unix_time_secs())),
        ..RunHeader::default()
    };
    let file = SessionFile {
        settings: session.settings.to_json()?,
        places: session.places,
        run: session.texts.into_run(header),
    };
    write_atomically(path, &file.render())
}

fn read(path: &Path) -> Result<Crashed, String> {
    let bytes = fs::read(path).map_err(|error| io_words(&error))?;
    let file = SessionFile::parse(&bytes).map_err(|error| error.to_string())?;
    Ok(Crashed {
        settings: Settings::from_json(&file.settings).settings,
        places: file.places,
        run: file.run,
    })
}

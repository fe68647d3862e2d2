//! What is kept of downloads that did not come to their end, and how it is thrown away.
//!
//! Which of a repository's parts belong to a download is known only once the Hub has said of which
//! files it consists. That is remembered, so that one that is cancelled takes nothing of another's
//! along, and nothing has to be asked again.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cache::Shelf;
use super::checksum::Checksum;
use super::repository::RemoteFile;
use super::{Hub, HubError, Wanted};

/// The files of the downloads that were begun in this session. Clones are the same memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Begun(Arc<Mutex<BTreeMap<Wanted, Vec<RemoteFile>>>>);

impl Begun {
    /// This download consists of these files; gives those of which it did before.
    pub fn remember(&self, wanted: &Wanted, files: &[RemoteFile]) -> Vec<RemoteFile> {
        let before = self.memory().insert(wanted.clone(), files.to_vec());
        before.unwrap_or_default()
    }

    /// Nothing is kept of this download any more.
    pub fn forget(&self, wanted: &Wanted) {
        self.memory().remove(wanted);
    }

    fn files_of(&self, wanted: &Wanted) -> Option<Vec<RemoteFile>> {
        self.memory().get(wanted).cloned()
    }

    fn memory(&self) -> MutexGuard<'_, BTreeMap<Wanted, Vec<RemoteFile>>> {
        // Each change is one step, so that a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hub {
    /// How many bytes of a download are here. Where its files were not named, and the Hub was not
    /// asked yet, all parts in its repository count. Asks nobody.
    pub fn n_bytes_kept(&self, wanted: &Wanted) -> u64 {
        let shelf = self.shelf(&wanted.repository);
        match self.begun.files_of(wanted) {
            Some(files) => files.iter().map(|file| shelf.n_bytes_here_of(file)).sum(),
            None if wanted.file.is_none() => shelf.n_bytes_of_parts(),
            None => 0,
        }
    }

    /// Deletes what is kept of a download's files that are not whole, unless another is bringing it
    /// right now. Of a file that was not begun in this session nothing is deleted: its parts are not
    /// known from those of others. Asks nobody.
    pub fn discard(&self, wanted: &Wanted) -> Result<(), HubError> {
        let shelf = self.shelf(&wanted.repository);
        for (part, checksum) in self.parts_of(wanted, &shelf) {
            discard_part(&part, &checksum, &shelf)?;
        }
        self.begun.forget(wanted);
        Ok(())
    }

    /// The parts of contents that belong to a download and are here.
    fn parts_of(&self, wanted: &Wanted, shelf: &Shelf) -> Vec<(PathBuf, Checksum)> {
        match self.begun.files_of(wanted) {
            Some(files) => files
                .into_iter()
                .map(|file| (shelf.incomplete(&file.checksum), file.checksum))
                .filter(|(part, _)| part.exists())
                .collect(),
            None if wanted.file.is_none() => shelf.parts(),
            None => Vec::new(),
        }
    }
}

/// Deletes the parts of contents that a download no longer consists of: the repository has others
/// under the same names now.
pub(super) fn drop_outdated(
    before: &[RemoteFile],
    now: &[RemoteFile],
    shelf: &Shelf,
) -> Result<(), HubError> {
    let is_wanted = |old: &RemoteFile| now.iter().any(|file| file.checksum == old.checksum);
    for old in before.iter().filter(|old| !is_wanted(old)) {
        discard_part(&shelf.incomplete(&old.checksum), &old.checksum, shelf)?;
    }
    Ok(())
}

/// Deletes a part, unless another is bringing it right now.
fn discard_part(part: &Path, checksum: &Checksum, shelf: &Shelf) -> Result<(), HubError> {
    match shelf.lock(checksum, &part.to_string_lossy()) {
        Err(HubError::Locked { .. }) => Ok(()),
        _ => remove(part),
    }
}

fn remove(path: &Path) -> Result<(), HubError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(HubError::writing(path, error)),
        _ => Ok(()),
    }
}

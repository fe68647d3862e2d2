//! Partial downloads: how much of them is on disk, and how they are deleted.
//!
//! Which partial files belong to a download is only known after the Hub has listed its files. The
//! list is remembered for the session, so that cancelling one download leaves others alone and
//! needs no further request.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cache::RepoCache;
use super::checksum::Checksum;
use super::repository::RemoteFile;
use super::{DownloadTarget, Hub, HubError};

/// The files of every download started in this session. Clones share the same map.
#[derive(Debug, Clone, Default)]
pub(super) struct StartedDownloads(Arc<Mutex<BTreeMap<DownloadTarget, Vec<RemoteFile>>>>);

impl StartedDownloads {
    /// Remembers a download's files. Returns the files remembered before.
    pub(super) fn remember(
        &self,
        wanted: &DownloadTarget,
        files: &[RemoteFile],
    ) -> Vec<RemoteFile> {
        let before = self.memory().insert(wanted.clone(), files.to_vec());
        before.unwrap_or_default()
    }

    /// Forgets a download that is complete or deleted.
    pub(super) fn forget(&self, wanted: &DownloadTarget) {
        self.memory().remove(wanted);
    }

    fn files_of(&self, wanted: &DownloadTarget) -> Option<Vec<RemoteFile>> {
        self.memory().get(wanted).cloned()
    }

    fn memory(&self) -> MutexGuard<'_, BTreeMap<DownloadTarget, Vec<RemoteFile>>> {
        // Every change is a single map operation, so a panic can't leave the map inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hub {
    /// Returns how many bytes of a download are on disk. If it names no file and was not started in
    /// this session, all partial files of the repository count. Does not use the network.
    pub fn n_bytes_kept(&self, wanted: &DownloadTarget) -> u64 {
        let cache = self.repo_cache(&wanted.repository);
        match self.started_downloads.files_of(wanted) {
            Some(files) => files.iter().map(|file| cache.n_bytes_present(file)).sum(),
            None if wanted.file.is_none() => cache.n_partial_bytes(),
            None => 0,
        }
    }

    /// Deletes a download's partial files, except those that another program is downloading now. If
    /// it names a file and was not started in this session, nothing is deleted, because its partial
    /// files can't be told from those of others. Does not use the network.
    pub fn discard(&self, wanted: &DownloadTarget) -> Result<(), HubError> {
        let cache = self.repo_cache(&wanted.repository);
        for (part, checksum) in self.partial_files_of(wanted, &cache) {
            discard_partial(&part, &checksum, &cache)?;
        }
        self.started_downloads.forget(wanted);
        Ok(())
    }

    /// Lists the partial files on disk that belong to a download.
    fn partial_files_of(
        &self,
        wanted: &DownloadTarget,
        cache: &RepoCache,
    ) -> Vec<(PathBuf, Checksum)> {
        match self.started_downloads.files_of(wanted) {
            Some(files) => files
                .into_iter()
                .map(|file| (cache.incomplete(&file.checksum), file.checksum))
                .filter(|(part, _)| part.exists())
                .collect(),
            None if wanted.file.is_none() => cache.partial_files(),
            None => Vec::new(),
        }
    }
}

/// Deletes partial files whose contents the repository has replaced since the download started.
pub(super) fn discard_outdated(
    before: &[RemoteFile],
    now: &[RemoteFile],
    cache: &RepoCache,
) -> Result<(), HubError> {
    let is_wanted = |old: &RemoteFile| now.iter().any(|file| file.checksum == old.checksum);
    for old in before.iter().filter(|old| !is_wanted(old)) {
        discard_partial(&cache.incomplete(&old.checksum), &old.checksum, cache)?;
    }
    Ok(())
}

/// Deletes a partial file, unless another program is downloading it now.
fn discard_partial(part: &Path, checksum: &Checksum, cache: &RepoCache) -> Result<(), HubError> {
    match cache.lock(checksum, &part.to_string_lossy()) {
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

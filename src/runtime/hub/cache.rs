//! The cache folder, in the layout of `huggingface_hub`, so that tools share their downloads.
//!
//! File contents are stored under their checksums in `blobs`, the files of a commit as links to
//! them in `snapshots`, branches in `refs`, and partial contents as `blobs/CHECKSUM.incomplete`. On a
//! disk without links, a content is moved to its place in `snapshots`, as other tools do, and
//! `blobs/CHECKSUM.moved` says where that is.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::checksum::Checksum;
use super::links::Links;
use super::model_files::{ModelFiles, ModelFormat, is_safe_relative_path};
use super::repository::RemoteFile;
use super::walk::{FoundFile, WalkBudget};
use super::{DownloadTarget, Hub, HubError};
use crate::generation::formatting::io_words;

/// The prefix of the folder of a model repository.
const FOLDER_PREFIX: &str = "models--";

/// A model in the local cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedModel {
    /// The repository on the Hub, as OWNER/NAME.
    pub repository: String,
    /// The model's files, with their sizes.
    pub model: ModelFiles,
    /// The path to open: a GGUF file (the first part if it is split), or a folder.
    pub path: PathBuf,
}

/// An unfinished download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialDownload {
    /// The repository on the Hub, as OWNER/NAME.
    pub repository: String,
    /// The number of bytes in its partial files.
    pub n_bytes: u64,
}

impl Hub {
    /// Lists unfinished downloads, including those of other tools. Does not use the network.
    pub fn partial_downloads(&self) -> Vec<PartialDownload> {
        let folders = fs::read_dir(self.cache_folder());
        let partial = |entry: fs::DirEntry| {
            let repository = repository_of(&entry)?;
            let n_bytes = self.repo_cache(&repository).n_partial_bytes();
            (n_bytes > 0).then_some(PartialDownload {
                repository,
                n_bytes,
            })
        };
        // A missing cache folder is an empty one.
        let entries = folders.into_iter().flatten().flatten();
        let mut downloads: Vec<PartialDownload> = entries.filter_map(partial).collect();
        downloads.sort_by_key(|download| download.repository.to_lowercase());
        downloads
    }

    /// Lists the models in the cache folder that Quartet can open, including those that other tools
    /// downloaded. Does not use the network.
    pub fn cached_models(&self) -> Result<Vec<CachedModel>, HubError> {
        let folder = self.cache_folder();
        match cached_in(folder, &mut WalkBudget::default()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            cached => cached.map_err(|error| HubError::CacheUnreadable {
                path: folder.to_owned(),
                reason: io_words(&error),
            }),
        }
    }

    /// Returns the cached model that a download would fetch, or `None` if it isn't there. Does not
    /// use the network.
    pub fn cached_model(&self, wanted: &DownloadTarget) -> Result<Option<CachedModel>, HubError> {
        let mut cached = self.cached_models()?;
        cached.retain(|cached| cached.repository == wanted.repository);
        let models: Vec<ModelFiles> = cached.iter().map(|cached| cached.model.clone()).collect();
        let matching = match &wanted.file {
            Some(name) => ModelFiles::matching(&models, name),
            None => models.iter().collect(),
        };
        match matching.as_slice() {
            [] => Ok(None),
            [model] => Ok(cached.into_iter().find(|cached| cached.model == **model)),
            several => Err(HubError::ChoiceNeeded {
                repository: wanted.repository.clone(),
                names: several.iter().map(|it| it.name().to_owned()).collect(),
            }),
        }
    }

    /// Returns one repository's folder in the cache.
    pub(super) fn repo_cache(&self, repository: &str) -> RepoCache {
        let name = format!("{FOLDER_PREFIX}{}", repository.replace('/', "--"));
        RepoCache {
            folder: self.cache_folder().join(&name),
            locks: self.cache_folder().join(".locks").join(name),
            links: self.config.links,
        }
    }
}

/// Lists the models in a folder with the layout of the cache, as far as the budget allows.
pub(super) fn cached_in(folder: &Path, budget: &mut WalkBudget) -> io::Result<Vec<CachedModel>> {
    let mut cached = Vec::new();
    for entry in budget.entries(folder)? {
        if let Some(repository) = repository_of(&entry) {
            cached.extend(models_in(&entry.path(), &repository, budget));
        }
    }
    cached.sort_by_key(|cached| (cached.repository.to_lowercase(), cached.model.n_bytes));
    Ok(cached)
}

/// Returns the name of the repository whose folder this is, or `None` for any other entry.
fn repository_of(entry: &fs::DirEntry) -> Option<String> {
    let name = entry.file_name();
    let name = name.to_str()?.strip_prefix(FOLDER_PREFIX)?;
    // An owner's name never contains two hyphens in a row.
    Some(name.replacen("--", "/", 1))
}

/// The files of a repository at one commit.
struct Snapshot {
    folder: PathBuf,
    is_main: bool,
    files: Vec<FoundFile>,
    changed_at: Option<SystemTime>,
}

/// Lists the models in a repository's folder. The commit of `main` hides files with the same name
/// in older commits.
fn models_in(folder: &Path, repository: &str, budget: &mut WalkBudget) -> Vec<CachedModel> {
    let main = fs::read_to_string(folder.join("refs").join("main")).unwrap_or_default();
    let entries = budget.entries(&folder.join("snapshots"));
    let entries = entries.unwrap_or_default().into_iter();
    let snapshots = entries.map(|entry| snapshot(&entry, &main, budget));
    let mut snapshots: Vec<Snapshot> = snapshots.collect();
    snapshots.sort_by_key(|snapshot| Reverse((snapshot.is_main, snapshot.changed_at)));
    let mut cached = Vec::new();
    let mut seen = BTreeSet::new();
    for snapshot in snapshots {
        let files = snapshot.files.iter();
        for model in ModelFiles::among(files.map(|file| (file.path.as_str(), Some(file.n_bytes)))) {
            if seen.insert(model.file().map(str::to_owned)) {
                cached.push(CachedModel {
                    repository: repository.to_owned(),
                    path: model_path(&snapshot.folder, &model),
                    model,
                });
            }
        }
    }
    cached
}

fn snapshot(entry: &fs::DirEntry, main: &str, budget: &mut WalkBudget) -> Snapshot {
    // A folder that can't be read has no models.
    let files = budget.files(&entry.path()).unwrap_or_default();
    Snapshot {
        folder: entry.path(),
        is_main: entry.file_name() == main.trim(),
        changed_at: files.iter().filter_map(|file| file.changed_at).max(),
        files,
    }
}

/// Returns the path to open for a model whose files are in `folder`.
fn model_path(folder: &Path, model: &ModelFiles) -> PathBuf {
    match model.format {
        ModelFormat::Gguf => model
            .file()
            .map_or_else(|| folder.to_owned(), |file| folder.join(file)),
        ModelFormat::Safetensors => folder.to_owned(),
    }
}

/// One repository's folder in the cache.
#[derive(Debug)]
pub(super) struct RepoCache {
    folder: PathBuf,
    locks: PathBuf,
    links: Links,
}

impl RepoCache {
    /// Returns the path of a file's complete content.
    pub(super) fn blob(&self, checksum: &Checksum) -> PathBuf {
        self.folder.join("blobs").join(checksum.etag())
    }

    /// Returns the path of a file's content while it is being downloaded.
    pub(super) fn incomplete(&self, checksum: &Checksum) -> PathBuf {
        let name = format!("{}.incomplete", checksum.etag());
        self.folder.join("blobs").join(name)
    }

    /// Returns whether a file's content is complete. A blob gets its name only after its checksum
    /// was verified, so its presence and length are enough.
    pub(super) fn has(&self, file: &RemoteFile) -> bool {
        let content = self.content(&file.checksum);
        fs::metadata(content).is_ok_and(|content| content.len() == file.n_bytes)
    }

    /// Returns the path of a file's complete content, which may have been moved.
    fn content(&self, checksum: &Checksum) -> PathBuf {
        let blob = self.blob(checksum);
        if blob.exists() {
            return blob;
        }
        let moved = fs::read_to_string(self.moved(checksum)).unwrap_or_default();
        if is_safe_relative_path(&moved) {
            self.folder.join("snapshots").join(moved)
        } else {
            blob
        }
    }

    /// Returns the path of the file that says where a content was moved.
    fn moved(&self, checksum: &Checksum) -> PathBuf {
        let name = format!("{}.moved", checksum.etag());
        self.folder.join("blobs").join(name)
    }

    /// Returns how many bytes of a file's content have been downloaded.
    pub(super) fn n_bytes_present(&self, file: &RemoteFile) -> u64 {
        if self.has(file) {
            return file.n_bytes;
        }
        let incomplete = self.incomplete(&file.checksum);
        fs::metadata(incomplete).map_or(0, |part| part.len().min(file.n_bytes))
    }

    /// Returns the total size of all partial files.
    pub(super) fn n_partial_bytes(&self) -> u64 {
        let parts = self.partial_files().into_iter();
        parts
            .filter_map(|(path, _)| Some(fs::metadata(path).ok()?.len()))
            .sum()
    }

    /// Lists the partial files and their checksums, in no particular order.
    pub(super) fn partial_files(&self) -> Vec<(PathBuf, Checksum)> {
        let entries = fs::read_dir(self.folder.join("blobs"));
        let part = |entry: fs::DirEntry| {
            let path = entry.path();
            let etag = path.file_name()?.to_str()?.strip_suffix(".incomplete")?;
            Some((path.clone(), Checksum::parse(etag)?))
        };
        entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(part)
            .collect()
    }

    /// Returns the path to open for a model at this commit.
    pub(super) fn model_path(&self, commit: &str, model: &ModelFiles) -> PathBuf {
        model_path(&self.folder.join("snapshots").join(commit), model)
    }

    /// Creates the folder for file contents.
    pub(super) fn prepare(&self) -> Result<(), HubError> {
        let blobs = self.folder.join("blobs");
        fs::create_dir_all(&blobs).map_err(|error| HubError::writing(&blobs, error))
    }

    /// Locks a file's content against downloads by other programs until the lock is dropped.
    pub(super) fn lock(&self, checksum: &Checksum, file: &str) -> Result<Lock, HubError> {
        let path = self.locks.join(format!("{}.lock", checksum.etag()));
        let opened = fs::create_dir_all(&self.locks).and_then(|()| File::create(&path));
        let lock = opened.map_err(|error| HubError::writing(&path, error))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Err(HubError::Locked {
                file: file.to_owned(),
            }),
            // Some file systems do not support locks; continue without one.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock(lock)),
        }
    }

    /// Links a file's content into the snapshot of a commit under the file's path. On a disk without
    /// links, moves it there.
    pub(super) fn publish(
        &self,
        commit: &str,
        path: &str,
        checksum: &Checksum,
    ) -> Result<(), HubError> {
        let link = self.folder.join("snapshots").join(commit).join(path);
        let content = self.content(checksum);
        if content == link {
            return Ok(());
        }
        let written = link
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| match fs::remove_file(&link) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => self.link(&content, &link, &format!("{commit}/{path}"), checksum),
            });
        written.map_err(|error| HubError::writing(&link, error))
    }

    /// Points the `main` branch at this commit.
    pub(super) fn set_main(&self, commit: &str) -> Result<(), HubError> {
        let refs = self.folder.join("refs");
        let path = refs.join("main");
        // Other programs read this file too, so it is replaced atomically, and would take any other
        // file in its folder for a branch.
        let part = self.folder.join("main.part");
        fs::create_dir_all(&refs)
            .and_then(|()| fs::write(&part, commit))
            .and_then(|()| fs::rename(&part, &path))
            .map_err(|error| HubError::writing(&path, error))
    }

    /// Creates a relative link, so that the cache can be moved, or else a hard link. `place` is the
    /// path of the link below the snapshots.
    fn link(
        &self,
        content: &Path,
        link: &Path,
        place: &str,
        checksum: &Checksum,
    ) -> io::Result<()> {
        if content != self.blob(checksum) {
            // Another commit has the same content, and keeps it.
            return fs::copy(content, link).map(drop);
        }
        let up = "../".repeat(place.split('/').count());
        let relative = PathBuf::from(up).join("blobs").join(checksum.etag());
        let symbolic = (self.links.symbolic)(&relative, link);
        if symbolic.is_ok() || (self.links.hard)(content, link).is_ok() {
            return Ok(());
        }
        fs::rename(content, link)?;
        // Without this, the file is downloaded again when it is wanted again.
        fs::write(self.moved(checksum), place).ok();
        Ok(())
    }
}

/// Holds a lock file until it is dropped.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough while a child process still holds a copy of the file descriptor.
        self.0.unlock().ok();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::Lock;

    #[test]
    fn a_lock_is_released_even_if_a_copy_of_its_file_is_still_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.lock");
        let file = File::create(&path).unwrap();
        file.try_lock().unwrap();
        let copy = file.try_clone().unwrap();
        drop(Lock(file));
        File::open(&path).unwrap().try_lock().unwrap();
        drop(copy);
    }
}

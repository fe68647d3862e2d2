//! The cache folder, laid out as `huggingface_hub` does it, so that every tool finds what another has
//! brought: contents under their checksums in `blobs`, the files of a commit as links to them in
//! `snapshots`, branches in `refs`, and a part of a content as `blobs/CHECKSUM.incomplete`.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::checksum::Checksum;
use super::model_files::{ModelFiles, ModelFormat};
use super::repository::RemoteFile;
use super::{Hub, HubError};

/// The folder of a repository with models begins so.
const SHELF: &str = "models--";

/// A model that is on this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedModel {
    /// The repository that it came from.
    pub repository: String,
    /// What it consists of, with sizes.
    pub model: ModelFiles,
    /// What is opened: a GGUF file (the first part of several), or a folder.
    pub path: PathBuf,
}

/// A download that was not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDownload {
    /// The repository that it comes from.
    pub repository: String,
    /// How many bytes are kept of files that are not whole.
    pub n_bytes: u64,
}

impl Hub {
    /// The downloads that were not finished, whoever has begun them. Asks nobody.
    pub fn kept_downloads(&self) -> Vec<KeptDownload> {
        let shelves = fs::read_dir(self.cache_folder());
        let kept = |entry: fs::DirEntry| {
            let name = entry.file_name();
            // An owner's name has no two hyphens in a row.
            let repository = name.to_str()?.strip_prefix(SHELF)?.replacen("--", "/", 1);
            let n_bytes = self.shelf(&repository).n_bytes_of_parts();
            (n_bytes > 0).then_some(KeptDownload {
                repository,
                n_bytes,
            })
        };
        // Without a cache folder there is nothing in it.
        let entries = shelves.into_iter().flatten().flatten();
        let mut kept: Vec<KeptDownload> = entries.filter_map(kept).collect();
        kept.sort_by_key(|kept| kept.repository.to_lowercase());
        kept
    }

    /// The models in the cache folder that can be opened, whoever has brought them. Asks nobody.
    pub fn cached_models(&self) -> Result<Vec<CachedModel>, HubError> {
        let unreadable = |error: hf_hub::HFError| HubError::CacheUnreadable {
            path: self.cache_folder().to_owned(),
            reason: error.to_string(),
        };
        let scanned = self.client.scan_cache().send().map_err(unreadable)?;
        let mut cached = Vec::new();
        for mut repository in scanned.repos {
            if repository.repo_type != "model" {
                continue;
            }
            // What the branch stands at hides what an older commit has under the same name.
            repository.revisions.sort_by_key(|revision| {
                let is_main = revision.refs.iter().any(|name| name == "main");
                std::cmp::Reverse((is_main, revision.last_modified))
            });
            let mut seen = BTreeSet::new();
            for revision in &repository.revisions {
                let files = revision.files.iter();
                let files =
                    files.map(|file| (file.file_name.replace('\\', "/"), file.size_on_disk));
                let files: Vec<(String, u64)> = files.collect();
                let files = files.iter().map(|(path, n)| (path.as_str(), Some(*n)));
                for model in ModelFiles::among(files) {
                    if seen.insert(model.file().map(str::to_owned)) {
                        cached.push(CachedModel {
                            repository: repository.repo_id.clone(),
                            path: opened_path(&revision.snapshot_path, &model),
                            model,
                        });
                    }
                }
            }
        }
        cached.sort_by_key(|cached| (cached.repository.to_lowercase(), cached.model.n_bytes));
        Ok(cached)
    }

    /// A repository's place in the cache.
    pub(super) fn shelf(&self, repository: &str) -> Shelf {
        let name = format!("{SHELF}{}", repository.replace('/', "--"));
        Shelf {
            folder: self.cache_folder().join(&name),
            locks: self.cache_folder().join(".locks").join(name),
        }
    }
}

/// What is opened of a model that lies in a folder.
fn opened_path(folder: &Path, model: &ModelFiles) -> PathBuf {
    match model.format {
        ModelFormat::Gguf => model
            .file()
            .map_or_else(|| folder.to_owned(), |file| folder.join(file)),
        ModelFormat::Safetensors => folder.to_owned(),
    }
}

/// A repository's place in the cache.
#[derive(Debug)]
pub(super) struct Shelf {
    folder: PathBuf,
    locks: PathBuf,
}

impl Shelf {
    /// Where a content lies when it is whole.
    pub fn blob(&self, checksum: &Checksum) -> PathBuf {
        self.folder.join("blobs").join(checksum.etag())
    }

    /// Where it lies until then.
    pub fn incomplete(&self, checksum: &Checksum) -> PathBuf {
        let name = format!("{}.incomplete", checksum.etag());
        self.folder.join("blobs").join(name)
    }

    /// Whether a file's content is here. One that has its name is right: it got it after its checksum.
    pub fn has(&self, file: &RemoteFile) -> bool {
        let blob = self.blob(&file.checksum);
        fs::metadata(blob).is_ok_and(|blob| blob.len() == file.n_bytes)
    }

    /// How many bytes of a file's content are here.
    pub fn n_bytes_here_of(&self, file: &RemoteFile) -> u64 {
        if self.has(file) {
            return file.n_bytes;
        }
        let incomplete = self.incomplete(&file.checksum);
        fs::metadata(incomplete).map_or(0, |part| part.len().min(file.n_bytes))
    }

    /// How many bytes the parts of contents have.
    pub fn n_bytes_of_parts(&self) -> u64 {
        let parts = self.parts().into_iter();
        parts
            .filter_map(|(path, _)| Some(fs::metadata(path).ok()?.len()))
            .sum()
    }

    /// The parts of contents that are not whole, in no order.
    pub fn parts(&self) -> Vec<(PathBuf, Checksum)> {
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

    /// What is opened of a model.
    pub fn opened_path(&self, commit: &str, model: &ModelFiles) -> PathBuf {
        opened_path(&self.folder.join("snapshots").join(commit), model)
    }

    /// Makes room for contents.
    pub fn prepare(&self) -> Result<(), HubError> {
        let blobs = self.folder.join("blobs");
        fs::create_dir_all(&blobs).map_err(|error| HubError::writing(&blobs, error))
    }

    /// Keeps other programs from bringing the same content at the same time, until it is dropped.
    pub fn lock(&self, checksum: &Checksum, file: &str) -> Result<Lock, HubError> {
        let path = self.locks.join(format!("{}.lock", checksum.etag()));
        let opened = fs::create_dir_all(&self.locks).and_then(|()| File::create(&path));
        let lock = opened.map_err(|error| HubError::writing(&path, error))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Err(HubError::Locked {
                file: file.to_owned(),
            }),
            // A file system without locks is used without them.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock(lock)),
        }
    }

    /// Gives a content its name in a commit.
    pub fn publish(&self, commit: &str, path: &str, checksum: &Checksum) -> Result<(), HubError> {
        let link = self.folder.join("snapshots").join(commit).join(path);
        let written = link
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| match fs::remove_file(&link) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => self.link(&link, path, checksum),
            });
        written.map_err(|error| HubError::writing(&link, error))
    }

    /// Says that the branch stands at this commit.
    pub fn refer(&self, commit: &str) -> Result<(), HubError> {
        let refs = self.folder.join("refs");
        let path = refs.join("main");
        // Other programs read it too: it is whole at any time.
        let part = refs.join("main.part");
        fs::create_dir_all(&refs)
            .and_then(|()| fs::write(&part, commit))
            .and_then(|()| fs::rename(&part, &path))
            .map_err(|error| HubError::writing(&path, error))
    }

    /// The links are relative, so that the cache can be moved.
    #[cfg(unix)]
    #[expect(clippy::unused_self, reason = "the other systems need it")]
    fn link(&self, link: &Path, path: &str, checksum: &Checksum) -> io::Result<()> {
        let n_up = path.split('/').count() + 1;
        let target = PathBuf::from("../".repeat(n_up))
            .join("blobs")
            .join(checksum.etag());
        std::os::unix::fs::symlink(target, link)
    }

    /// Links of this kind need no right of their own.
    #[cfg(not(unix))]
    fn link(&self, link: &Path, _path: &str, checksum: &Checksum) -> io::Result<()> {
        let blob = self.blob(checksum);
        fs::hard_link(&blob, link).or_else(|_| fs::copy(&blob, link).map(drop))
    }
}

/// Keeps others from a content until it is dropped.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing would not be enough while a program that is being started still has a copy of it.
        self.0.unlock().ok();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::Lock;

    #[test]
    fn a_lock_ends_although_a_copy_of_its_file_is_open() {
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

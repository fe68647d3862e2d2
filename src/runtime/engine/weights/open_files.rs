//! The files of a model in many parts: opened when they are read, and only a few at a time.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// How many files stay open. Operating systems allow a program at least 256.
const N_MAX_OPEN: usize = 32;

/// The most recently read files, by path.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles(Mutex<VecDeque<(Arc<Path>, Arc<File>)>>);

/// What distinguishes a file from another one with the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    n_bytes: u64,
    modified: Option<SystemTime>,
    /// The device and the file's inode number on it, if the system has these.
    node: Option<(u64, u64)>,
}

/// One part of a model.
#[derive(Debug)]
pub(super) struct Part {
    path: Arc<Path>,
    identity: Identity,
    files: Arc<OpenFiles>,
}

impl Part {
    /// Opens a part for the first time. Also returns its length.
    pub(super) fn open(path: &Path, files: &Arc<OpenFiles>) -> io::Result<(Self, u64)> {
        let file = File::open(path)?;
        let identity = Identity::of(&file)?;
        let part = Self {
            path: path.into(),
            identity,
            files: Arc::clone(files),
        };
        files.keep(&part.path, &Arc::new(file));
        Ok((part, identity.n_bytes))
    }

    /// Fails if the file was replaced or written to since it was first opened.
    pub(super) fn check(&self) -> io::Result<()> {
        self.identity.check(&*self.file()?)
    }

    /// Returns the open file. Fails if another file has taken its place.
    pub(super) fn file(&self) -> io::Result<Arc<File>> {
        if let Some(file) = self.files.find(&self.path) {
            return Ok(file);
        }
        let file = Arc::new(File::open(&self.path)?);
        self.identity.check(&file)?;
        self.files.keep(&self.path, &file);
        Ok(file)
    }
}

impl OpenFiles {
    /// Returns an open file, and makes it the last one to be closed.
    fn find(&self, path: &Arc<Path>) -> Option<Arc<File>> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = files.iter().position(|(known, _)| known == path)?;
        let found = files.remove(index)?;
        let file = Arc::clone(&found.1);
        files.push_back(found);
        Some(file)
    }

    fn keep(&self, path: &Arc<Path>, file: &Arc<File>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.push_back((Arc::clone(path), Arc::clone(file)));
        if files.len() > N_MAX_OPEN {
            files.pop_front();
        }
    }
}

impl Identity {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            n_bytes: metadata.len(),
            modified: metadata.modified().ok(),
            node: node_of(&metadata),
        })
    }

    pub(super) const fn n_bytes(self) -> u64 {
        self.n_bytes
    }

    /// Fails if this is not the file that was first opened, or if it was written to since.
    pub(super) fn check(self, file: &File) -> io::Result<()> {
        if Self::of(file)? == self {
            Ok(())
        } else {
            Err(io::Error::other("it changed while the model was loaded"))
        }
    }
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the version for other systems returns `None`"
)]
fn node_of(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;

    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
const fn node_of(_metadata: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::{N_MAX_OPEN, OpenFiles, Part};

    #[test]
    fn only_a_few_files_are_open_and_each_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(OpenFiles::default());
        let path = |index: usize| folder.path().join(index.to_string());
        let parts: Vec<Part> = (0..3 * N_MAX_OPEN)
            .map(|index| {
                fs::write(path(index), vec![0; index]).unwrap();
                let (part, n_bytes) = Part::open(&path(index), &files).unwrap();
                assert_eq!(n_bytes, index as u64);
                part
            })
            .collect();
        for (index, part) in parts
            .iter()
            .enumerate()
            .chain(parts.iter().enumerate().rev())
        {
            let n_bytes = part.file().unwrap().metadata().unwrap().len();
            assert_eq!(n_bytes, index as u64);
            assert_eq!(files.0.lock().unwrap().len(), N_MAX_OPEN);
        }
    }

    #[test]
    fn a_file_that_was_replaced_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(OpenFiles::default());
        let path = folder.path().join("part");
        fs::write(&path, "old").unwrap();
        let (part, _) = Part::open(&path, &files).unwrap();
        fs::write(folder.path().join("other"), "new!").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        // While it is open, the old file is read.
        assert_eq!(part.file().unwrap().metadata().unwrap().len(), 3);
        files.0.lock().unwrap().clear();
        let error = part.file().unwrap_err().to_string();
        assert_eq!(error, "it changed while the model was loaded");
    }
}

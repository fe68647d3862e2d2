//! Where a model's files are: in a folder on this computer, or in a repository elsewhere, of which
//! only the first bytes are known.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::EngineError;
use super::small_file::{N_MAX_SETTINGS_BYTES, read_at_most};
use super::weights::{OpenFiles, Source, WantedBytes};
use crate::generation::{ByteSize, RemoteFile, RemoteModel};

/// Where a model's files are.
#[derive(Debug, Clone, Copy)]
pub(super) enum ModelFolder<'a> {
    Local(&'a Path),
    Remote(&'a RemoteFolder<'a>),
}

/// The files of a repository elsewhere.
#[derive(Debug)]
pub(super) struct RemoteFolder<'a> {
    model: &'a RemoteModel,
    /// What was needed beyond the known bytes.
    pub wanted: WantedBytes,
}

impl<'a> RemoteFolder<'a> {
    pub(super) fn new(model: &'a RemoteModel) -> Self {
        Self {
            model,
            wanted: WantedBytes::default(),
        }
    }

    fn file(&self, name: &Path) -> Option<(&str, &RemoteFile)> {
        let (name, file) = self.model.files.get_key_value(name.to_str()?)?;
        Some((name, file))
    }

    /// Returns the content of a file, if it is known as a whole.
    fn content(&self, name: &Path) -> io::Result<Arc<Vec<u8>>> {
        let (name, file) = self.file(name).ok_or(io::ErrorKind::NotFound)?;
        if (file.start.len() as u64) < file.n_bytes {
            self.wanted.note(name, file.n_bytes);
            return Err(io::Error::other("only its first bytes are known"));
        }
        Ok(Arc::clone(&file.start))
    }
}

impl ModelFolder<'_> {
    /// Returns whether a file exists.
    pub(super) fn has(self, name: impl AsRef<Path>) -> bool {
        match self {
            Self::Local(folder) => folder.join(name).is_file(),
            Self::Remote(remote) => remote.file(name.as_ref()).is_some(),
        }
    }

    /// Returns whether the folder itself contains a GGUF file.
    pub(super) fn has_gguf(self) -> bool {
        let is_gguf = |path: &Path| path.extension().is_some_and(|it| it == "gguf");
        match self {
            Self::Local(folder) => folder.read_dir().is_ok_and(|entries| {
                let mut paths = entries.flatten().map(|entry| entry.path());
                paths.any(|path| is_gguf(&path))
            }),
            Self::Remote(remote) => {
                let mut names = remote.model.files.keys();
                names.any(|name| is_gguf(Path::new(name)))
            }
        }
    }

    /// Returns what to call it in messages.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Local(_) => "folder",
            Self::Remote(_) => "repository",
        }
    }

    /// Returns the path to show in messages.
    pub(super) fn path(self) -> String {
        match self {
            Self::Local(folder) => folder.display().to_string(),
            Self::Remote(remote) => remote.model.repository.clone(),
        }
    }

    /// Returns the path of a file to show in messages.
    pub(super) fn path_of(self, name: impl AsRef<Path>) -> String {
        match self {
            Self::Local(folder) => folder.join(name).display().to_string(),
            Self::Remote(remote) => {
                format!("{}/{}", remote.model.repository, name.as_ref().display())
            }
        }
    }

    /// Reads a settings file. `what` is the subject of the error.
    pub(super) fn settings(self, name: &str, what: &'static str) -> Result<Vec<u8>, EngineError> {
        self.read(name, N_MAX_SETTINGS_BYTES, what)
    }

    /// Reads a file of at most `n_max` bytes. `what` is the subject of the error.
    pub(super) fn read(
        self,
        name: &str,
        n_max: u64,
        what: &'static str,
    ) -> Result<Vec<u8>, EngineError> {
        let remote = match self {
            Self::Local(folder) => return read_at_most(n_max, &folder.join(name), what),
            Self::Remote(remote) => remote,
        };
        let n_bytes = remote.file(Path::new(name)).map_or(0, |it| it.1.n_bytes);
        if n_bytes > n_max {
            return Err(EngineError::FileTooLarge {
                what,
                n_bytes: ByteSize(n_bytes),
                n_max: ByteSize(n_max),
                path: self.path_of(name),
            });
        }
        let content = remote.content(Path::new(name));
        let content = content.map_err(|source| EngineError::FileUnreadable {
            what,
            source,
            path: self.path_of(name),
        })?;
        Ok(content.to_vec())
    }

    /// Opens a file. `what` names it in the error if that fails.
    pub(super) fn source(
        self,
        name: impl AsRef<Path>,
        what: &'static str,
    ) -> Result<Source, EngineError> {
        match self {
            Self::Local(folder) => Source::file(&folder.join(name), what),
            Self::Remote(remote) => self.remote_source(remote, name.as_ref(), what),
        }
    }

    /// Opens one file of a model that may have more files than can be open at once.
    pub(super) fn part(
        self,
        name: impl AsRef<Path>,
        what: &'static str,
        files: &Arc<OpenFiles>,
    ) -> Result<Source, EngineError> {
        match self {
            Self::Local(folder) => Source::part(&folder.join(name), what, files),
            Self::Remote(remote) => self.remote_source(remote, name.as_ref(), what),
        }
    }

    fn remote_source(
        self,
        remote: &RemoteFolder<'_>,
        name: &Path,
        what: &'static str,
    ) -> Result<Source, EngineError> {
        let path = self.path_of(name);
        match remote.file(name) {
            Some((name, file)) => Ok(Source::start(name, file, &path, &remote.wanted)),
            None => Err(EngineError::FileUnreadable {
                what,
                source: io::ErrorKind::NotFound.into(),
                path,
            }),
        }
    }

    /// Notes that the headers of these files will be needed, so that they can be fetched together.
    pub(super) fn expect_headers<'a>(self, names: impl IntoIterator<Item = &'a str>) {
        /// More than the length of a safetensors header, and than the first entries of a GGUF file.
        const N_FIRST_BYTES: u64 = 64;

        if let Self::Remote(remote) = self {
            for name in names {
                if let Some((name, file)) = remote.file(Path::new(name))
                    && (file.start.len() as u64) < N_FIRST_BYTES.min(file.n_bytes)
                {
                    remote.wanted.note(name, N_FIRST_BYTES.min(file.n_bytes));
                }
            }
        }
    }
}

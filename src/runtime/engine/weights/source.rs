//! Where bytes come from: a file, memory, a generator, or the first bytes of a file elsewhere.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::WHAT;
use super::file_start::{FileStart, WantedBytes};
use super::open_files::{Identity, OpenFiles, Part};
use super::synthetic::SyntheticWeights;
use crate::engine::EngineError;
use crate::generation::RemoteFile;

/// Bytes with random access, which several threads can read concurrently.
#[derive(Debug)]
pub(crate) struct Source {
    bytes: Bytes,
    n_bytes: u64,
    path: String,
}

#[derive(Debug)]
enum Bytes {
    File(File, Identity),
    Part(Part),
    Synthetic(SyntheticWeights),
    Memory(Cow<'static, [u8]>),
    Start(FileStart),
}

impl Source {
    /// Opens a file. `what` names it in the error if that fails.
    pub(crate) fn file(path: &Path, what: &'static str) -> Result<Self, EngineError> {
        Self::opened(path, what, || {
            let file = File::open(path)?;
            let identity = Identity::of(&file)?;
            Ok((Bytes::File(file, identity), identity.n_bytes()))
        })
    }

    /// Opens one file of a model that may have more files than can be open at once.
    pub(crate) fn part(
        path: &Path,
        what: &'static str,
        files: &Arc<OpenFiles>,
    ) -> Result<Self, EngineError> {
        Self::opened(path, what, || {
            let (part, n_bytes) = Part::open(path, files)?;
            Ok((Bytes::Part(part), n_bytes))
        })
    }

    fn opened(
        path: &Path,
        what: &'static str,
        open: impl FnOnce() -> io::Result<(Bytes, u64)>,
    ) -> Result<Self, EngineError> {
        let opened = std::fs::metadata(path).and_then(|metadata| {
            // Opening a pipe would block until someone writes to it.
            if metadata.is_file() {
                open()
            } else {
                Err(io::Error::other("it is not a file"))
            }
        });
        let path = path.display().to_string();
        match opened {
            Ok((bytes, n_bytes)) => Ok(Self {
                bytes,
                n_bytes,
                path,
            }),
            Err(source) => Err(EngineError::FileUnreadable { what, source, path }),
        }
    }

    /// Wraps bytes in memory. `path` names them in messages.
    pub(crate) fn memory(bytes: impl Into<Cow<'static, [u8]>>, path: &str) -> Self {
        let bytes = bytes.into();
        Self {
            n_bytes: bytes.len() as u64,
            bytes: Bytes::Memory(bytes),
            path: path.to_owned(),
        }
    }

    /// Wraps the first bytes of a file that is not on this computer. What is needed beyond them is
    /// noted in `wanted`. `path` names the file in messages.
    pub(crate) fn start(name: &str, file: &RemoteFile, path: &str, wanted: &WantedBytes) -> Self {
        Self {
            n_bytes: file.n_bytes,
            bytes: Bytes::Start(FileStart::new(name, file, wanted)),
            path: path.to_owned(),
        }
    }

    /// Wraps weights that are generated when they are read. `path` names them in messages.
    pub(crate) fn synthetic(weights: SyntheticWeights, path: &str) -> Self {
        Self {
            n_bytes: weights.n_bytes(),
            bytes: Bytes::Synthetic(weights),
            path: path.to_owned(),
        }
    }

    /// Returns whether only the first bytes are known, so that the values of tensors are not.
    pub(super) const fn is_start(&self) -> bool {
        matches!(self.bytes, Bytes::Start(_))
    }

    /// Fails if the bytes up to `end` are not known. To be called before memory is allocated for
    /// them.
    pub(super) fn require(&self, end: u64) -> Result<(), EngineError> {
        match &self.bytes {
            Bytes::Start(start) => start.require(end).map_err(|error| self.unreadable(error)),
            _ => Ok(()),
        }
    }

    /// Returns the total number of bytes.
    pub(crate) const fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Returns the path to show in messages.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns `n_bytes` bytes from offset `start`.
    pub(crate) fn take(&self, start: u64, n_bytes: usize) -> Result<Vec<u8>, EngineError> {
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(n_bytes).is_err() {
            return Err(self.memory_short(n_bytes));
        }
        self.take_into(start, n_bytes, &mut bytes)?;
        Ok(bytes)
    }

    /// Appends `n_bytes` bytes from offset `start` to `bytes`.
    pub(crate) fn take_into(
        &self,
        start: u64,
        n_bytes: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<(), EngineError> {
        /// Small enough for the CPU cache. Reading goes through this piece because reading directly
        /// into `bytes` would require zeroing them first.
        const N_PIECE_BYTES: usize = 256 << 10;

        let mut piece = vec![0; n_bytes.min(N_PIECE_BYTES)];
        let mut n_read = 0;
        while n_read < n_bytes {
            piece.truncate(n_bytes - n_read);
            self.read_at(start.saturating_add(n_read as u64), &mut piece)
                .map_err(|error| self.unreadable(error))?;
            bytes.extend_from_slice(&piece);
            n_read += piece.len();
        }
        Ok(())
    }

    /// Fills the buffer with the bytes from offset `start`.
    pub(crate) fn read_at(&self, start: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &self.bytes {
            Bytes::File(file, _) => read_exact_at(file, start, buffer),
            Bytes::Part(part) => read_exact_at(&*part.file()?, start, buffer),
            Bytes::Synthetic(weights) => weights.read_at(start, buffer),
            Bytes::Memory(bytes) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let end = start.saturating_add(buffer.len());
                let bytes = bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
                buffer.copy_from_slice(bytes);
                Ok(())
            }
            Bytes::Start(known) => known.read_at(start, buffer),
        }
    }

    /// Fails if the file was written to since it was opened, because what was read may then be a
    /// mixture.
    pub(super) fn check_unchanged(&self) -> Result<(), EngineError> {
        let checked = match &self.bytes {
            Bytes::File(file, identity) => identity.check(file),
            Bytes::Part(part) => part.check(),
            Bytes::Synthetic(_) | Bytes::Memory(_) | Bytes::Start(_) => Ok(()),
        };
        checked.map_err(|error| self.unreadable(error))
    }

    pub(super) fn unreadable(&self, source: io::Error) -> EngineError {
        EngineError::FileUnreadable {
            what: WHAT,
            source,
            path: self.path.clone(),
        }
    }

    pub(super) fn memory_short(&self, n_bytes: usize) -> EngineError {
        EngineError::OutOfMemory {
            n_bytes,
            path: self.path.clone(),
        }
    }

    pub(super) fn malformed(&self, reason: impl Into<String>) -> EngineError {
        EngineError::malformed(WHAT, reason, &self.path)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, start: u64, buffer: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, start)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut start: u64, mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, start) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n_read) => {
                start += n_read as u64;
                buffer = buffer.split_at_mut(n_read).1;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Source;
    use std::path::Path;

    #[test]
    fn a_file_and_memory_return_the_same_bytes() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let path = folder.join("assets/model/quartet-stories-q8_0.gguf");
        let bytes = std::fs::read(&path).unwrap();
        let n_all = bytes.len();
        let file = Source::file(&path, "The model").unwrap();
        let memory = Source::memory(bytes.clone(), "");
        for source in [file, memory] {
            for (start, n_bytes) in [(0, 0), (0, n_all), (3, 262_144), (n_all - 1, 1)] {
                let found = source.take(start as u64, n_bytes).unwrap();
                assert!(found == bytes[start..][..n_bytes], "{start}, {n_bytes}");
            }
            for (start, n_bytes) in [(n_all as u64, 1), (0, n_all + 1), (u64::MAX, 9)] {
                let error = source.take(start, n_bytes).unwrap_err().to_string();
                assert!(error.starts_with("The model’s weights could not be read"));
            }
            let error = source.take(0, usize::MAX).unwrap_err().to_string();
            assert!(error.contains("not enough memory for"), "{error}");
        }
    }

    #[test]
    fn a_folder_is_rejected() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let error = Source::file(folder, "The model").unwrap_err();
        assert!(error.to_string().contains("it is not a file"));
    }
}

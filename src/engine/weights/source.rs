//! Where weights are read from: a file, memory, or what makes them.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;

use super::WHAT;
use super::made::Made;
use crate::engine::EngineError;

/// Bytes that can be read from any place, by several threads at once.
#[derive(Debug)]
pub struct Source {
    bytes: Bytes,
    n_bytes: u64,
    path: String,
}

#[derive(Debug)]
enum Bytes {
    File(File),
    Made(Made),
    Memory(Cow<'static, [u8]>),
}

impl Source {
    /// A file. `what` is what it is called where it can't be opened.
    pub fn file(path: &Path, what: &'static str) -> Result<Self, EngineError> {
        let opened = std::fs::metadata(path).and_then(|metadata| {
            // Opening a pipe would wait for somebody to write to it.
            if !metadata.is_file() {
                return Err(io::Error::other("it is not a file"));
            }
            let file = File::open(path)?;
            let n_bytes = file.metadata()?.len();
            Ok((file, n_bytes))
        });
        let path = path.display().to_string();
        match opened {
            Ok((file, n_bytes)) => Ok(Self {
                bytes: Bytes::File(file),
                n_bytes,
                path,
            }),
            Err(source) => Err(EngineError::FileUnreadable { what, source, path }),
        }
    }

    /// Bytes that are there already. `path` stands for them in messages.
    pub fn memory(bytes: impl Into<Cow<'static, [u8]>>, path: &str) -> Self {
        let bytes = bytes.into();
        Self {
            n_bytes: bytes.len() as u64,
            bytes: Bytes::Memory(bytes),
            path: path.to_owned(),
        }
    }

    /// Bytes that are made when they are read. `path` stands for them in messages.
    pub fn made(made: Made, path: &str) -> Self {
        Self {
            n_bytes: made.n_bytes(),
            bytes: Bytes::Made(made),
            path: path.to_owned(),
        }
    }

    /// How many bytes there are.
    pub const fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    /// Where it is, for messages.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The bytes from `start` on, as many as that.
    pub fn take(&self, start: u64, n_bytes: usize) -> Result<Vec<u8>, EngineError> {
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(n_bytes).is_err() {
            return Err(self.memory_short(n_bytes));
        }
        self.take_into(start, n_bytes, &mut bytes)?;
        Ok(bytes)
    }

    /// Adds the bytes from `start` on, as many as that.
    pub fn take_into(
        &self,
        start: u64,
        n_bytes: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<(), EngineError> {
        /// Fits into a processor's cache, from where it is copied to its place: so that place needs
        /// no zeros before.
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

    /// Fills the buffer with the bytes from `start` on.
    pub fn read_at(&self, start: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &self.bytes {
            Bytes::File(file) => read_exact_at(file, start, buffer),
            Bytes::Made(made) => made.read_at(start, buffer),
            Bytes::Memory(bytes) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let end = start.saturating_add(buffer.len());
                let bytes = bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
                buffer.copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    pub(super) fn unreadable(&self, source: io::Error) -> EngineError {
        EngineError::FileUnreadable {
            what: WHAT,
            source,
            path: self.path.clone(),
        }
    }

    pub(super) fn memory_short(&self, n_bytes: usize) -> EngineError {
        EngineError::MemoryShort {
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
    fn a_file_and_memory_give_the_same_bytes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
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
                assert!(error.starts_with("The model's weights could not be read"));
            }
            let error = source.take(0, usize::MAX).unwrap_err().to_string();
            assert!(error.contains("not enough memory for"), "{error}");
        }
    }

    #[test]
    fn what_is_not_a_file_is_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error = Source::file(folder, "The model").unwrap_err();
        assert!(error.to_string().contains("it is not a file"));
    }
}

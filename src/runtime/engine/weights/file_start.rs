//! The first bytes of a file that is not on this computer.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::generation::RemoteFile;

/// More values than this in a vector mean a broken file.
pub(super) const N_MAX_VECTOR_VALUES: usize = 1 << 24;

/// The files whose known bytes did not suffice, each with how many of its bytes are needed. Clones
/// share the same list.
#[derive(Debug, Clone, Default)]
pub(crate) struct WantedBytes(Arc<Mutex<BTreeMap<String, u64>>>);

impl WantedBytes {
    /// Notes that a file must be known up to this many bytes.
    pub(crate) fn note(&self, file: &str, n_bytes: u64) {
        let mut wanted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = wanted.entry(file.to_owned()).or_default();
        *noted = n_bytes.max(*noted);
    }

    /// Returns what was noted so far.
    pub(crate) fn noted(&self) -> BTreeMap<String, u64> {
        let wanted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.clone()
    }
}

/// The first bytes of a file, as a source of bytes.
#[derive(Debug)]
pub(super) struct FileStart {
    name: String,
    file: RemoteFile,
    wanted: WantedBytes,
}

impl FileStart {
    pub(super) fn new(name: &str, file: &RemoteFile, wanted: &WantedBytes) -> Self {
        Self {
            name: name.to_owned(),
            file: file.clone(),
            wanted: wanted.clone(),
        }
    }

    /// Fails, and notes what is needed, unless the bytes up to `end` are known.
    pub(super) fn require(&self, end: u64) -> io::Result<()> {
        if end > self.file.n_bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if end > self.file.start.len() as u64 {
            self.wanted.note(&self.name, end);
            return Err(io::Error::other("only its first bytes are known"));
        }
        Ok(())
    }

    /// Fills the buffer with the bytes from offset `start`.
    pub(super) fn read_at(&self, start: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = start.saturating_add(buffer.len() as u64);
        self.require(end)?;
        let bytes = self.file.start.get(start as usize..end as usize);
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{FileStart, WantedBytes};
    use crate::generation::RemoteFile;

    #[test]
    fn unknown_bytes_are_noted_and_those_beyond_the_end_are_not() {
        let wanted = WantedBytes::default();
        let file = RemoteFile {
            n_bytes: 9,
            start: Arc::new(vec![1, 2, 3]),
        };
        let start = FileStart::new("a.gguf", &file, &wanted);
        let mut two = [0; 2];
        start.read_at(1, &mut two).unwrap();
        assert_eq!(two, [2, 3]);
        assert!(start.read_at(8, &mut two).is_err());
        assert!(start.read_at(u64::MAX, &mut two).is_err());
        assert!(wanted.noted().is_empty());
        assert!(start.read_at(5, &mut two).is_err());
        assert!(start.read_at(2, &mut two).is_err());
        assert_eq!(wanted.noted(), [("a.gguf".to_owned(), 7)].into());
    }
}

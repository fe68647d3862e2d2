//! Reads the values in the header of a GGUF file. Does not trust the lengths that the file claims.

use std::io::{self, BufReader, Read};

use super::super::Source;
use crate::engine::EngineError;

/// The most values that a header may contain, including array elements and tensors. Several times
/// what the largest vocabularies need, and few enough to fit into any memory.
const N_MAX_VALUES: u64 = 1 << 22;

/// A cursor over the values of a header.
pub(super) struct Reader<'a> {
    source: &'a Source,
    bytes: BufReader<Bytes<'a>>,
    position: u64,
    /// How many values the header may still contain before it exceeds [`N_MAX_VALUES`].
    n_values_left: u64,
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of the source.
    pub(super) fn new(source: &'a Source) -> Self {
        let bytes = Bytes {
            source,
            position: 0,
        };
        Self {
            source,
            bytes: BufReader::with_capacity(1 << 16, bytes),
            position: 0,
            n_values_left: N_MAX_VALUES,
        }
    }

    /// Returns the number of bytes read so far.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// Checks, before memory is allocated, that the rest of the file can hold `n_values` values of
    /// at least `n_value_bytes` each. `what` names them in the error.
    pub(super) fn check_count(
        &mut self,
        n_values: u64,
        n_value_bytes: u64,
        what: &str,
    ) -> Result<usize, EngineError> {
        let n_left = self.source.n_bytes().saturating_sub(self.position);
        if n_values.saturating_mul(n_value_bytes) > n_left {
            return Err(self.malformed(format!(
                "its header claims {n_values} {what}, more than the rest of the file can hold"
            )));
        }
        let Some(n_values_left) = self.n_values_left.checked_sub(n_values) else {
            return Err(self.malformed(format!(
                "its header has more than {N_MAX_VALUES} values, including {n_values} {what}"
            )));
        };
        self.n_values_left = n_values_left;
        Ok(n_values as usize)
    }

    /// Reads the next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], EngineError> {
        let mut array = [0; N];
        self.fill(&mut array)?;
        Ok(array)
    }

    /// Reads the next 32-bit number.
    pub(super) fn u32(&mut self) -> Result<u32, EngineError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Reads the next 64-bit number.
    pub(super) fn u64(&mut self) -> Result<u64, EngineError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Reads the next string, which is preceded by its length. `what` names it in messages.
    pub(super) fn text(&mut self, what: &str) -> Result<String, EngineError> {
        let n_bytes = self.u64()?;
        if n_bytes > self.source.n_bytes().saturating_sub(self.position) {
            return Err(self.malformed(format!("{what} extends beyond the end of the file")));
        }
        self.source.require(self.position.saturating_add(n_bytes))?;
        let mut bytes = vec![0; n_bytes as usize];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes)
            .map_err(|error| self.malformed(format!("{what} is not valid UTF-8: {error}")))
    }

    /// Returns the path of the file, for messages.
    pub(super) fn path(&self) -> &str {
        self.source.path()
    }

    /// Returns an error saying that the header is malformed.
    pub(super) fn malformed(&self, reason: impl Into<String>) -> EngineError {
        self.source.malformed(reason)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), EngineError> {
        match self.bytes.read_exact(buffer) {
            Ok(()) => {
                self.position += buffer.len() as u64;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.malformed("the file ends inside its header"))
            }
            Err(error) => Err(self.source.unreadable(error)),
        }
    }
}

/// Reads a source sequentially.
struct Bytes<'a> {
    source: &'a Source,
    position: u64,
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_left = self.source.n_bytes() - self.position;
        let n_bytes = (buffer.len() as u64).min(n_left) as usize;
        let (buffer, _) = buffer.split_at_mut(n_bytes);
        self.source.read_at(self.position, buffer)?;
        self.position += n_bytes as u64;
        Ok(n_bytes)
    }
}

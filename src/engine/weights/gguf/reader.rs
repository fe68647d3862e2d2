//! Reads the header of a GGUF file, which says of everything how long it is, and must not be believed.

use std::io::{self, BufReader, Read};

use super::super::Source;
use crate::engine::EngineError;

/// The most values that a header may have, arrays and tensors included: several times what the
/// largest vocabularies need, and little enough that they fit into any memory.
const N_MAX_VALUES: u64 = 1 << 22;

/// The numbers and texts of a header, one after another.
pub struct Reader<'a> {
    source: &'a Source,
    bytes: BufReader<Bytes<'a>>,
    position: u64,
    n_values_left: u64,
}

impl<'a> Reader<'a> {
    /// At the beginning of the source.
    pub fn new(source: &'a Source) -> Self {
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

    /// How many bytes have been read.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Makes sure that the header can hold so many values, each of `n_value_bytes` at least, before
    /// there is memory for them.
    pub fn expect(
        &mut self,
        n_values: u64,
        n_value_bytes: u64,
        what: &str,
    ) -> Result<usize, EngineError> {
        let n_left = self.source.n_bytes().saturating_sub(self.position);
        if n_values.saturating_mul(n_value_bytes) > n_left {
            return Err(self.malformed(format!(
                "its header promises {n_values} {what}, more than there are bytes left for"
            )));
        }
        let Some(n_values_left) = self.n_values_left.checked_sub(n_values) else {
            return Err(self.malformed(format!(
                "its header has more than {N_MAX_VALUES} values, with {n_values} {what}"
            )));
        };
        self.n_values_left = n_values_left;
        Ok(n_values as usize)
    }

    /// The next bytes, as many as the array holds.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], EngineError> {
        let mut array = [0; N];
        self.fill(&mut array)?;
        Ok(array)
    }

    /// The next number.
    pub fn u32(&mut self) -> Result<u32, EngineError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// The next number.
    pub fn u64(&mut self) -> Result<u64, EngineError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// The next text, which its length stands before. `what` names it in messages.
    pub fn text(&mut self, what: &str) -> Result<String, EngineError> {
        let n_bytes = self.u64()?;
        if n_bytes > self.source.n_bytes().saturating_sub(self.position) {
            return Err(self.malformed(format!("{what} ends beyond the end of the file")));
        }
        let mut bytes = vec![0; n_bytes as usize];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes)
            .map_err(|error| self.malformed(format!("{what} is not UTF-8 text: {error}")))
    }

    /// Where the file is, for messages.
    pub fn path(&self) -> &str {
        self.source.path()
    }

    /// The error that the header is not what it should be.
    pub fn malformed(&self, reason: impl Into<String>) -> EngineError {
        self.source.malformed(reason)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), EngineError> {
        match self.bytes.read_exact(buffer) {
            Ok(()) => {
                self.position += buffer.len() as u64;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.malformed("the file ends within its header"))
            }
            Err(error) => Err(self.source.unreadable(error)),
        }
    }
}

/// A source from its beginning to its end.
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

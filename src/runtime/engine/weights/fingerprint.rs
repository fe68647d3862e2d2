//! The SHA-256 of a model's files, computed on a separate thread while the tensors are read.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use sha2::{Digest, Sha256};

use super::source::Source;
use crate::engine::EngineError;

/// How many bytes to hash at a time: few enough to stay in the CPU cache, many enough that progress
/// messages are rare.
const N_PIECE_BYTES: u64 = 1 << 20;

/// How many pieces may be hashed before the receiver counts them.
const N_MAX_UNCOUNTED: u64 = 1 << 16;

/// A hash that is being computed. Dropping it ends its thread.
#[derive(Debug)]
pub(super) struct Fingerprint {
    /// The size in bytes of each piece that has been hashed.
    pieces: Receiver<u64>,
    thread: JoinHandle<Result<String, EngineError>>,
    n_hashed: u64,
}

impl Fingerprint {
    /// Starts hashing the concatenation of the sources.
    pub(super) fn start(sources: Vec<Arc<Source>>) -> std::io::Result<Self> {
        let n_pieces: u64 = sources
            .iter()
            .map(|source| source.n_bytes().div_ceil(N_PIECE_BYTES))
            .sum();
        // The hashing thread only waits if the receiver falls far behind.
        let (sender, pieces) = sync_channel(n_pieces.min(N_MAX_UNCOUNTED) as usize);
        let thread = Builder::new()
            .name("sha256".to_owned())
            .spawn(move || hash(&sources, &sender))?;
        Ok(Self {
            pieces,
            thread,
            n_hashed: 0,
        })
    }

    /// Returns how many bytes have been hashed so far.
    pub(super) fn n_hashed(&mut self) -> u64 {
        self.n_hashed += self.pieces.try_iter().sum::<u64>();
        self.n_hashed
    }

    /// Waits for the hash of all bytes and returns it in hexadecimal. Calls `on_progress` with the
    /// number of bytes hashed so far, and returns `None` if that breaks.
    pub(super) fn finish(
        self,
        on_progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<String>, EngineError> {
        let mut n_hashed = self.n_hashed;
        for n_bytes in self.pieces {
            n_hashed += n_bytes;
            if on_progress(n_hashed).is_break() {
                return Ok(None);
            }
        }
        match self.thread.join() {
            Ok(hash) => hash.map(Some),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn hash(sources: &[Arc<Source>], pieces: &SyncSender<u64>) -> Result<String, EngineError> {
    let mut hasher = Sha256::new();
    let mut piece = Vec::new();
    for source in sources {
        let mut position = 0;
        while position < source.n_bytes() {
            let n_bytes = N_PIECE_BYTES.min(source.n_bytes() - position);
            piece.resize(n_bytes as usize, 0);
            source
                .read_at(position, &mut piece)
                .map_err(|error| source.unreadable(error))?;
            hasher.update(&piece);
            position += n_bytes;
            if pieces.send(n_bytes).is_err() {
                // The receiver is gone.
                return Ok(String::new());
            }
        }
    }
    Ok(hexadecimal(hasher))
}

/// Returns the SHA-256 of these bytes in hexadecimal.
pub(crate) fn sha256_of(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

fn hexadecimal(hasher: Sha256) -> String {
    let mut text = String::new();
    for byte in hasher.finalize() {
        // Writing to a `String` can't fail.
        write!(text, "{byte:02x}").ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Arc, ControlFlow, Fingerprint, Source};

    /// The examples "abc" and one million repetitions of "a" from FIPS 180-2.
    #[test]
    fn sources_are_hashed_as_if_concatenated() {
        let million = vec![b'a'; 500_000];
        for (parts, expected) in [
            (
                vec![b"a".to_vec(), Vec::new(), b"bc".to_vec()],
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                vec![million.clone(), million],
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            let n_bytes: usize = parts.iter().map(Vec::len).sum();
            let sources: Vec<_> = parts
                .into_iter()
                .map(|part| Arc::new(Source::memory(part, "")))
                .collect();
            let mut fingerprint = Fingerprint::start(sources).unwrap();
            let mut n_hashed = fingerprint.n_hashed();
            let hash = fingerprint.finish(&mut |n| {
                n_hashed = n;
                ControlFlow::Continue(())
            });
            assert_eq!(hash.unwrap().unwrap(), expected);
            assert!(n_hashed == 0 || n_hashed == n_bytes as u64);
        }
    }

    #[test]
    fn a_break_ends_the_progress_reports() {
        let source = Source::memory(vec![0; 5 << 20], "");
        let fingerprint = Fingerprint::start(vec![Arc::new(source)]).unwrap();
        let mut n_reports = 0;
        let hash = fingerprint.finish(&mut |_| {
            n_reports += 1;
            ControlFlow::Break(())
        });
        assert_eq!((hash.unwrap(), n_reports), (None, 1));
    }
}

//! The SHA-256 of a model's files, computed on a thread of its own while their tensors are taken.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use sha2::{Digest, Sha256};

use super::source::Source;
use crate::engine::EngineError;

/// How much is hashed at a time: enough to be told rarely, little enough to stay in the cache.
const N_PIECE_BYTES: u64 = 1 << 20;

/// How many pieces may be hashed before somebody counts them.
const N_MAX_UNCOUNTED: u64 = 1 << 16;

/// A hash in the making. Dropping it ends its thread.
#[derive(Debug)]
pub struct Fingerprint {
    pieces: Receiver<u64>,
    thread: JoinHandle<Result<String, EngineError>>,
    n_hashed: u64,
}

impl Fingerprint {
    /// Begins to hash the sources, one after another as if they were one.
    pub fn start(sources: Arc<[Source]>) -> std::io::Result<Self> {
        let n_pieces: u64 = sources
            .iter()
            .map(|source| source.n_bytes().div_ceil(N_PIECE_BYTES))
            .sum();
        // Hashing does not wait for whoever counts the pieces, unless that is very far behind.
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

    /// How many bytes are hashed by now.
    pub fn n_hashed(&mut self) -> u64 {
        self.n_hashed += self.pieces.try_iter().sum::<u64>();
        self.n_hashed
    }

    /// The hash of all bytes, in hexadecimal. Waits for it, and tells how many are hashed meanwhile;
    /// nothing comes back where whoever is told has enough.
    pub fn finish(
        self,
        told: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<String>, EngineError> {
        let mut n_hashed = self.n_hashed;
        for n_bytes in self.pieces {
            n_hashed += n_bytes;
            if told(n_hashed).is_break() {
                return Ok(None);
            }
        }
        match self.thread.join() {
            Ok(hash) => hash.map(Some),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn hash(sources: &[Source], pieces: &SyncSender<u64>) -> Result<String, EngineError> {
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
                // Nobody wants to know any more.
                return Ok(String::new());
            }
        }
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        // Writing to a string can't fail.
        write!(text, "{byte:02x}").ok();
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{ControlFlow, Fingerprint, Source};

    /// The examples "abc" and a million times "a" of FIPS 180-2.
    #[test]
    fn sources_are_hashed_as_one_text() {
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
            let sources: Vec<Source> = parts
                .into_iter()
                .map(|part| Source::memory(part, ""))
                .collect();
            let mut fingerprint = Fingerprint::start(sources.into()).unwrap();
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
    fn who_has_heard_enough_hears_no_more() {
        let source = Source::memory(vec![0; 5 << 20], "");
        let fingerprint = Fingerprint::start([source].into()).unwrap();
        let mut n_told = 0;
        let hash = fingerprint.finish(&mut |_| {
            n_told += 1;
            ControlFlow::Break(())
        });
        assert_eq!((hash.unwrap(), n_told), (None, 1));
    }
}

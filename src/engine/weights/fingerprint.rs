//! The SHA-256 of a file, computed on a thread of its own while the file is being read.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use sha2::{Digest, Sha256};

/// How many pieces may wait to be hashed, so that reading can't run ahead without end.
const N_WAITING: usize = 8;

/// A hash in the making.
pub struct Fingerprint {
    sender: SyncSender<Arc<Vec<u8>>>,
    thread: JoinHandle<String>,
}

impl Fingerprint {
    /// The hash of nothing yet.
    pub fn start() -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel::<Arc<Vec<u8>>>(N_WAITING);
        let thread = Builder::new().name("sha256".to_owned()).spawn(move || {
            let mut hasher = Sha256::new();
            for bytes in receiver {
                hasher.update(bytes.as_slice());
            }
            hasher
                .finalize()
                .iter()
                .fold(String::new(), |mut text, byte| {
                    // Writing to a string can't fail.
                    write!(text, "{byte:02x}").ok();
                    text
                })
        })?;
        Ok(Self { sender, thread })
    }

    /// The file's next bytes.
    pub fn add(&self, bytes: Arc<Vec<u8>>) {
        // The thread ends only when this sender is dropped.
        self.sender.send(bytes).ok();
    }

    /// The hash of all bytes, in hexadecimal.
    pub fn finish(self) -> String {
        drop(self.sender);
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;
    use std::sync::Arc;

    /// The example "abc" of FIPS 180-2.
    #[test]
    fn pieces_are_hashed_as_one_text() {
        let fingerprint = Fingerprint::start().unwrap();
        for piece in ["a", "", "bc"] {
            fingerprint.add(Arc::new(piece.as_bytes().to_vec()));
        }
        assert_eq!(
            fingerprint.finish(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}

//! Reads the small files of a model, such as its settings, up to a size limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::EngineError;
use crate::generation::ByteSize;

/// The largest settings file that is read. Most have a few kilobytes, an index a few megabytes.
pub(super) const N_MAX_SETTINGS_BYTES: u64 = 64 << 20;

/// The largest `tokenizer.json` that is read. Most have no more than 40 MB.
pub(super) const N_MAX_TOKENIZER_BYTES: u64 = 512 << 20;

/// Reads a file of at most `n_max` bytes. `what` is the subject of the error.
pub(super) fn read_at_most(
    n_max: u64,
    path: &Path,
    what: &'static str,
) -> Result<Vec<u8>, EngineError> {
    let read = || -> io::Result<(u64, Vec<u8>)> {
        let file = File::open(path)?;
        let n_bytes = file.metadata()?.len();
        let mut bytes = Vec::new();
        if n_bytes <= n_max {
            // The file may grow, or be a pipe.
            file.take(n_max + 1).read_to_end(&mut bytes)?;
        }
        Ok((n_bytes.max(bytes.len() as u64), bytes))
    };
    let (n_bytes, bytes) = read().map_err(|source| EngineError::FileUnreadable {
        what,
        source,
        path: path.display().to_string(),
    })?;
    if n_bytes > n_max {
        return Err(EngineError::FileTooLarge {
            what,
            n_bytes: ByteSize(n_bytes),
            n_max: ByteSize(n_max),
            path: path.display().to_string(),
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{N_MAX_SETTINGS_BYTES, read_at_most};

    #[test]
    fn a_file_that_is_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        // A hole, which takes no disk space.
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(15_000_000_000).unwrap();
        let error =
            read_at_most(N_MAX_SETTINGS_BYTES, &path, "The model's configuration").unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("The model's configuration has 15"),
            "{message}"
        );
        assert!(
            message.ends_with(&format!("\n{}", path.display())),
            "{message}"
        );
        file.set_len(10).unwrap();
        assert_eq!(read_at_most(10, &path, "It").unwrap().len(), 10);
        assert!(read_at_most(9, &path, "It").is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_endless_file_is_not_read_to_its_end() {
        let endless = std::path::Path::new("/dev/zero");
        assert!(read_at_most(1000, endless, "It").is_err());
    }
}

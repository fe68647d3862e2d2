//! Puts bytes where people keep them, whole or not at all.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file. Whoever reads it meanwhile finds the old one or the new one, never a part, because
/// the bytes go to a temporary file in the same folder that takes the name when it is whole.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Without this a missing folder is reported with the temporary file's name.
    std::fs::metadata(folder)?;
    let mut file = temporary_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Unlike other temporary files, ours becomes a usual file, which others may read.
fn temporary_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::write_whole;

    #[test]
    fn a_file_replaces_the_one_before_it_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        write_whole(&path, b"a longer text").unwrap();
        write_whole(&path, b"short").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"short");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_and_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        assert!(write_whole(&missing.join("run.json"), b"{}").is_err());
        assert!(!missing.exists());
    }
}

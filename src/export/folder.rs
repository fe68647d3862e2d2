//! Writing several files into a folder: all of them or none.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use super::file::{PREFIX, remove_stale_temporaries};

/// Writes these files, by name, into an existing folder. They are written to a temporary folder
/// beside it, which then takes its place. If the folder also contains other files, or the system
/// can't swap folders, it stays, and the new files are moved into it once all are complete.
pub fn write_folder(folder: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let folder = fs::canonicalize(folder)?;
    let Some(parent) = folder.parent() else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    remove_stale_temporaries(parent);
    // Only the kind is kept, because the message names the temporary folder.
    let staging = staging_in(parent).map_err(|error| io::Error::from(error.kind()))?;
    for (name, bytes) in files {
        let file = fs::File::create_new(staging.path().join(name))?;
        io::Write::write_all(&mut &file, bytes)?;
        file.sync_all()?;
    }
    // Swapping the current folder of a shell would leave the shell in a deleted folder.
    let is_current = std::env::current_dir().is_ok_and(|current| current.starts_with(&folder));
    if !is_current && has_only(&folder, files)? {
        fs::set_permissions(staging.path(), fs::metadata(&folder)?.permissions()).ok();
        // The old files are now in the temporary folder and are removed with it.
        if exchange(&folder, staging.path()).is_ok() {
            return Ok(());
        }
    }
    for (name, _) in files {
        fs::rename(staging.path().join(name), folder.join(name))?;
    }
    Ok(())
}

fn staging_in(parent: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder.prefix(PREFIX).tempdir_in(parent)
}

/// Returns whether a folder contains no files but these, so that it can be replaced.
fn has_only(folder: &Path, files: &[(String, Vec<u8>)]) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let name: OsString = entry?.file_name();
        if !files.iter().any(|(known, _)| name == known.as_str()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Swaps two folders in one step, so that a program killed at any moment leaves one or the other.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::write_folder;

    fn files(content: &str) -> Vec<(String, Vec<u8>)> {
        let file = |name: &str| (name.to_owned(), content.as_bytes().to_vec());
        vec![file("run.json"), file("run.md")]
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_replaced_as_a_whole_and_other_files_in_it_stay() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("export");
        fs::create_dir(&folder).unwrap();
        for (content, others) in [("1", &[][..]), ("2", &[]), ("3", &["notes.txt"])] {
            for other in others {
                fs::write(folder.join(other), "mine").unwrap();
            }
            write_folder(&folder, &files(content)).unwrap();
            for (name, bytes) in files(content) {
                assert_eq!(fs::read(folder.join(name)).unwrap(), bytes);
            }
            assert_eq!(names(&folder).len(), 2 + others.len());
            assert_eq!(names(home.path()), ["export"], "nothing is left beside it");
        }
        assert_eq!(fs::read(folder.join("notes.txt")).unwrap(), b"mine");
    }

    #[test]
    fn a_failure_changes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("export");
        fs::create_dir(&folder).unwrap();
        write_folder(&folder, &files("1")).unwrap();
        let mut broken = files("2");
        broken.push(("no/such/folder".to_owned(), Vec::new()));
        assert!(write_folder(&folder, &broken).is_err());
        assert_eq!(fs::read(folder.join("run.json")).unwrap(), b"1");
        assert_eq!(names(home.path()), ["export"]);
    }
}

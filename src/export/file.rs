//! Writing files atomically, completely or not at all, and reading them up to a limit.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

/// Writes a file atomically: concurrent readers see the old or the new content, never a part of it.
/// The bytes go to a temporary file in the same folder, which is renamed when it is complete. A
/// symbolic link is kept, and its target is written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    check_writable(path)?;
    match fs::metadata(path) {
        // "/dev/stdout" redirected to a file: append, to keep what others have written to it.
        Ok(before) if before.is_file() && is_stream(path) => {
            OpenOptions::new().append(true).open(path)?.write_all(bytes)
        }
        Ok(before) if before.is_file() => {
            let permissions = Some(before.permissions());
            if path.is_symlink() {
                replace(&fs::canonicalize(path)?, bytes, permissions)
            } else {
                replace(path, bytes, permissions)
            }
        }
        // A device or pipe has no content to protect, and replacing it with a file would destroy
        // it.
        Ok(_) => OpenOptions::new().write(true).open(path)?.write_all(bytes),
        // A dangling link: create its target.
        Err(_) if path.is_symlink() => {
            let mut file = File::create(path)?;
            file.write_all(bytes)?;
            file.sync_all()
        }
        Err(_) => replace(path, bytes, None),
    }
}

/// Reads all of a source. Returns `None` if it holds more than `n_max` bytes.
pub fn read_at_most(source: impl Read, n_max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(n_max + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= n_max).then_some(bytes))
}

/// Returns whether the path names one of this process's open streams.
fn is_stream(path: &Path) -> bool {
    let names = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];
    path.is_symlink() && names.iter().any(|name| path.starts_with(name))
}

/// Fails if [`write_atomically`] would fail, as far as can be known without writing.
pub fn check_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // Renaming over a read-only file would succeed and ignore its permissions.
        Ok(before) if before.is_file() && before.permissions().readonly() => {
            Err(io::ErrorKind::PermissionDenied.into())
        }
        Ok(before) if before.is_file() || before.is_dir() => {
            OpenOptions::new().write(true).open(path).map(drop)
        }
        // Opening a pipe may block until it has a reader, and the target of a dangling link is
        // unknown. So neither is tried.
        Ok(_) => Ok(()),
        Err(_) if path.is_symlink() => Ok(()),
        Err(_) => {
            let folder = folder_of(path);
            require_folder(folder)?;
            // An unnamed file disappears immediately. Only the kind of the error is kept, because
            // its message would name the temporary file.
            let created = tempfile::tempfile_in(folder).map(drop);
            created.map_err(|error| error.kind().into())
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn require_folder(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.is_dir() {
        Ok(())
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

fn replace(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    // Only the kinds of some errors are kept, because their messages name the temporary file.
    let mut file = temporary_in(folder_of(path)).map_err(|error| io::Error::from(error.kind()))?;
    file.as_file_mut().write_all(bytes)?;
    if let Some(permissions) = permissions {
        // A file system without permissions is no reason to lose the content.
        file.as_file().set_permissions(permissions).ok();
    }
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The prefix of the names of temporary files and folders.
pub(super) const PREFIX: &str = ".quartet-";

/// The age from which no running program can still be writing a temporary file.
const STALE_AGE: Duration = Duration::from_hours(1);

/// Removes the temporary files that a program left in a folder when it was killed while saving.
/// Failures are ignored: the files only take up space.
pub fn remove_stale_temporaries(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        if is_ours && age.is_some_and(|age| age >= STALE_AGE) {
            let path = entry.path();
            fs::remove_file(&path)
                .or_else(|_folder| fs::remove_dir_all(&path))
                .ok();
        }
    }
}

/// Creates a temporary file that others may read, because it becomes a regular file.
fn temporary_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(Permissions::from_mode(0o666));
    }
    builder.prefix(PREFIX).tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::{PREFIX, STALE_AGE, remove_stale_temporaries, write_atomically};

    #[test]
    fn writing_replaces_the_file_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        write_atomically(&path, b"a longer text").unwrap();
        write_atomically(&path, b"short").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"short");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn only_old_temporary_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * STALE_AGE;
        for (name, is_old) in [
            (".quartet-abc", true),
            (".quartet-new", false),
            ("run.json", true),
        ] {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            if is_old {
                file.set_modified(old).unwrap();
            }
        }
        remove_stale_temporaries(folder.path());
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".quartet-new", "run.json"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_without_the_temporary_files_name() {
        // It can be opened, but every write fails.
        let full = std::path::Path::new("/dev/full");
        let error = write_atomically(full, b"{}").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        assert!(!error.to_string().contains(PREFIX), "{error}");
    }

    #[test]
    fn a_missing_folder_is_an_error_and_is_not_created() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        assert!(write_atomically(&missing.join("run.json"), b"{}").is_err());
        assert!(!missing.exists());
    }

    #[test]
    fn a_read_only_file_is_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, b"dear").unwrap();
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        let error = write_atomically(&path, b"new").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
        assert_eq!(std::fs::read(&path).unwrap(), b"dear");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_are_kept() {
        use std::fs::{self, Permissions};
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("7.json"), folder.path().join("latest"));
        symlink("7.json", &link).unwrap();
        write_atomically(&link, b"the first").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        write_atomically(&link, b"the second").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"the second");
        assert!(link.is_symlink());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn writing_to_a_redirected_stream_appends() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.txt");
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(b"before, ").unwrap();
        let stream = format!("/dev/fd/{}", file.as_raw_fd());
        write_atomically(std::path::Path::new(&stream), b"after").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"before, after");
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_written_and_not_replaced() {
        use std::io::Read as _;
        use std::os::fd::AsRawFd as _;
        use std::path::PathBuf;

        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("nowhere");
        // A link rather than /dev/null itself, which a bug here would delete for everyone.
        std::os::unix::fs::symlink("/dev/null", &nowhere).unwrap();
        write_atomically(&nowhere, b"{}").unwrap();
        assert!(nowhere.is_symlink());

        let (mut reader, writer) = std::io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", writer.as_raw_fd()));
        write_atomically(&path, b"{}").unwrap();
        drop(writer);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"{}");
    }
}

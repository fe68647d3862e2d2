//! Walks through folders of unknown size within limits: depth, number of entries, and time.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// How many levels of folders below the first one are entered: more than any program nests models.
const MAX_DEPTH: usize = 6;

const MAX_ENTRIES: usize = 50_000;

const MAX_TIME: Duration = Duration::from_secs(10);

/// What walks may still do, all of them together.
#[derive(Debug)]
pub(super) struct WalkBudget {
    n_entries: usize,
    deadline: Instant,
    was_exceeded: bool,
}

/// A file that a walk found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundFile {
    /// The path below the folder where the walk began, with slashes.
    pub path: String,
    pub n_bytes: u64,
    pub changed_at: Option<SystemTime>,
}

impl Default for WalkBudget {
    fn default() -> Self {
        Self::new(MAX_ENTRIES, MAX_TIME)
    }
}

impl WalkBudget {
    /// Allows this many entries within this time.
    pub(super) fn new(n_entries: usize, time: Duration) -> Self {
        Self {
            n_entries,
            deadline: Instant::now() + time,
            was_exceeded: false,
        }
    }

    /// Returns whether anything was left out because a limit was reached.
    pub(super) const fn was_exceeded(&self) -> bool {
        self.was_exceeded
    }

    /// Lists the entries of a folder, as far as the limits allow.
    pub(super) fn entries(&mut self, folder: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            if self.n_entries == 0 || Instant::now() >= self.deadline {
                self.was_exceeded = true;
                break;
            }
            self.n_entries -= 1;
            entries.extend(entry);
        }
        Ok(entries)
    }

    /// Lists the files below a folder. Follows links, and skips those that lead nowhere, names that
    /// are not UTF-8, and folders below the first one that can’t be read.
    pub(super) fn files(&mut self, folder: &Path) -> io::Result<Vec<FoundFile>> {
        let mut files = Vec::new();
        let mut folders = Vec::new();
        let first = self.entries(folder)?;
        note_entries(first, "", &mut files, &mut folders);
        let mut depth = 0;
        while !folders.is_empty() {
            depth += 1;
            if depth > MAX_DEPTH {
                self.was_exceeded = true;
                break;
            }
            for path in std::mem::take(&mut folders) {
                let entries = self.entries(&folder.join(&path)).unwrap_or_default();
                note_entries(entries, &format!("{path}/"), &mut files, &mut folders);
            }
        }
        Ok(files)
    }
}

/// Sorts entries into files and folders, whose paths begin with `prefix`.
fn note_entries(
    entries: Vec<DirEntry>,
    prefix: &str,
    files: &mut Vec<FoundFile>,
    folders: &mut Vec<String>,
) {
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{prefix}{name}");
        match fs::metadata(entry.path()) {
            Ok(found) if found.is_dir() => folders.push(path),
            Ok(found) => files.push(FoundFile {
                path,
                n_bytes: found.len(),
                changed_at: found.modified().ok(),
            }),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::{MAX_DEPTH, WalkBudget};

    fn paths(folder: &Path, budget: &mut WalkBudget) -> Vec<String> {
        let files = budget.files(folder).unwrap().into_iter();
        let mut paths: Vec<String> = files.map(|file| file.path).collect();
        paths.sort();
        paths
    }

    #[test]
    fn a_walk_has_limits() {
        let home = tempfile::tempdir().unwrap();
        for path in ["a.gguf", "one/b.gguf", "one/two/c.gguf"] {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let mut budget = WalkBudget::default();
        let all = ["a.gguf", "one/b.gguf", "one/two/c.gguf"];
        assert_eq!(paths(home.path(), &mut budget), all);
        assert!(!budget.was_exceeded());
        // The first folder has two entries.
        let mut budget = WalkBudget::new(2, Duration::from_secs(10));
        assert_eq!(paths(home.path(), &mut budget), ["a.gguf"]);
        assert!(budget.was_exceeded());
        let mut budget = WalkBudget::new(100, Duration::ZERO);
        assert!(paths(home.path(), &mut budget).is_empty() && budget.was_exceeded());
        assert!(
            WalkBudget::default()
                .files(&home.path().join("none"))
                .is_err()
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_contains_itself_is_left_after_a_few_levels() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("a.gguf"), "x").unwrap();
        std::os::unix::fs::symlink(home.path(), home.path().join("loop")).unwrap();
        let mut budget = WalkBudget::default();
        assert_eq!(paths(home.path(), &mut budget).len(), MAX_DEPTH + 1);
        assert!(budget.was_exceeded());
    }
}

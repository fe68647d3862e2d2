//! How a snapshot refers to the content of a file. Some disks have no links: exFAT, FAT and some
//! network drives.

use std::fs;
use std::io;
use std::path::Path;

/// The two kinds of links. Each function creates one at the second path that leads to the first.
#[derive(Debug, Clone, Copy)]
pub struct Links {
    /// The first path is relative to the folder of the link.
    pub symbolic: fn(&Path, &Path) -> io::Result<()>,
    pub hard: fn(&Path, &Path) -> io::Result<()>,
}

impl Default for Links {
    fn default() -> Self {
        Self {
            symbolic,
            hard: |content, link| fs::hard_link(content, link),
        }
    }
}

#[cfg(unix)]
fn symbolic(content: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(content, link)
}

/// Other systems require a special permission for symbolic links.
#[cfg(not(unix))]
fn symbolic(_content: &Path, _link: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

//! Tries a folder that the user chose, on a background thread, because network drives can be slow.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use eframe::egui;

use super::background;
use crate::export;
use crate::generation::formatting::io_words;
use crate::state::{Command, FolderCommand, FolderKind};

/// The name of the file that is written to a folder to try it, and then deleted.
const PROBE: &str = ".quartet-probe";

/// Creates the folder if it does not exist, writes a file to it, and sends whether that was
/// possible.
pub(super) fn attempt(
    ctx: egui::Context,
    kind: FolderKind,
    folder: PathBuf,
    answers: SyncSender<Command>,
) {
    background::run(ctx, "try folder", answers, move || {
        let error = try_write(&folder).err().map(|error| io_words(&error));
        Command::Folder(FolderCommand::Tried {
            kind,
            folder,
            error,
        })
    });
}

fn try_write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let probe = folder.join(PROBE);
    export::write_atomically(&probe, b"")?;
    fs::remove_file(probe)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::try_write;

    #[test]
    fn a_folder_is_created_and_left_empty_and_a_file_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("a/quartet-runs");
        try_write(&folder).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(try_write(&file).is_err());
    }
}

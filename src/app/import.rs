//! Imports presets from a file, on a background thread.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use eframe::egui;

use super::background;
use crate::interop::presets::{self, OwnPreset};
use crate::state::{Command, PresetCommand};

/// The largest file to read; anything larger is not a presets file.
const MAX_BYTES: u64 = 4 << 20;

/// Reads a presets file in the background and sends the result as a command.
pub(super) fn presets(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    background::run(ctx, "read presets", answers, || {
        let presets = read(&path);
        Command::Preset(PresetCommand::Import { path, presets })
    });
}

fn read(path: &Path) -> Result<Vec<OwnPreset>, String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err("the file is too large to be a presets file".to_owned());
    }
    presets::file::parse(&bytes)
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, read};
    use crate::export;

    #[test]
    fn a_file_is_read_or_the_error_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("presets.json");
        assert!(read(&path).is_err());
        export::write_atomically(&path, &crate::interop::presets::file::render(&[])).unwrap();
        assert_eq!(read(&path), Ok(Vec::new()));
        export::write_atomically(&path, &vec![b' '; MAX_BYTES as usize + 1]).unwrap();
        assert!(read(&path).unwrap_err().contains("too large"));
    }
}

//! Reads small files of the user's away from the window's thread.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use eframe::egui;

use super::elsewhere;
use crate::interop::presets::{self, OwnPreset};
use crate::state::{Command, PresetCommand};

/// A file of presets is smaller than this; what is larger is something else, and is not read.
const MOST_BYTES: u64 = 4 << 20;

/// Reads a file of presets on a thread of its own; what came of it comes as a command.
pub(super) fn presets(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    elsewhere::answer(ctx, "read presets", answers, || {
        let presets = read(&path);
        Command::Preset(PresetCommand::Import { path, presets })
    });
}

fn read(path: &Path) -> Result<Vec<OwnPreset>, String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err("this file is too large for a file of presets".to_owned());
    }
    presets::file::parse(&bytes)
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, read};
    use crate::export;

    #[test]
    fn a_file_is_read_or_a_sentence_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("presets.json");
        assert!(read(&path).is_err());
        export::write_whole(&path, &crate::interop::presets::file::render(&[])).unwrap();
        assert_eq!(read(&path), Ok(Vec::new()));
        export::write_whole(&path, &vec![b' '; MOST_BYTES as usize + 1]).unwrap();
        assert!(read(&path).unwrap_err().contains("too large"));
    }
}

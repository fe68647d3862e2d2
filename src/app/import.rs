//! Imports presets and texts from files, on a background thread.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use eframe::egui;

use super::background;
use crate::export;
use crate::generation::formatting::{io_words, without_final_line_break};
use crate::interop::presets::{self, OwnPreset};
use crate::state::{Command, LessonCommand, PaneId, PresetCommand, ScoreCommand};

/// The largest file to read. Anything larger is not a presets file, and too long for a model.
const MAX_BYTES: u64 = 4 << 20;

/// Reads a presets file in the background and sends the result as a command.
pub(super) fn presets(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    background::run(ctx, "read presets", answers, || {
        let presets = read(&path);
        Command::Preset(PresetCommand::Import { path, presets })
    });
}

/// Reads a text to be scored in the background and sends the result as a command.
pub(super) fn text(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    background::run(ctx, "read text", answers, || {
        let text = read_text(&path);
        Command::Score(ScoreCommand::Read { path, text })
    });
}

/// Reads a grammar in the background and sends the result as a command.
pub(super) fn grammar(
    ctx: egui::Context,
    pane: PaneId,
    path: PathBuf,
    answers: SyncSender<Command>,
) {
    background::run(ctx, "read grammar", answers, move || {
        let text = read_text(&path);
        Command::GrammarRead { pane, path, text }
    });
}

/// Reads a lesson in the background and sends the result as a command.
pub(super) fn lesson(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    background::run(ctx, "read lesson", answers, move || {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Command::Lesson(LessonCommand::Opened(name.into_owned(), read_text(&path)))
    });
}

fn read(path: &Path) -> Result<Vec<OwnPreset>, String> {
    presets::file::parse(read_whole(path)?.as_bytes())
}

/// Reads a text without its final line break, as `quartet score` does.
fn read_text(path: &Path) -> Result<String, String> {
    Ok(without_final_line_break(&read_whole(path)?).to_owned())
}

fn read_whole(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| io_words(&error))?;
    export::read_text_at_most(file, MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, export, read, read_text};

    #[test]
    fn a_file_is_read_or_the_error_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("presets.json");
        assert!(read(&path).is_err());
        export::write_atomically(&path, &crate::interop::presets::file::render(&[])).unwrap();
        assert_eq!(read(&path), Ok(Vec::new()));
        export::write_atomically(&path, &vec![b' '; MAX_BYTES as usize + 1]).unwrap();
        assert!(read(&path).unwrap_err().contains("more than"));
    }

    #[test]
    fn a_text_is_read_without_its_final_line_break_or_the_error_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fable.txt");
        assert!(read_text(&path).is_err());
        for (written, read) in [
            (&b"A fox\n\n"[..], Ok("A fox\n")),
            (b"A fox\r\n", Ok("A fox")),
            (b"", Ok("")),
            (b"\xef\xbb\xbfA fox", Ok("A fox")),
            (b"\xff\xfe", Err("it is not UTF-8 text; convert it first")),
        ] {
            std::fs::write(&path, written).unwrap();
            let read = read.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(read_text(&path), read);
        }
        std::fs::write(&path, vec![b' '; MAX_BYTES as usize + 1]).unwrap();
        assert!(read_text(&path).unwrap_err().contains("more than"));
    }
}

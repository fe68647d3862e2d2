//! Looks whether models are where they are said to be, away from the window's thread: a drive in the
//! network can take its time.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use eframe::egui;

use super::elsewhere;
use crate::state::{Command, ModelsCommand};

/// The name of the threads that look.
const NAME: &str = "look at models";

/// Sees how large models are, or why they can't be opened any more; the answer comes as a command.
pub(super) fn at(ctx: egui::Context, paths: Vec<PathBuf>, answers: SyncSender<Command>) {
    elsewhere::answer(ctx, NAME, answers, || {
        let seen = paths.into_iter().map(|path| {
            let size = n_bytes(&path);
            (path, size)
        });
        Command::Models(ModelsCommand::Seen(seen.collect()))
    });
}

/// Sees whether what was dropped can be a model; the answer is to open it, or why not.
pub(super) fn at_dropped(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    elsewhere::answer(ctx, NAME, answers, || {
        Command::Models(match refusal(&path) {
            None => ModelsCommand::Open(path),
            Some(reason) => ModelsCommand::DropRefused(reason),
        })
    });
}

/// The size of a model's files of weights, or why it can't be opened.
fn n_bytes(path: &Path) -> Result<u64, String> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => "It is not there any more".to_owned(),
        ErrorKind::PermissionDenied => "It may not be read".to_owned(),
        _ => format!("It can't be reached: {error}"),
    })?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    if !path.join("config.json").is_file() {
        return Err("There is no config.json in this folder any more".to_owned());
    }
    let entries = fs::read_dir(path).map_err(|error| format!("It can't be read: {error}"))?;
    // The files in the folder are often links, of which the size of what they lead to counts.
    let weights = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| has_extension(path, &["safetensors"]));
    Ok(weights
        .filter_map(|path| fs::metadata(path).ok())
        .map(|metadata: Metadata| metadata.len())
        .sum())
}

/// Why this can't be a model; nothing where it can.
fn refusal(path: &Path) -> Option<String> {
    let is_config = path
        .file_name()
        .is_some_and(|name| name == "config.json" || name == "model.safetensors.index.json");
    if path.is_dir() || is_config || has_extension(path, &["gguf", "safetensors"]) {
        return None;
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    Some(format!(
        "‘{}’ is no model. Quartet opens a GGUF file, a safetensors file with config.json beside it, \
         or the folder of both.",
        name.to_string_lossy()
    ))
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| {
        extensions
            .iter()
            .any(|known| found.eq_ignore_ascii_case(known))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{n_bytes, refusal};

    #[test]
    fn files_and_folders_are_as_large_as_their_weights() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, n_bytes) in [
            ("a.gguf", 7),
            ("config.json", 2),
            ("model-1.safetensors", 40),
            ("model-2.SAFETENSORS", 2),
        ] {
            fs::write(path(name), vec![b' '; n_bytes]).unwrap();
        }
        assert_eq!(n_bytes(&path("a.gguf")), Ok(7));
        assert_eq!(n_bytes(folder.path()), Ok(42));
        fs::remove_file(path("config.json")).unwrap();
        assert!(n_bytes(folder.path()).unwrap_err().contains("config.json"));
        let gone = n_bytes(&path("b.gguf"));
        assert_eq!(gone, Err("It is not there any more".to_owned()));
    }

    #[test]
    fn what_is_dropped_is_a_model_or_a_sentence_says_why_not() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(refusal(folder.path()), None);
        for model in ["a.gguf", "A.GGUF", "model.safetensors", "config.json"] {
            assert_eq!(refusal(Path::new(model)), None, "{model}");
        }
        for other in ["notes.txt", "tokenizer.json", "gguf", "story.pdf"] {
            let reason = refusal(Path::new(other)).unwrap();
            assert!(reason.contains(other), "{reason}");
        }
    }
}

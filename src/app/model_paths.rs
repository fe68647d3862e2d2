//! Finds models on a background thread, and checks whether paths lead to models, because network
//! drives can be slow.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use eframe::egui;

use super::background;
use crate::export::is_run_name;
use crate::generation::formatting::io_words;
use crate::lab::LabTab;
use crate::lessons::is_lesson_name;
use crate::state::{Command, ModelsCommand, PathPurpose, RunCommand};
use crate::worker::local_models;

/// The name of the threads.
const NAME: &str = "check model paths";

/// Determines the size of each model, or why it can no longer be opened, and sends the result as a
/// command.
pub(super) fn check(ctx: egui::Context, paths: Vec<PathBuf>, answers: SyncSender<Command>) {
    background::run(ctx, NAME, answers, || {
        let seen = paths.into_iter().map(|path| {
            let size = n_bytes(&path);
            (path, size)
        });
        Command::Models(ModelsCommand::FilesChecked(seen.collect()))
    });
}

/// Looks for the models that programs keep on this computer, and sends them as a command.
/// `hub_folder` replaces the usual cache of the Hub.
pub(super) fn find(ctx: egui::Context, hub_folder: Option<PathBuf>, answers: SyncSender<Command>) {
    background::run(ctx, "find models", answers, || {
        Command::Models(ModelsCommand::Found(local_models(hub_folder)))
    });
}

/// Checks whether a dropped path can be a model, a run, a lesson, a text or a list of tasks. Sends
/// the command that opens it, or the reason why it can't be opened.
pub(super) fn check_dropped(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    background::run(ctx, NAME, answers, || {
        if is_run_name(&path) {
            return Command::Run(RunCommand::Open(path));
        }
        if is_lesson_name(&path) {
            return Command::PathGiven(PathPurpose::Lesson, path);
        }
        if has_extension(&path, &["txt", "md"]) {
            return Command::PathGiven(PathPurpose::Text, path);
        }
        if has_extension(&path, &["csv", "tsv", "jsonl"]) {
            return Command::PathGiven(PathPurpose::Lab(LabTab::Prompts), path);
        }
        Command::Models(match refusal(&path) {
            None => ModelsCommand::Open(path),
            Some(reason) => ModelsCommand::DropRejected(reason),
        })
    });
}

/// Returns the size of a model's weight files, or why it can't be opened.
fn n_bytes(path: &Path) -> Result<u64, String> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => "No longer exists".to_owned(),
        ErrorKind::PermissionDenied => "No permission to read it".to_owned(),
        _ => format!("Can’t be accessed: {}", io_words(&error)),
    })?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    if !path.join("config.json").is_file() {
        return Err("The folder no longer contains config.json".to_owned());
    }
    let entries =
        fs::read_dir(path).map_err(|error| format!("Can’t be read: {}", io_words(&error)))?;
    // The files are often symbolic links, so follow them to get their size.
    let weights = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| has_extension(path, &["safetensors"]));
    Ok(weights
        .filter_map(|path| fs::metadata(path).ok())
        .map(|metadata: Metadata| metadata.len())
        .sum())
}

/// Returns why this path can't be a model, or `None` if it can.
fn refusal(path: &Path) -> Option<String> {
    let is_config = path
        .file_name()
        .is_some_and(|name| name == "config.json" || name == "model.safetensors.index.json");
    if path.is_dir() || is_config || has_extension(path, &["gguf", "safetensors"]) {
        return None;
    }
    let name = path.file_name().unwrap_or(path.as_os_str());
    Some(format!(
        "‘{}’ is neither a model, a run, a text nor a list of tasks. Quartet opens GGUF files, \
         safetensors files next to a config.json, folders with both, its own run files, .txt and \
         .md files to score, and .csv, .tsv and .jsonl files with tasks.",
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
    fn the_size_of_a_folder_is_that_of_its_weights() {
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
        assert_eq!(gone, Err("No longer exists".to_owned()));
    }

    #[test]
    fn a_dropped_path_is_accepted_or_the_reason_names_it() {
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

//! Shows a file or a folder in the system's file manager, which can take a while to start.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::mpsc::SyncSender;

use eframe::egui;

use super::background;
use crate::generation::formatting::io_words;
use crate::state::Command;

/// Asks the file manager to show a file, and sends whether it could be started.
pub(super) fn in_folder(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    background::run(ctx, "show in folder", answers, || {
        let error = run(&mut file_manager(&path)).err();
        Command::FolderShown { path, error }
    });
}

/// Opens a folder, after creating it if it does not exist, and sends whether that was possible.
pub(super) fn folder(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    background::run(ctx, "open folder", answers, || {
        let created = fs::create_dir_all(&path).map_err(|error: io::Error| io_words(&error));
        let error = created.and_then(|()| run(&mut opener(&path))).err();
        Command::FolderShown { path, error }
    });
}

/// Runs a system command. Returns why it failed.
fn run(process: &mut Process) -> Result<(), String> {
    match process.status() {
        // Explorer returns 1 even if it succeeds.
        Ok(status) if status.success() || cfg!(windows) => Ok(()),
        Ok(status) => Err(format!("The file manager ended with {status}")),
        Err(error) => Err(io_words(&error)),
    }
}

/// Returns the command that opens a folder.
fn opener(folder: &Path) -> Process {
    let program = if cfg!(windows) {
        "explorer"
    } else if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut opener = Process::new(program);
    opener.arg(folder);
    opener
}

/// Returns the command that opens a file's folder and, if the system supports it, selects the file.
fn file_manager(path: &Path) -> Process {
    if cfg!(windows) {
        let mut explorer = Process::new("explorer");
        explorer.arg("/select,").arg(path);
        return explorer;
    }
    if cfg!(target_os = "macos") {
        let mut finder = Process::new("open");
        finder.arg("-R").arg(path);
        return finder;
    }
    opener(path.parent().unwrap_or(path))
}

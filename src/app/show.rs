//! Shows a file in the system's file manager, which can take a while to start.

use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::sync::mpsc::SyncSender;

use eframe::egui;

use super::background;
use crate::state::Command;

/// Asks the file manager to show a file, and sends whether it could be started.
pub(super) fn in_folder(ctx: egui::Context, path: PathBuf, answers: SyncSender<Command>) {
    background::run(ctx, "show in folder", answers, || {
        let error = match file_manager(&path).status() {
            // Explorer returns 1 even if it succeeds.
            Ok(status) if status.success() || cfg!(windows) => None,
            Ok(status) => Some(format!("The file manager ended with {status}")),
            Err(error) => Some(error.to_string()),
        };
        Command::FolderShown { path, error }
    });
}

/// Returns the command that opens the folder of a file and, where the system can, selects the file.
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
    let mut manager = Process::new("xdg-open");
    manager.arg(path.parent().unwrap_or(path));
    manager
}

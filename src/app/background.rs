//! Runs slow work on a background thread and sends the result as a command.

use std::sync::mpsc::SyncSender;
use std::thread;

use eframe::egui;

use crate::state::Command;

/// Runs `work` on a new thread and sends the command it returns to the window.
pub(super) fn run(
    ctx: egui::Context,
    name: &str,
    answers: SyncSender<Command>,
    work: impl FnOnce() -> Command + Send + 'static,
) {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
        // The receiver is gone if the app was closed.
        answers.send(work()).ok();
        ctx.request_repaint();
    });
    // If no thread can be started, nothing happens, and the user can try again.
    spawned.ok();
}

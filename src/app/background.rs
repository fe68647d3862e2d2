//! Runs slow work on a background thread and sends the result as a command.

use std::io;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};

use eframe::egui;

use crate::state::Command;

/// Runs `work` on a new thread and sends the command it returns to the window.
pub(super) fn run(
    ctx: egui::Context,
    name: &str,
    answers: SyncSender<Command>,
    work: impl FnOnce() -> Command + Send + 'static,
) {
    // If no thread can be started, nothing happens, and the user can try again.
    spawn(ctx, name, answers, work).ok();
}

/// Does the same, but returns the thread, or why it could not be started.
pub(super) fn spawn(
    ctx: egui::Context,
    name: &str,
    answers: SyncSender<Command>,
    work: impl FnOnce() -> Command + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        // The receiver is gone if the app was closed.
        answers.send(work()).ok();
        ctx.request_repaint();
    })
}

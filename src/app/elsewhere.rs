//! What may take its time is done away from the window's thread, and answered with a command.

use std::sync::mpsc::SyncSender;
use std::thread;

use eframe::egui;

use crate::state::Command;

/// Does something on a thread of its own; what comes of it comes as a command.
pub(super) fn answer(
    ctx: egui::Context,
    name: &str,
    answers: SyncSender<Command>,
    work: impl FnOnce() -> Command + Send + 'static,
) {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
        // An app that is gone needs no answer.
        answers.send(work()).ok();
        ctx.request_repaint();
    });
    // Without a thread nothing is known, and the window says as little; it can be asked again.
    spawned.ok();
}

//! Native file dialogs: built on the window's thread, awaited on another.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui;

use crate::state::{Command, PathPurpose};

/// Where paths are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialogs {
    /// In the system's own dialogs, or in the window where there are none.
    Native,
    /// In the window, always.
    InWindow,
}

/// No one cancels a dialog so quickly: it was never there. The dialog's own answer is the same in
/// both cases.
const NO_DIALOG: Duration = Duration::from_millis(300);

/// Asks for a path; the answer comes as a command.
pub(super) fn open(
    ctx: &egui::Context,
    dialogs: Dialogs,
    frame: Option<&eframe::Frame>,
    purpose: PathPurpose,
    answers: SyncSender<Command>,
) {
    let answer = {
        let ctx = ctx.clone();
        move |command: Command| {
            // An app that is gone needs no answer.
            answers.send(command).ok();
            ctx.request_repaint();
        }
    };
    if dialogs == Dialogs::InWindow {
        return answer(Command::NoDialog(purpose));
    }
    let mut dialog = rfd::AsyncFileDialog::new().set_title(purpose.title());
    if let Some(frame) = frame {
        dialog = dialog.set_parent(frame);
    }
    // Some systems want the dialog to be made on the window's thread.
    let handle: Handle = match purpose {
        PathPurpose::ModelFile => {
            let dialog = dialog.add_filter("GGUF models", &["gguf"]);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::ModelFolder => Box::pin(dialog.pick_folder()),
        PathPurpose::Presets => {
            let dialog = dialog.add_filter("JSON", &["json"]);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::Save(document) => {
            Box::pin(dialog.set_file_name(document.file_name()).save_file())
        }
    };
    let asked = Instant::now();
    let spawned = thread::Builder::new()
        .name("file dialog".to_owned())
        .spawn(move || {
            let path = pollster::block_on(handle).map(|file| PathBuf::from(file.path()));
            match path {
                Some(path) => answer(Command::PathGiven(purpose, path)),
                None if asked.elapsed() < NO_DIALOG => answer(Command::NoDialog(purpose)),
                None => {}
            }
        });
    // Without a thread there is no dialog; the button can be pressed again.
    spawned.ok();
}

type Handle = std::pin::Pin<Box<dyn Future<Output = Option<rfd::FileHandle>> + Send>>;

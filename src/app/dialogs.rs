//! Native file dialogs, created on the window's thread and awaited on another.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

use eframe::egui;

use crate::lab::LabTab;
use crate::state::{Command, PathPurpose};

/// How the user is asked for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialogs {
    /// With the system's file dialogs, or a path field if there are none.
    Native,
    /// With a path field in the window.
    InWindow,
}

/// A dialog that closes faster than this never opened, because no user cancels that quickly. rfd
/// returns the same result in both cases.
const NO_DIALOG: Duration = Duration::from_millis(300);

/// Asks for a path and sends the answer as a command.
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
            // The receiver is gone if the app was closed.
            answers.send(command).ok();
            ctx.request_repaint();
        }
    };
    if dialogs == Dialogs::InWindow {
        return answer(Command::DialogUnavailable(purpose));
    }
    let mut dialog = rfd::AsyncFileDialog::new().set_title(purpose.title());
    if let Some(frame) = frame {
        dialog = dialog.set_parent(frame);
    }
    // Some systems require dialogs to be created on the window's thread.
    let handle: Handle = match &purpose {
        PathPurpose::Lab(LabTab::Prompts) => {
            let extensions = ["csv", "tsv", "json", "jsonl", "txt"];
            let dialog = dialog.add_filter("Tasks", &extensions);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::ModelFile
        | PathPurpose::SecondModel
        | PathPurpose::SecondModelToVerify
        | PathPurpose::PaneModel(_)
        | PathPurpose::Lab(_) => {
            let dialog = dialog.add_filter("GGUF models", &["gguf"]);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::ModelFolder | PathPurpose::PaneModelFolder(_) | PathPurpose::Folder(_) => {
            Box::pin(dialog.pick_folder())
        }
        PathPurpose::Save(document) if document.is_folder() => Box::pin(dialog.pick_folder()),
        PathPurpose::Presets => {
            let dialog = dialog.add_filter("JSON", &["json"]);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::Run => {
            let dialog = dialog.add_filter("Runs", &["json", "gz"]);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::Text => {
            let dialog = dialog.add_filter("Texts", &["txt", "md"]);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::Grammar(_) => {
            let extensions = ["json", "lark", "gbnf", "txt"];
            let dialog = dialog.add_filter("Grammars", &extensions);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::Lesson => {
            let dialog = dialog.add_filter("Lessons", &["toml"]);
            Box::pin(dialog.add_filter("All files", &["*"]).pick_file())
        }
        PathPurpose::ExportRun | PathPurpose::Save(_) => {
            let name = purpose.suggested_name().unwrap_or_default();
            Box::pin(dialog.set_file_name(name).save_file())
        }
    };
    let opened_at = Instant::now();
    let spawned = thread::Builder::new()
        .name("file dialog".to_owned())
        .spawn(move || {
            let path = pollster::block_on(handle).map(|file| PathBuf::from(file.path()));
            match path {
                Some(path) => answer(Command::PathGiven(purpose, path)),
                None if opened_at.elapsed() < NO_DIALOG => {
                    answer(Command::DialogUnavailable(purpose));
                }
                None => {}
            }
        });
    // If no thread can be started, no dialog opens, and the user can try again.
    spawned.ok();
}

type Handle = std::pin::Pin<Box<dyn Future<Output = Option<rfd::FileHandle>> + Send>>;

//! Writes files atomically on background threads.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;

use eframe::egui;

use super::background;
use super::documents;
use crate::generation::formatting::io_words;
use crate::state::{Command, Document};
use crate::ui::documents::Render;

/// The threads that write files. Dropping it, as when the window closes, waits until all files are
/// written.
#[derive(Default)]
pub(super) struct Saves {
    threads: Vec<JoinHandle<()>>,
}

/// A document to be saved.
pub(super) struct Save {
    pub document: Document,
    pub path: PathBuf,
    /// Renders it, unless the state had nothing to render.
    pub render: Result<Render, String>,
}

impl Drop for Saves {
    fn drop(&mut self) {
        for thread in self.threads.drain(..) {
            // A panic has already been printed by its thread.
            thread.join().ok();
        }
    }
}

impl Saves {
    /// Runs work that writes files on a background thread, and sends its result as a command.
    pub(super) fn run(
        &mut self,
        ctx: egui::Context,
        answers: &SyncSender<Command>,
        work: impl FnOnce() -> Command + Send + 'static,
    ) {
        let spawned = background::spawn(ctx, "runs", answers.clone(), work);
        self.threads.retain(|thread| !thread.is_finished());
        // If no thread can be started, nothing happens, and the user can try again.
        self.threads.extend(spawned.ok());
    }

    /// Writes a document on a background thread and sends the result as a command.
    pub(super) fn start(&mut self, ctx: egui::Context, answers: &SyncSender<Command>, save: Save) {
        let (document, path) = (save.document.clone(), save.path.clone());
        match background::spawn(ctx, "save", answers.clone(), || save.write()) {
            Ok(thread) => {
                self.threads.retain(|thread| !thread.is_finished());
                self.threads.push(thread);
            }
            Err(error) => {
                let failed = Command::SaveFailed {
                    document,
                    path,
                    error: io_words(&error),
                };
                // If the channel is full, the answers in it report the same problem.
                answers.try_send(failed).ok();
            }
        }
    }
}

impl Save {
    fn write(self) -> Command {
        let (document, path) = (self.document, self.path);
        let rendered = self.render.and_then(|render| render());
        let written = rendered
            .and_then(|content| documents::write(content, &path).map_err(|error| io_words(&error)));
        match written {
            Ok(()) => Command::Saved { document, path },
            Err(error) => Command::SaveFailed {
                document,
                path,
                error,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use eframe::egui;

    use super::{Save, Saves};
    use crate::app::documents::gather;
    use crate::state::{AppState, Document, PresetsDocument, Settings};
    use crate::ui::pictures::Look;
    use crate::worker::ModelSource;

    #[test]
    fn closing_the_window_finishes_writing_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("presets.json");
        let (state, _) = AppState::new(Settings::default(), ModelSource::Embedded);
        let ctx = egui::Context::default();
        let document = Document::new(PresetsDocument);
        let save = Save {
            path: path.clone(),
            render: gather(&state, &document, Look::of(&state, &ctx)),
            document,
        };
        // The channel has no capacity and its receiver is about to be dropped.
        let (answers, reader) = sync_channel(0);
        let mut saves = Saves::default();
        saves.start(ctx, &answers, save);
        drop(reader);
        drop(saves);
        assert!(path.exists());
    }
}

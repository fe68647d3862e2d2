//! Writes files atomically on background threads.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};

use eframe::egui;

use crate::export::json::{Form, RunHeader};
use crate::export::{self, ExportFormat};
use crate::generation::Generation;
use crate::interop::presets::{self, OwnPreset};
use crate::state::{AppState, Command, Document, ScoreMeasure};
use crate::ui::plots::StepAt;
use crate::ui::plots::picture::{View, drawing, encode};

/// The threads that write files. Dropping it, as when the window closes, waits until all files are
/// written.
#[derive(Default)]
pub(super) struct Saves {
    threads: Vec<JoinHandle<()>>,
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
        let report = answers.clone();
        let spawned = thread::Builder::new()
            .name("runs".to_owned())
            .spawn(move || {
                // The receiver is gone if the app was closed.
                report.send(work()).ok();
                ctx.request_repaint();
            });
        self.threads.retain(|thread| !thread.is_finished());
        // If no thread can be started, nothing happens, and the user can try again.
        self.threads.extend(spawned.ok());
    }
}

/// Everything needed to write one file, copied from the state at the time of the request.
pub(super) struct Job {
    document: Document,
    path: PathBuf,
    generations: Vec<Option<Generation>>,
    presets: Vec<OwnPreset>,
    shown_step: Option<StepAt>,
    measure: ScoreMeasure,
    dark: bool,
    header: RunHeader,
}

impl Job {
    /// Copies what the document needs from the state.
    pub(super) fn new(state: &AppState, document: Document, path: PathBuf, dark: bool) -> Self {
        Self {
            document,
            path,
            generations: state
                .panes
                .iter()
                .map(|pane| pane.generation().cloned())
                .collect(),
            presets: state.presets.clone(),
            shown_step: state.shown_step().map(|(pane, step)| StepAt { pane, step }),
            measure: state.view.score,
            dark,
            header: state.run_header(),
        }
    }

    /// Writes the file on a background thread and sends the result as a command.
    pub(super) fn start(
        self,
        ctx: egui::Context,
        answers: &SyncSender<Command>,
        saves: &mut Saves,
    ) {
        let (document, path) = (self.document, self.path.clone());
        let report = answers.clone();
        let spawned = thread::Builder::new()
            .name("save".to_owned())
            .spawn(move || {
                // The receiver is gone if the app was closed.
                report.send(self.write()).ok();
                ctx.request_repaint();
            });
        match spawned {
            Ok(thread) => {
                saves.threads.retain(|thread| !thread.is_finished());
                saves.threads.push(thread);
            }
            Err(error) => {
                let failed = Command::SaveFailed {
                    document,
                    path,
                    error: error.to_string(),
                };
                // If the channel is full, the answers in it report the same problem.
                answers.try_send(failed).ok();
            }
        }
    }

    fn write(self) -> Command {
        let written = if self.document == Document::Run(ExportFormat::Json) {
            let texts: Vec<&Generation> = self.generations.iter().flatten().collect();
            let form = Form {
                detail: true,
                ..Form::default()
            };
            export::write_run(&self.path, &self.header, &texts, form).map_err(|e| e.to_string())
        } else {
            self.bytes().and_then(|bytes| {
                export::write_atomically(&self.path, &bytes).map_err(|e| e.to_string())
            })
        };
        match written {
            Ok(()) => Command::Saved {
                document: self.document,
                path: self.path,
            },
            Err(error) => Command::SaveFailed {
                document: self.document,
                path: self.path,
                error,
            },
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let texts: Vec<Option<&Generation>> = self.generations.iter().map(Option::as_ref).collect();
        match self.document {
            Document::Run(format) => Ok(export::render_panes(format, &texts)),
            Document::Presets => Ok(presets::file::render(&self.presets)),
            Document::Picture(plot, format) => {
                let view = View {
                    plot,
                    measure: self.measure,
                    step: self.shown_step,
                    dark: self.dark,
                };
                encode(&drawing(&texts, view), format).map_err(|error| error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use eframe::egui;

    use super::{Job, Saves};
    use crate::export::json::RunHeader;
    use crate::state::{Document, ScoreMeasure};

    #[test]
    fn closing_the_window_finishes_writing_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("presets.json");
        let job = Job {
            document: Document::Presets,
            path: path.clone(),
            generations: Vec::new(),
            presets: Vec::new(),
            shown_step: None,
            measure: ScoreMeasure::default(),
            dark: false,
            header: RunHeader::default(),
        };
        // The channel has no capacity and its receiver is about to be dropped.
        let (answers, reader) = sync_channel(0);
        let mut saves = Saves::default();
        job.start(egui::Context::default(), &answers, &mut saves);
        drop(reader);
        drop(saves);
        assert!(path.exists());
    }
}

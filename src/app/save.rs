//! Writes a file, whole or not at all, away from the window's thread.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};

use eframe::egui;

use crate::export;
use crate::generation::Generation;
use crate::interop::presets::{self, OwnPreset};
use crate::state::{AppState, Command, Document, ScoreMeasure};
use crate::ui::plots::StepAt;
use crate::ui::plots::picture::{View, drawing, encode};

/// The threads that write files. Where they are dropped, as when the window is closed, what is being
/// written is written to its end.
#[derive(Default)]
pub(super) struct Saves {
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Saves {
    fn drop(&mut self) {
        for thread in self.threads.drain(..) {
            // One that panicked has said so.
            thread.join().ok();
        }
    }
}

/// All that is needed to write one file: the record as it was when it was asked for.
pub(super) struct Job {
    document: Document,
    path: PathBuf,
    generations: Vec<Option<Generation>>,
    presets: Vec<OwnPreset>,
    shown_step: Option<StepAt>,
    measure: ScoreMeasure,
    dark: bool,
}

impl Job {
    /// Takes what is needed out of the state.
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
        }
    }

    /// Writes the file on a thread of its own; what came of it comes as a command.
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
                // An app that is gone needs no answer.
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
                // Without room for the answer there are others to be read, which say as much.
                answers.try_send(failed).ok();
            }
        }
    }

    fn write(self) -> Command {
        let written = self
            .bytes()
            .and_then(|bytes| export::write_whole(&self.path, &bytes).map_err(|e| e.to_string()));
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
            Document::Run(format) => {
                let written: Vec<&Generation> = texts.into_iter().flatten().collect();
                Ok(export::render(format, &written))
            }
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
    use crate::state::{Document, ScoreMeasure};

    #[test]
    fn a_window_that_is_closed_writes_its_files_to_the_end() {
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
        };
        // Nobody reads the answer any more, and there is no room for it.
        let (answers, reader) = sync_channel(0);
        let mut saves = Saves::default();
        job.start(egui::Context::default(), &answers, &mut saves);
        drop(reader);
        drop(saves);
        assert!(path.exists());
    }
}

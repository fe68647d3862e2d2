//! Writes files atomically on background threads.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};

use eframe::egui;

use crate::export;
use crate::generation::Generation;
use crate::interop::presets::{self, OwnPreset};
use crate::state::{AppState, Command, Document, PictureStyle, Plot, ScoreMeasure};
use crate::ui::plots::StepAt;
use crate::ui::plots::picture::{PictureError, Pixels, View, drawing, encode, pixels};
use crate::ui::run_folder;

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

/// Everything needed to write one file, copied from the state at the time of the request.
pub(super) struct Job {
    document: Document,
    path: PathBuf,
    generations: Vec<Option<Generation>>,
    presets: Vec<OwnPreset>,
    shown_step: Option<StepAt>,
    measure: ScoreMeasure,
    in_one: bool,
    style: PictureStyle,
    dark: bool,
}

impl Job {
    /// Copies what the document needs from the state.
    pub(super) fn new(state: &AppState, document: Document, path: PathBuf, dark: bool) -> Self {
        Self {
            document,
            path,
            generations: match document {
                Document::Everything => state.generations_to_export(),
                _ => state.generations(),
            }
            .into_iter()
            .map(Option::<&Generation>::cloned)
            .collect(),
            presets: state.presets.clone(),
            shown_step: state.shown_step().map(|(pane, step)| StepAt { pane, step }),
            measure: state.view.score,
            in_one: state.view.score_layout.is_one_plot(),
            style: state.view.picture,
            dark,
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
        let written = if self.document == Document::Everything {
            self.write_folder()
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

    /// Writes everything into the folder, which is created if it is missing.
    fn write_folder(&self) -> Result<(), String> {
        let files = run_folder::files(&self.texts(), self.style)?;
        std::fs::create_dir_all(&self.path)
            .and_then(|()| export::write_folder(&self.path, &files))
            .map_err(|error| error.to_string())
    }

    fn texts(&self) -> Vec<Option<&Generation>> {
        self.generations.iter().map(Option::as_ref).collect()
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let texts = self.texts();
        match self.document {
            Document::Run(format) => Ok(run_folder::render_run(format, &texts)),
            Document::Everything => Err("a folder is written as a whole".to_owned()),
            Document::Presets => Ok(presets::file::render(&self.presets)),
            Document::Picture(plot, format) => {
                let drawing = drawing(&texts, self.view(plot));
                encode(&drawing, format, self.style).map_err(|error| error.to_string())
            }
        }
    }

    /// Returns the pixels of a picture, for the clipboard.
    pub(super) fn pixels(&self, plot: Plot) -> Result<Pixels, PictureError> {
        let drawing = drawing(&self.texts(), self.view(plot));
        pixels(&drawing, self.style.scale.into())
    }

    const fn view(&self, plot: Plot) -> View {
        View {
            plot,
            measure: self.measure,
            in_one: self.in_one,
            step: self.shown_step,
            dark: self.dark,
            style: self.style,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use eframe::egui;

    use super::{Job, Saves};
    use crate::state::{Document, PictureStyle, ScoreMeasure};

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
            in_one: false,
            style: PictureStyle::default(),
            dark: false,
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

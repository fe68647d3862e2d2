//! Writes a file, whole or not at all, away from the window's thread.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread;

use eframe::egui;

use crate::export;
use crate::generation::Generation;
use crate::state::{AppState, Command, Document, ScoreMeasure};
use crate::ui::plots::StepAt;
use crate::ui::plots::picture::{View, render};

/// All that is needed to write one file: the record as it was when it was asked for.
pub(super) struct Job {
    document: Document,
    path: PathBuf,
    generations: Vec<Option<Generation>>,
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
            shown_step: state.shown_step().map(|(pane, step)| StepAt { pane, step }),
            measure: state.view.score,
            dark,
        }
    }

    /// Writes the file on a thread of its own; what came of it comes as a command.
    pub(super) fn start(self, ctx: egui::Context, answers: SyncSender<Command>) {
        let (document, path) = (self.document, self.path.clone());
        let failed = move |error: String| Command::SaveFailed {
            document,
            path,
            error,
        };
        let report = answers.clone();
        let failed_there = failed.clone();
        let spawned = thread::Builder::new()
            .name("save".to_owned())
            .spawn(move || {
                let answer = match self.write() {
                    Ok(()) => Command::Saved(self.path),
                    Err(error) => failed_there(error),
                };
                // An app that is gone needs no answer.
                report.send(answer).ok();
                ctx.request_repaint();
            });
        if let Err(error) = spawned {
            // The channel has room, or the answer is lost with many others that say the same.
            answers.try_send(failed(error.to_string())).ok();
        }
    }

    fn write(&self) -> Result<(), String> {
        let bytes = self.bytes()?;
        export::write_whole(&self.path, &bytes).map_err(|error| capital(&error.to_string()))
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let texts: Vec<Option<&Generation>> = self.generations.iter().map(Option::as_ref).collect();
        match self.document {
            Document::Run(format) => {
                let written: Vec<&Generation> = texts.into_iter().flatten().collect();
                Ok(export::render(format, &written))
            }
            Document::Picture(plot, format) => {
                let view = View {
                    plot,
                    measure: self.measure,
                    step: self.shown_step,
                    dark: self.dark,
                };
                render(&texts, view, format).map_err(|error| capital(&error.to_string()))
            }
        }
    }
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

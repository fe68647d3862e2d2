//! Writes a file, whole or not at all, away from the window's thread.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread;

use eframe::egui;

use crate::export;
use crate::generation::Generation;
use crate::state::{AppState, Command, Document, PictureFormat, Plot, ScoreMeasure};
use crate::ui::plots::picture::{Picture, PicturePlot, caption, png, svg};
use crate::ui::plots::{NextTokenData, ScoreData, SpeedData};

/// The pixels of a PNG for each point of the picture.
const PNG_SCALE: f32 = 2.0;

/// All that is needed to write one file: the record as it was when it was asked for.
pub(super) struct Job {
    document: Document,
    path: PathBuf,
    generations: Vec<Option<Generation>>,
    shown_step: Option<(usize, usize)>,
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
            shown_step: state.shown_step(),
            measure: state.view.score,
            dark,
        }
    }

    /// Writes the file on a thread of its own; what came of it comes as a command.
    pub(super) fn start(self, ctx: egui::Context, answers: &SyncSender<Command>) {
        let (document, path) = (self.document, self.path.clone());
        let report = answers.clone();
        let spawned = thread::Builder::new()
            .name("save".to_owned())
            .spawn(move || {
                // An app that is gone needs no answer.
                report.send(self.write()).ok();
                ctx.request_repaint();
            });
        if let Err(error) = spawned {
            let failed = Command::SaveFailed {
                document,
                path,
                error: error.to_string(),
            };
            // Without room for the answer there are others to be read, which say as much.
            answers.try_send(failed).ok();
        }
    }

    fn write(self) -> Command {
        let written = self
            .bytes()
            .and_then(|bytes| export::write_whole(&self.path, &bytes).map_err(|e| e.to_string()));
        match written {
            Ok(()) => Command::Saved(self.path),
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
            Document::Picture(plot, format) => self.picture(&texts, plot, format),
        }
    }

    fn picture(
        &self,
        texts: &[Option<&Generation>],
        plot: Plot,
        format: PictureFormat,
    ) -> Result<Vec<u8>, String> {
        let score = ScoreData::of(texts, self.measure);
        let speed = SpeedData::of(texts);
        let candidates = self.shown_step.and_then(|(pane, step)| {
            NextTokenData::of(pane, texts.get(pane).copied().flatten()?, step)
        });
        let plot = match plot {
            Plot::Score => PicturePlot::Score(&score),
            Plot::NextToken => PicturePlot::NextToken(candidates.as_ref()),
            Plot::Speed => PicturePlot::Speed(&speed),
        };
        let picture = Picture {
            plot,
            caption: &caption(texts),
            size: plot.usual_size(),
            dark: self.dark,
        };
        let svg = svg(&picture);
        match format {
            PictureFormat::Svg => Ok(svg.into_bytes()),
            PictureFormat::Png => png(&svg, PNG_SCALE).map_err(|error| error.to_string()),
        }
    }
}

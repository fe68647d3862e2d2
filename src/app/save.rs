//! Writes files atomically on background threads.

use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::thread::{self, JoinHandle};

use eframe::egui;

use super::lab_files;
use crate::export::json::{self, Form, RunFile, RunHeader};
use crate::export::{self, ExportFormat, PaneFutures, TextRow};
use crate::generation::formatting::pane_letter;
use crate::generation::{BlindVote, Generation, Piece};
use crate::interop::presets::{self, OwnPreset};
use crate::plots::{StepAt, VerifiedData};
use crate::state::{
    AppState, BranchTree, CacheRun, Command, Document, FitRun, FuturesFormat, FuturesRun,
    ModelsRun, PictureFormat, Plot, RunTexts, StabilityRun, SweepRun, TableFormat,
};
use crate::ui::futures::picture::{FuturesPicture, futures_drawing};
use crate::ui::pictures::{
    Palette, PictureError, Pixels, View, XrayPicture, drawing, encode, pixels, step_caption,
    tree_drawing, verified_drawing, xray_drawing,
};
use crate::ui::run_folder::{self, RenderedRun};
use crate::ui::verified_data;

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
    texts: RunTexts,
    presets: Vec<OwnPreset>,
    view: View,
    /// The X-ray to draw, if any, and its caption.
    xray: Option<(XrayPicture, String)>,
    /// The branch tree, if it is to be drawn.
    tree: Option<BranchTree>,
    /// The plot of the verification of the opened run, if it is to be drawn, and what explains a
    /// difference.
    verified: Option<(VerifiedData, Option<String>)>,
    /// The futures on screen, each with its pane's index.
    futures: Vec<(usize, FuturesRun)>,
    /// The sweep on screen.
    sweep: Option<SweepRun>,
    /// The stability map on screen, and the index of its pane.
    stability: Option<(StabilityRun, Option<usize>)>,
    /// The fit on screen, and the index of the pane that has its other settings.
    fit: Option<(FitRun, Option<usize>)>,
    /// The measurement of the KV cache on screen.
    cache: Option<CacheRun>,
    models: Option<ModelsRun>,
    /// The votes of the blind test.
    votes: Vec<BlindVote>,
    /// The texts generated from the list of prompts.
    rows: Vec<TextRow>,
    /// The bytes of a document that was rendered immediately.
    rendered: Vec<u8>,
    header: RunHeader,
    /// How a run file is written.
    form: Form,
}

impl Job {
    /// Copies what the document needs from the state.
    pub(super) fn new(state: &AppState, document: Document, path: PathBuf, dark: bool) -> Self {
        let plot = document.plot();
        Self {
            document,
            path,
            generations: match document {
                Document::Everything | Document::Archive => state.generations_to_export(),
                _ => state.generations(),
            }
            .into_iter()
            .map(Option::<&Generation>::cloned)
            .collect(),
            texts: match document {
                Document::Run(ExportFormat::Json) => state.run_texts(),
                Document::Everything | Document::Archive => state.run_texts_to_export(),
                _ => RunTexts::default(),
            },
            presets: state.presets.clone(),
            view: View {
                plot,
                measure: state.view.score,
                cap: state.view.score_cap,
                in_one: state.view.score_layout.is_one_plot(),
                watermark: state.view.watermark,
                tint: state.view.tint,
                step: state.shown_step().map(|(pane, step)| StepAt { pane, step }),
                palette: Palette::of(state.view.picture_theme, dark),
                style: state.view.picture,
            },
            xray: match plot {
                Plot::Xray => shown_xray(state),
                Plot::ByHand => hand_xray(state),
                _ => None,
            },
            tree: (plot == Plot::Tree).then(|| state.current_branch_tree()),
            verified: match plot {
                Plot::Gaps => shown_verification(state),
                _ => None,
            },
            futures: match document {
                Document::Futures(_) => shown_futures(state),
                _ => Vec::new(),
            },
            sweep: match document {
                Document::Sweep(_) => state.lab.sweep().cloned(),
                _ => None,
            },
            stability: match document {
                Document::Stability(_) => shown_stability(state),
                _ => None,
            },
            fit: match document {
                Document::Fit(_) => {
                    let base = state.fit_base().and_then(|pane| state.place_of(pane.id));
                    state.lab.fit.clone().map(|run| (run, base))
                }
                _ => None,
            },
            cache: match document {
                Document::Cache(_) => state.lab.cache.clone(),
                _ => None,
            },
            models: match document {
                Document::Models(_) => state.lab.models.clone(),
                _ => None,
            },
            votes: match document {
                Document::Votes(_) => state.lab.blind.votes().to_vec(),
                _ => Vec::new(),
            },
            rows: match (document, &state.lab.batch) {
                (Document::Prompts(_), Some(run)) => run.rows(),
                _ => Vec::new(),
            },
            rendered: rendered(state, document),
            header: state.run_header(),
            form: state.view.run_file.form(),
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

    fn write(mut self) -> Command {
        let run = std::mem::take(&mut self.texts).into_run(self.header.clone());
        let written = match self.document {
            Document::Everything => self.write_folder(&run),
            Document::Archive => self.files(&run).and_then(|files| {
                export::write_archive(&self.path, &files).map_err(|error| error.to_string())
            }),
            Document::Run(ExportFormat::Json) => {
                export::write_run(&self.path, &run, self.form).map_err(|error| error.to_string())
            }
            _ => self.bytes().and_then(|bytes| {
                export::write_atomically(&self.path, &bytes).map_err(|error| error.to_string())
            }),
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

    /// Renders all files. Returns their names and contents.
    fn files(&self, run: &RunFile) -> Result<Vec<(String, Vec<u8>)>, String> {
        let rendered = RenderedRun {
            bytes: json::write_run(run, self.form),
            finished_at: run.header.finished_at,
        };
        run_folder::files(&self.texts(), rendered, self.view.style)
    }

    /// Writes all files to the folder, which is created if it is missing.
    fn write_folder(&self, run: &RunFile) -> Result<(), String> {
        let files = self.files(run)?;
        let is_new = !self.path.exists();
        let written = std::fs::create_dir_all(&self.path)
            .and_then(|()| export::write_folder(&self.path, &files));
        if written.is_err() && is_new {
            // It is empty, unless another program has put something into it.
            std::fs::remove_dir(&self.path).ok();
        }
        written.map_err(|error| error.to_string())
    }

    fn texts(&self) -> Vec<Option<&Generation>> {
        self.generations.iter().map(Option::as_ref).collect()
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        let texts = self.texts();
        match self.document {
            Document::Run(format) => Ok(run_folder::render_run(
                format,
                &texts,
                self.header.finished_at,
            )),
            Document::Everything | Document::Archive => {
                Err("these files are written together".to_owned())
            }
            Document::Presets => Ok(presets::file::render(&self.presets)),
            Document::Lesson | Document::LessonAnswers => Ok(self.rendered.clone()),
            Document::Picture(plot, format) => {
                encode(&self.drawing(plot)?, format, self.view.style)
                    .map_err(|error| error.to_string())
            }
            Document::Futures(FuturesFormat::Svg) => self.futures_picture(PictureFormat::Svg),
            Document::Futures(FuturesFormat::Png) => self.futures_picture(PictureFormat::Png),
            Document::Futures(FuturesFormat::Csv) => {
                let futures = self.futures.iter();
                let panes = futures.map(|(place, run)| PaneFutures {
                    pane: pane_letter(*place),
                    plan: run.plan(),
                    futures: run.futures(),
                    vocabulary: &run.vocabulary,
                });
                Ok(export::render_futures(&panes.collect::<Vec<_>>()))
            }
            Document::Sweep(file) => match &self.sweep {
                Some(run) => lab_files::sweep_file(run, file, self.view),
                None => Err("there is no sweep".to_owned()),
            },
            Document::Stability(format) => match &self.stability {
                Some((run, place)) => lab_files::stability_file((run, *place), format, self.view),
                None => Err("there is no stability map".to_owned()),
            },
            Document::Fit(format) => match &self.fit {
                Some((run, place)) => lab_files::fit_file((run, *place), format, self.view),
                None => Err("there is no fit".to_owned()),
            },
            Document::Votes(format) => Ok(lab_files::votes_file(&self.votes, format)),
            Document::Cache(format) => match &self.cache {
                Some(run) => lab_files::cache_file(run, format, self.view),
                None => Err("nothing was measured".to_owned()),
            },
            Document::Models(format) => match &self.models {
                Some(run) => lab_files::models_file(run, format, self.view),
                None => Err("nothing was compared".to_owned()),
            },
            Document::Prompts(TableFormat::Csv) => Ok(export::texts_csv(&self.rows)),
            Document::Prompts(TableFormat::Jsonl) => Ok(export::texts_jsonl(&self.rows)),
        }
    }

    /// Draws a plot as SVG.
    fn drawing(&self, plot: Plot) -> Result<String, String> {
        if let Some((data, cause)) = &self.verified {
            return Ok(verified_drawing(
                data,
                cause.as_deref(),
                &self.texts(),
                self.view,
            ));
        }
        if let Some(tree) = &self.tree {
            return Ok(tree_drawing(tree, &self.texts(), self.view));
        }
        match (&self.xray, plot) {
            (Some((xray, caption)), _) => Ok(xray_drawing(xray, caption, self.view)),
            (None, Plot::Xray | Plot::ByHand) => Err("Its probabilities are not known".to_owned()),
            (None, Plot::Gaps) => Err("The run was not verified".to_owned()),
            (None, _) => Ok(drawing(&self.texts(), self.view)),
        }
    }

    /// Returns the pixels of a picture, for the clipboard.
    pub(super) fn pixels(&self, plot: Plot) -> Result<Pixels, String> {
        let drawing = self.drawing(plot)?;
        pixels(&drawing, self.view.style.scale.into())
            .map_err(|error: PictureError| error.to_string())
    }

    fn futures_picture(&self, format: PictureFormat) -> Result<Vec<u8>, String> {
        let panes = self.futures.iter().map(|(place, run)| (*place, run));
        let picture = FuturesPicture {
            panes: panes.collect(),
        };
        let drawing = futures_drawing(&picture, self.view.palette);
        encode(&drawing, format, self.view.style).map_err(|error| error.to_string())
    }
}

/// Returns the stability map, and the index of its pane.
fn shown_stability(state: &AppState) -> Option<(StabilityRun, Option<usize>)> {
    let run = state.lab.stability.clone()?;
    let place = state.place_of(run.pane);
    Some((run, place))
}

/// Copies the futures whose panes still exist.
fn shown_futures(state: &AppState) -> Vec<(usize, FuturesRun)> {
    let runs = state.futures.runs().iter();
    runs.filter_map(|run| Some((state.place_of(run.pane)?, run.clone())))
        .collect()
}

/// Returns the plot of the verification, and what explains a difference.
fn shown_verification(state: &AppState) -> Option<(VerifiedData, Option<String>)> {
    let cause = state.verification.as_ref()?.cause();
    Some((verified_data(state)?, cause))
}

/// Returns the X-ray of the step that the dock shows, under the pane's current settings.
fn shown_xray(state: &AppState) -> Option<(XrayPicture, String)> {
    let (place, step) = state.shown_step()?;
    let pane = state.panes.get(place)?;
    let generation = pane.generation()?;
    let at = StepAt { pane: place, step };
    let (chain, seed) = (&pane.settings.chain, state.seed_of(pane));
    let picture = XrayPicture::of_step(generation, at, chain, seed)?;
    Some((picture, step_caption(generation, at)))
}

/// Returns the X-ray of the logits set by hand.
fn hand_xray(state: &AppState) -> Option<(XrayPicture, String)> {
    let table = state.hand_table().ok()?;
    let place = state.hand_pane();
    let pane = state.panes.get(place)?;
    let piece = |token| Piece::text(state.by_hand.label(token));
    let chain = &pane.settings.chain;
    let picture = XrayPicture::by_hand(place, table, chain, piece);
    Some((
        picture,
        format!("Scores set by hand, seed {}", state.seed_of(pane)),
    ))
}

/// Renders a lesson document, which is small enough to render immediately.
fn rendered(state: &AppState, document: Document) -> Vec<u8> {
    match document {
        Document::Lesson => state.lesson_draft().into_bytes(),
        Document::LessonAnswers => export::answers_csv(&state.lessons.predictions()),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use eframe::egui;

    use super::{Job, Saves};
    use crate::export::json::{Form, RunHeader};
    use crate::state::{Document, RunTexts};
    use crate::ui::pictures::View;

    #[test]
    fn closing_the_window_finishes_writing_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("presets.json");
        let job = Job {
            document: Document::Presets,
            path: path.clone(),
            generations: Vec::new(),
            texts: RunTexts::default(),
            presets: Vec::new(),
            view: View::default(),
            xray: None,
            tree: None,
            verified: None,
            futures: Vec::new(),
            sweep: None,
            stability: None,
            fit: None,
            cache: None,
            models: None,
            votes: Vec::new(),
            rows: Vec::new(),
            rendered: Vec::new(),
            header: RunHeader::default(),
            form: Form::default(),
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

//! What files and pictures contain. Each document copies what it needs from the state, and is
//! rendered from that on another thread.

use std::fs;
use std::io;
use std::path::Path;

use eframe::egui;

use super::lab_files;
use crate::export::{self, ExportFormat, json};
use crate::generation::{Generation, Piece};
use crate::interop::presets;
use crate::plots::{StepAt, VerifiedData};
use crate::state::{AppState, Document, PictureFormat, PictureStyle, Plot, RunTexts, answers_csv};
use crate::ui::pictures::{
    self, Palette, View, XrayPicture, encode, step_caption, tree_drawing, verified_drawing,
    xray_drawing,
};
use crate::ui::run_folder::{self, RenderedRun};
use crate::ui::verified_data;

/// Renders a document.
pub(super) type Render = Box<dyn FnOnce() -> Result<Content, String> + Send>;

/// Draws a plot as SVG.
pub(super) type Drawing = Box<dyn FnOnce() -> String + Send>;

/// Several files, each with its name.
type Files = Vec<(String, Vec<u8>)>;

/// A rendered document.
pub(super) enum Content {
    File(Vec<u8>),
    /// A file that is compressed if its name says so.
    RunFile(Vec<u8>),
    Folder(Files),
    Archive(Files),
}

impl Content {
    /// Writes all of it or nothing.
    pub(super) fn write(self, path: &Path) -> io::Result<()> {
        match self {
            Self::File(bytes) => export::write_atomically(path, &bytes),
            Self::RunFile(bytes) => export::write_by_name(path, &bytes),
            Self::Folder(files) => write_folder(path, &files),
            Self::Archive(files) => export::write_archive(path, &files),
        }
    }
}

/// Writes all files to the folder, which is created if it is missing.
fn write_folder(path: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let is_new = !path.exists();
    let written = fs::create_dir_all(path).and_then(|()| export::write_folder(path, files));
    if written.is_err() && is_new {
        // It is empty, unless another program has put something into it.
        fs::remove_dir(path).ok();
    }
    written
}

/// How pictures look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub palette: Palette,
    pub style: PictureStyle,
}

impl Look {
    /// Returns the look that the user chose.
    pub(super) fn of(state: &AppState, ctx: &egui::Context) -> Self {
        let is_dark = ctx.global_style().visuals.dark_mode;
        Self {
            palette: Palette::of(state.view.picture_theme, is_dark),
            style: state.view.picture,
        }
    }

    /// Encodes a drawing as a file.
    pub(super) fn encode(self, drawing: &str, format: PictureFormat) -> Result<Content, String> {
        let encoded = encode(drawing, format, self.style);
        encoded
            .map(Content::File)
            .map_err(|error| error.to_string())
    }
}

/// Copies what a document needs from the state. Fails if the state doesn't have it.
pub(super) fn gather(state: &AppState, document: Document, look: Look) -> Result<Render, String> {
    Ok(match document {
        Document::Run(ExportFormat::Json) => {
            let run = run_file(state, state.run_texts());
            Box::new(|| Ok(Content::RunFile(run().bytes)))
        }
        Document::Run(format) => {
            let texts = copies(state.generations());
            let finished_at = state.run_header().finished_at;
            file(move || run_folder::render_run(format, &panes(&texts), finished_at))
        }
        Document::Everything => everything(state, look.style, Content::Folder),
        Document::Archive => everything(state, look.style, Content::Archive),
        Document::Picture(plot, format) => {
            let draw = drawing(state, plot, look)?;
            Box::new(move || look.encode(&draw(), format))
        }
        Document::Futures(format) => lab_files::futures(state, format, look),
        Document::Sweep(file) => lab_files::sweep(state, file, look)?,
        Document::Stability(format) => lab_files::stability(state, format, look)?,
        Document::Prompts(format) => lab_files::prompts(state, format),
        Document::Fit(format) => lab_files::fit(state, format, look)?,
        Document::Cache(format) => lab_files::cache(state, format, look)?,
        Document::Models(format) => lab_files::models(state, format, look)?,
        Document::Votes(format) => lab_files::votes(state, format),
        Document::Presets => {
            let presets = state.presets.clone();
            file(move || presets::file::render(&presets))
        }
        Document::Lesson => {
            let lesson = state.lesson_draft();
            file(|| lesson.into_bytes())
        }
        Document::LessonAnswers => {
            let predictions = state.lessons.predictions();
            file(move || answers_csv(&predictions))
        }
    })
}

/// Returns what renders a single file.
pub(super) fn file(bytes: impl FnOnce() -> Vec<u8> + Send + 'static) -> Render {
    Box::new(|| Ok(Content::File(bytes())))
}

/// Returns what renders these texts as the run on screen.
fn run_file(state: &AppState, texts: RunTexts) -> impl FnOnce() -> RenderedRun + Send + use<> {
    let (header, form) = (state.run_header(), state.view.run_file.form());
    move || RenderedRun {
        finished_at: header.finished_at,
        bytes: json::write_run(&texts.into_run(header), form),
    }
}

/// Returns what renders the chosen panes in every format with every plot.
fn everything(state: &AppState, style: PictureStyle, content: fn(Files) -> Content) -> Render {
    let texts = copies(state.generations_to_export());
    let run = run_file(state, state.run_texts_to_export());
    Box::new(move || run_folder::files(&panes(&texts), run(), style).map(content))
}

/// Copies the texts of panes, which share their steps.
fn copies(panes: Vec<Option<&Generation>>) -> Vec<Option<Generation>> {
    let texts = panes.into_iter();
    texts.map(Option::<&Generation>::cloned).collect()
}

fn panes(texts: &[Option<Generation>]) -> Vec<Option<&Generation>> {
    texts.iter().map(Option::as_ref).collect()
}

/// Copies what a plot needs from the state. Fails if the state doesn't have it.
pub(super) fn drawing(state: &AppState, plot: Plot, look: Look) -> Result<Drawing, String> {
    let view = View {
        plot,
        measure: state.view.score,
        cap: state.view.score_cap,
        in_one: state.view.score_layout.is_one_plot(),
        watermark: state.view.watermark,
        tint: state.view.tint,
        step: state.shown_step().map(|(pane, step)| StepAt { pane, step }),
        palette: look.palette,
        style: look.style,
    };
    let texts = copies(state.generations());
    Ok(match plot {
        Plot::Xray => xray(shown_xray(state), view)?,
        Plot::ByHand => xray(hand_xray(state), view)?,
        Plot::Tree => {
            let tree = state.current_branch_tree();
            Box::new(move || tree_drawing(&tree, &panes(&texts), view))
        }
        Plot::Gaps => {
            let (data, cause) = shown_verification(state).ok_or("The run was not verified")?;
            Box::new(move || verified_drawing(&data, cause.as_deref(), &panes(&texts), view))
        }
        _ => Box::new(move || pictures::drawing(&panes(&texts), view)),
    })
}

/// Returns the plot of the verification, and what explains a difference.
fn shown_verification(state: &AppState) -> Option<(VerifiedData, Option<String>)> {
    let cause = state.runs.verification.as_ref()?.cause();
    Some((verified_data(state)?, cause))
}

/// Returns what draws an X-ray with its caption.
fn xray(shown: Option<(XrayPicture, String)>, view: View) -> Result<Drawing, String> {
    let (xray, caption) = shown.ok_or("Its probabilities are not known")?;
    Ok(Box::new(move || xray_drawing(&xray, &caption, view)))
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

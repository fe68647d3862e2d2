//! What renders the documents that can be saved. Each copies what it needs from the state, and is
//! rendered from that on another thread.
//!
//! An experiment's documents are in its folder. `app::documents` lists all kinds.

mod picture;
mod run;
mod window;

use egui::Context;

use super::pictures::{Look, Palette, encode};
use crate::export::{dated_json, dated_table};
use crate::lab::LabTab;
use crate::state::{
    AppState, DocumentKind, PictureFormat, PictureStyle, ResultFormat, unix_time_secs,
};

/// A kind of document that can be rendered.
pub trait RenderedDocument: DocumentKind {
    /// Copies what it needs from the state and returns what renders it, or says why there is
    /// nothing to render.
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String>;
}

/// Renders a document.
pub type Render = Box<dyn FnOnce() -> Result<Content, String> + Send>;

/// Several files, each with its name.
pub type Files = Vec<(String, Vec<u8>)>;

/// A rendered document.
#[derive(Debug)]
pub enum Content {
    File(Vec<u8>),
    /// A file that is compressed if its name says so.
    RunFile(Vec<u8>),
    Folder(Files),
    Archive(Files),
}

impl Look {
    /// Returns the look that the user chose.
    pub fn of(state: &AppState, ctx: &Context) -> Self {
        let is_dark = ctx.global_style().visuals.dark_mode;
        Self {
            palette: Palette::of(state.view.picture_theme, is_dark),
            style: state.view.picture,
            csv_reader: state.view.run_file.csv_reader,
            finished_at: None,
        }
    }

    /// Returns the same look for files of this tab's results, which say when the experiment finished.
    #[must_use]
    pub fn of_results(self, tab: LabTab, state: &AppState) -> Self {
        Self {
            finished_at: Some(state.lab.finished_at(tab)),
            ..self
        }
    }

    /// Returns the look of the files of an experiment that a command has just finished.
    pub fn of_command(style: PictureStyle) -> Self {
        Self {
            palette: Palette::Light,
            style,
            finished_at: Some(unix_time_secs()),
            ..Self::default()
        }
    }

    /// Encodes a drawing as a file.
    pub fn encode(self, drawing: &str, format: PictureFormat) -> Result<Content, String> {
        let encoded = encode(drawing, format, self.style);
        encoded
            .map(Content::File)
            .map_err(|error| error.to_string())
    }

    /// Renders a result as a picture, or as a table for CSV.
    pub fn render_result(
        self,
        format: ResultFormat,
        table: impl FnOnce() -> Vec<u8>,
        drawing: impl FnOnce() -> String,
    ) -> Result<Content, String> {
        match format {
            ResultFormat::Picture(format) => self.encode(&drawing(), format),
            ResultFormat::Csv => Ok(self.table(table())),
        }
    }

    /// Returns a table as a file.
    pub fn table(self, bytes: Vec<u8>) -> Content {
        let bytes = match self.finished_at {
            Some(finished_at) => dated_table(&bytes, finished_at),
            None => bytes,
        };
        Content::File(self.csv_reader.table(bytes))
    }

    /// Returns a JSON object as a file.
    pub fn json(self, bytes: Vec<u8>) -> Content {
        Content::File(match self.finished_at {
            Some(finished_at) => dated_json(bytes, finished_at),
            None => bytes,
        })
    }
}

/// Returns what renders a single file.
pub fn file(bytes: impl FnOnce() -> Vec<u8> + Send + 'static) -> Render {
    Box::new(|| Ok(Content::File(bytes())))
}

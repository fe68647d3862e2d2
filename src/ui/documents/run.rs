//! The run on screen as a file, and everything as a folder or an archive.

use super::{Content, Files, Render, RenderedDocument, file};
use crate::export::{ExportFormat, FileFacts, json};
use crate::generation::Generation;
use crate::state::{AppState, EverythingDocument, RunDocument, RunTexts};
use crate::ui::pictures::Look;
use crate::ui::run_folder::{self, RenderedRun};

impl RenderedDocument for RunDocument {
    fn gather(&self, state: &AppState, _look: Look) -> Result<Render, String> {
        let format = self.0;
        if format == ExportFormat::Json {
            let run = run_file(state, state.run_texts());
            return Ok(Box::new(|| Ok(Content::RunFile(run().bytes))));
        }
        let texts = copies(state.generations());
        let facts = file_facts(state);
        Ok(file(move || {
            run_folder::render_run(format, &panes(&texts), facts)
        }))
    }
}

impl RenderedDocument for EverythingDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let content: fn(Files) -> Content = match self {
            Self::Folder => Content::Folder,
            Self::Archive => Content::Archive,
        };
        let texts = copies(state.generations_to_export());
        let run = run_file(state, state.run_texts_to_export());
        Ok(Box::new(move || {
            run_folder::files(&panes(&texts), run(), look.style).map(content)
        }))
    }
}

fn file_facts(state: &AppState) -> FileFacts {
    FileFacts {
        finished_at: state.run_header().finished_at,
        leaves_thoughts_out: state.view.run_file.leaves_thoughts_out,
        csv_reader: state.view.run_file.csv_reader,
    }
}

/// Returns what renders these texts as the run on screen.
fn run_file(state: &AppState, texts: RunTexts) -> impl FnOnce() -> RenderedRun + Send + use<> {
    let (header, form) = (state.run_header(), state.view.run_file.form());
    let facts = file_facts(state);
    move || RenderedRun {
        facts,
        bytes: json::write_run(&texts.into_run(header), form),
    }
}

/// Copies the texts of panes, which share their steps.
pub(super) fn copies(panes: Vec<Option<&Generation>>) -> Vec<Option<Generation>> {
    let texts = panes.into_iter();
    texts.map(Option::<&Generation>::cloned).collect()
}

pub(super) fn panes(texts: &[Option<Generation>]) -> Vec<Option<&Generation>> {
    texts.iter().map(Option::as_ref).collect()
}

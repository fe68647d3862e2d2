//! The texts of the list of prompts as a file.

use crate::export;
use crate::lab::prompts::BatchRun;
use crate::state::{AppState, DocumentKind, Unsaved};
use crate::ui::documents::{Render, RenderedDocument, file};
use crate::ui::pictures::Look;

/// The texts of the list of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptsDocument {
    Csv,
    Jsonl,
}

impl PromptsDocument {
    /// All formats, in menu order.
    pub const ALL: [Self; 2] = [Self::Csv, Self::Jsonl];

    /// Returns the name of the format.
    pub const fn format_name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Jsonl => "JSON Lines",
        }
    }
}

impl DocumentKind for PromptsDocument {
    fn name(&self) -> &'static str {
        "the texts"
    }

    fn file_name(&self) -> String {
        match self {
            Self::Csv => "quartet-prompts.csv".to_owned(),
            Self::Jsonl => "quartet-prompts.jsonl".to_owned(),
        }
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The texts were not saved",
            kept: "They are still on screen",
        }
    }
}

impl RenderedDocument for PromptsDocument {
    fn gather(&self, state: &AppState, _look: Look) -> Result<Render, String> {
        let document = *self;
        let batch = state.lab.prompts.run.as_ref();
        let rows = batch.map(BatchRun::rows).unwrap_or_default();
        Ok(file(move || match document {
            Self::Csv => export::texts_csv(&rows),
            Self::Jsonl => export::texts_jsonl(&rows),
        }))
    }
}

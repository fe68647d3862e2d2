//! The formats of files of tasks, and how they are told apart.

use std::path::Path;

use super::csv;

/// How the text of a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Csv,
    Json,
    JsonLines,
    Lines,
}

impl Format {
    /// Tells the format by the extension, and by the content if there is no extension that says it, as
    /// for standard input. JSON is told from JSON Lines by its first character.
    pub(super) fn of(name: &str, text: &str) -> Self {
        let extension = Path::new(name).extension().and_then(|it| it.to_str());
        let extension = extension.unwrap_or_default().to_ascii_lowercase();
        match extension.as_str() {
            "csv" | "tsv" => Self::Csv,
            "json" | "jsonl" | "ndjson" => json_of(text),
            "md" | "txt" => Self::Lines,
            _ if is_object_list(text) => json_of(text),
            _ if csv::has_known_columns(text) => Self::Csv,
            _ => Self::Lines,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::JsonLines => "JSON Lines",
            Self::Lines => "Plain lines",
        }
    }
}

fn json_of(text: &str) -> Format {
    if text.trim_start().starts_with('[') {
        Format::Json
    } else {
        Format::JsonLines
    }
}

/// Returns whether a text starts with a JSON object, or a list of them.
fn is_object_list(text: &str) -> bool {
    let text = text.trim_start();
    let inside = text.strip_prefix('[').map_or(text, str::trim_start);
    let after_brace = inside.strip_prefix('{').map(str::trim_start);
    after_brace.is_some_and(|rest| rest.starts_with(['"', '}']))
}

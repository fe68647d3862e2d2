//! Parses the `--pane` arguments.

use std::path::Path;
use std::str::FromStr;

use super::console;
use super::failure::Failure;
use super::text_input::{MAX_TEXT_BYTES, read_text};
use crate::analysis::ignored_formats;
use crate::generation::PaneSettings;
use crate::interop::with_grammar_files;

/// Parses each `--pane`, or returns the default panes of a new window if there are none.
pub(crate) fn pane_settings(descriptions: &[String]) -> Result<Vec<PaneSettings>, Failure> {
    if descriptions.is_empty() {
        return Ok(PaneSettings::classics().to_vec());
    }
    let parse = |description: &String| pane_of(description);
    descriptions.iter().map(parse).collect()
}

/// Parses one `--pane`, after reading the files that it names.
pub(crate) fn pane_of(description: &str) -> Result<PaneSettings, Failure> {
    let read = |name: &str| {
        let text = read_text(Path::new(name), "the grammar", MAX_TEXT_BYTES);
        text.map_err(Failure::into_usage)
    };
    let description = with_grammar_files(description, read)?;
    let settings = PaneSettings::from_str(&description).map_err(|error| {
        let pointed = error.pointing_into(&description);
        Failure::usage(format!("invalid pane settings:\n\n{pointed}"))
    })?;
    let grammar = settings.chain.grammar.as_deref();
    if let Some(ignored) = grammar.and_then(ignored_formats) {
        console::note(&format!("note: {ignored}"));
    }
    Ok(settings)
}

//! Explains the words of the glossary where they appear.

use egui::Response;

use crate::glossary::term;

/// Adds the meaning of a label as a tooltip, if it is a word of the glossary.
pub(super) fn explained(response: Response, label: &str) -> Response {
    match term(label) {
        Some(term) => response.on_hover_text(term.explanation()),
        None => response,
    }
}

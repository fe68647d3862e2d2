//! Text fields of several lines, with a limit: laying out a text takes about 600 bytes of memory for
//! each character, and a second for a million of them.

use egui::{TextEdit, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::{cut_to_limit, cut_words};

/// Creates a field of several lines. A text that is too long, as from a file, is cut, so that
/// [`cut_note`] says so.
pub fn long_text(text: &mut String) -> TextEdit<'_> {
    let n_max = cut_to_limit(text);
    TextEdit::multiline(text).char_limit(n_max)
}

/// Says below a field that its text was cut, if it was.
pub fn cut_note(ui: &mut Ui, text: &str) {
    if let Some(words) = cut_words(text) {
        ui.label(Face::Small.text(words).color(Theme::of(ui).error));
    }
}

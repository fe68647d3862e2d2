//! A candidate's word as the axis shows it: nothing in it is invisible.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Galley, Stroke, Ui};

use crate::generation::{Piece, PieceKind};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::words::code_point;

/// A part of a word, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// As it stands in the text.
    Plain(String),
    /// A sign in place of white space.
    Sign(char),
    /// A special token, bytes that are no characters, or a character that cannot be seen.
    Code(String),
}

/// Sets the word in `color`, its marks paler, and ends it in "…" where it is wider than `width`;
/// a word that was cut is struck out.
pub(in crate::ui) fn word_galley(
    ui: &Ui,
    piece: &Piece,
    (color, struck): (Color32, bool),
    width: f32,
) -> Arc<Galley> {
    let theme = Theme::of(ui);
    let mut job = LayoutJob::default();
    for part in parts(piece) {
        let (text, face, color) = match part {
            Part::Plain(text) => (text, Face::Candidate, color),
            Part::Sign(sign) => (sign.to_string(), Face::Candidate, theme.text_3),
            Part::Code(text) => (text, Face::Special, color),
        };
        let mut format = TextFormat::simple(face.font(), color);
        if struck {
            format.strikethrough = Stroke::new(1.0, theme.struck_text);
        }
        job.append(&text, 0.0, format);
    }
    job.wrap = egui::text::TextWrapping::truncate_at_width(width);
    ui.painter().layout_job(job)
}

fn parts(piece: &Piece) -> Vec<Part> {
    let (Some(text), PieceKind::Text) = (piece.as_str(), piece.kind) else {
        return vec![Part::Code(piece.to_string())];
    };
    if text.is_empty() {
        return vec![Part::Code("(empty)".to_owned())];
    }
    let mut parts: Vec<Part> = Vec::new();
    let words = text.trim_matches(' ');
    let start = text.len() - text.trim_start_matches(' ').len();
    for (at, character) in text.char_indices() {
        let within = at >= start && at < start + words.len();
        match character {
            // A space between words can be seen as it is.
            ' ' if within => push_plain(&mut parts, ' '),
            ' ' => parts.push(Part::Sign('·')),
            '\n' => parts.push(Part::Sign('↵')),
            '\t' => parts.push(Part::Sign('⇥')),
            _ if is_invisible(character) => {
                parts.push(Part::Code(code_point(character)));
            }
            _ => push_plain(&mut parts, character),
        }
    }
    parts
}

fn push_plain(parts: &mut Vec<Part>, character: char) {
    match parts.last_mut() {
        Some(Part::Plain(text)) => text.push(character),
        _ => parts.push(Part::Plain(character.to_string())),
    }
}

/// Controls, other white space, and the marks that only steer how text is laid out.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || character.is_whitespace()
        || matches!(character, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_word_is_invisible() {
        let plain = |text: &str| Part::Plain(text.to_owned());
        let code = |text: &str| Part::Code(text.to_owned());
        let cases = [
            (Piece::text("fox"), vec![plain("fox")]),
            (Piece::text(" fox"), vec![Part::Sign('·'), plain("fox")]),
            (Piece::text("of the"), vec![plain("of the")]),
            (Piece::text("  "), vec![Part::Sign('·'), Part::Sign('·')]),
            (Piece::text("\n\n"), vec![Part::Sign('↵'), Part::Sign('↵')]),
            (Piece::text(".\t"), vec![plain("."), Part::Sign('⇥')]),
            (Piece::text("\u{200B}"), vec![code("U+200B")]),
            (Piece::text("\u{A0}"), vec![code("U+00A0")]),
            (Piece::text([0xE2, 0x82]), vec![code("E2 82")]),
            (Piece::text(""), vec![code("(empty)")]),
            (Piece::special("</s>"), vec![code("</s>")]),
        ];
        for (piece, expected) in cases {
            assert_eq!(parts(&piece), expected, "{piece:?}");
        }
    }
}

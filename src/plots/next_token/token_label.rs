//! A candidate's text as a label: every character in it is visible.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Galley, Stroke, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::code_point;
use crate::generation::{Piece, PieceKind};

/// A part of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Ordinary text.
    Plain(String),
    /// The mark that stands for a whitespace character.
    Mark(char),
    /// A special token, bytes that are not valid UTF-8, or the code point of an invisible
    /// character.
    Code(String),
}

/// How a token's label looks.
#[derive(Debug, Clone, Copy)]
pub struct TokenStyle {
    pub color: Color32,
    pub strikethrough: bool,
}

impl TokenStyle {
    /// A label in this color, without strikethrough.
    pub const fn plain(color: Color32) -> Self {
        Self {
            color,
            strikethrough: false,
        }
    }
}

/// Lays out a token's label with paler whitespace marks, truncated with "…" at `width`.
pub fn token_galley(ui: &Ui, piece: &Piece, style: TokenStyle, width: f32) -> Arc<Galley> {
    let theme = Theme::of(ui);
    let mut job = LayoutJob::default();
    for part in parts(piece) {
        let (text, face, color) = match part {
            Part::Plain(text) => (text, Face::Candidate, style.color),
            Part::Mark(mark) => (mark.to_string(), Face::Candidate, theme.text_3),
            Part::Code(text) => (text, Face::Special, style.color),
        };
        let mut format = TextFormat::simple(face.font(), color);
        if style.strikethrough {
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
            // A space between words needs no mark.
            ' ' if within => push_plain(&mut parts, ' '),
            ' ' => parts.push(Part::Mark('·')),
            '\n' => parts.push(Part::Mark('↵')),
            '\t' => parts.push(Part::Mark('⇥')),
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

/// Returns whether a character is a control character, other whitespace, or only affects layout.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || character.is_whitespace()
        || matches!(character, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_a_label_is_visible() {
        let plain = |text: &str| Part::Plain(text.to_owned());
        let code = |text: &str| Part::Code(text.to_owned());
        let cases = [
            (Piece::text("fox"), vec![plain("fox")]),
            (Piece::text(" fox"), vec![Part::Mark('·'), plain("fox")]),
            (Piece::text("of the"), vec![plain("of the")]),
            (Piece::text("  "), vec![Part::Mark('·'), Part::Mark('·')]),
            (Piece::text("\n\n"), vec![Part::Mark('↵'), Part::Mark('↵')]),
            (Piece::text(".\t"), vec![plain("."), Part::Mark('⇥')]),
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

//! What is typed in place from right to left, as it is drawn: egui's field takes the keys, but it
//! places words and the caret from left to right.

use std::ops::Range;

use egui::emath::Rangef;
use egui::{Color32, Pos2, Rect, Ui, vec2};

use super::layout::{Chunk, Layout};
use super::rows::{Row, Span};
use super::transcript::Transcript;
use super::visual_order::is_right_to_left;
use crate::design::fonts::Face;

/// A text laid out in visual order, each character of which can be found.
#[derive(Debug)]
pub(super) struct TypedText {
    transcript: Transcript,
    layout: Layout,
    /// The width of its lines, which begin at the right edge.
    width: f32,
    /// Whether each of its characters is written from right to left.
    directions: Vec<bool>,
}

impl TypedText {
    /// Lays out a text in lines of this width.
    pub(super) fn lay_out(ui: &Ui, text: &str, width: f32) -> Self {
        let transcript = Transcript::of_characters(text);
        let mut layout = Layout::default();
        layout.update(ui, &transcript, width);
        Self {
            transcript,
            layout,
            width,
            directions: directions(text),
        }
    }

    /// Returns its rows, each with its top in the text.
    fn rows(&self) -> impl Iterator<Item = (f32, &Row)> {
        let chunks = self.layout.chunks().iter();
        chunks.flat_map(|chunk: &Chunk| chunk.rows.iter().map(|row| (chunk.y.min, row)))
    }

    /// Returns the rectangle of each row, without the empty space before or after it.
    pub(super) fn row_rects(&self) -> Vec<Rect> {
        let rect = |(top, row): (f32, &Row)| {
            let left = row.spans.first().map_or(self.width, |span| span.x.min);
            let right = row.spans.last().map_or(self.width, |span| span.x.max);
            let y = Rangef::new(top + row.y.min, top + row.y.max);
            Rect::from_x_y_ranges(Rangef::new(left, right), y)
        };
        self.rows().map(rect).collect()
    }

    /// Returns the rectangle of a character.
    fn rect_of(&self, index: usize) -> Option<Rect> {
        self.rows().find_map(|(top, row)| {
            let is_it = |span: &&Span| span.step == Some(index);
            let span = row.spans.iter().find(is_it)?;
            let y = Rangef::new(top + row.y.min, top + row.y.max);
            Some(Rect::from_x_y_ranges(span.x, y))
        })
    }

    /// Returns the edge at which a character begins or ends when it is read.
    fn edge(&self, index: usize, is_end: bool) -> Option<(f32, Rangef)> {
        let rect = self.rect_of(index)?;
        let is_reversed = self.directions.get(index).copied()?;
        let x = if is_reversed == is_end {
            rect.left()
        } else {
            rect.right()
        };
        Some((x, rect.y_range()))
    }

    /// Returns where the caret is before the character at this index, or after the last one. It stays
    /// with the character before it, unless that is a line break.
    pub(super) fn caret(&self, index: usize) -> Rect {
        let before = index.checked_sub(1).filter(|_| !self.begins_row(index));
        let edge = match before {
            Some(before) => self.edge(before, true),
            None => self.edge(index, false),
        };
        let last_row = || {
            let top = self.rows().last().map_or(0.0, |(top, row)| top + row.y.min);
            // An empty row is lower than one of letters.
            (self.width, Rangef::new(top, top + Face::Read.row()))
        };
        let (x, y) = edge.unwrap_or_else(last_row);
        Rect::from_x_y_ranges(Rangef::point(x), y)
    }

    /// Returns whether a line break is before this character.
    fn begins_row(&self, index: usize) -> bool {
        let before = self.transcript.step_start(index);
        let before = before.or(Some(self.transcript.text().len()));
        let before = before.and_then(|end| self.transcript.text().get(..end));
        before.is_some_and(|before| before.ends_with('\n'))
    }

    /// Returns the index at which the caret is nearest to a position in the text.
    pub(super) fn index_at(&self, at: Pos2) -> usize {
        let distance = |index: &usize| {
            let caret = self.caret(*index);
            let y = at.y.clamp(caret.top(), caret.bottom());
            ((y - at.y).abs(), (caret.left() - at.x).abs())
        };
        let all = 0..=self.directions.len();
        let nearest = all.min_by(|a, b| {
            let (a, b) = (distance(a), distance(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        nearest.unwrap_or_default()
    }

    /// Paints the text at this corner in one color, and a background behind the selected characters.
    pub(super) fn paint(&mut self, ui: &Ui, at: Pos2, color: Color32, selected: Range<usize>) {
        let background = ui.visuals().selection.bg_fill;
        for rect in selected.filter_map(|index| self.rect_of(index)) {
            let rect = rect.translate(at.to_vec2());
            ui.painter().rect_filled(rect, 0, background);
        }
        let all = Rangef::new(0.0, f32::INFINITY);
        for (chunk, galley) in self.layout.visible(ui, &self.transcript, all) {
            let at = at + vec2(0.0, chunk.y.min);
            ui.painter()
                .galley_with_override_text_color(at, galley, color);
        }
    }
}

/// Returns whether each character is written from right to left: a letter that is, or a space or a
/// mark after one.
fn directions(text: &str) -> Vec<bool> {
    let mut is_reversed = true;
    let directions = text.chars().map(|c| {
        if is_right_to_left(c) {
            is_reversed = true;
        } else if c.is_alphanumeric() {
            is_reversed = false;
        }
        is_reversed
    });
    directions.collect()
}

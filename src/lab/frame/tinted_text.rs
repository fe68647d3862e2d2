//! A text of pieces, each with its own tint, of which some can be pointed at and ringed.

use std::ops::Range;
use std::sync::Arc;

use egui::text::{CCursor, LayoutJob, TextFormat};
use egui::{Color32, Galley, Pos2, Rect, Stroke, StrokeKind, Ui, Vec2};

/// A text that is laid out.
pub(in crate::lab) struct TintedText {
    galley: Arc<Galley>,
    /// The number of characters up to the end of each piece.
    ends: Vec<usize>,
    /// The number of spaces at the start of each piece, which are neither tinted nor ringed.
    n_spaces: Vec<usize>,
}

impl TintedText {
    /// Lays out pieces in lines of this width.
    pub(in crate::lab) fn new(
        ui: &Ui,
        width: f32,
        pieces: impl IntoIterator<Item = (String, TextFormat)>,
    ) -> Self {
        let mut job = LayoutJob::default();
        job.wrap.max_width = width;
        let (mut ends, mut n_spaces) = (Vec::new(), Vec::new());
        for (piece, format) in pieces {
            let before = ends.last().copied().unwrap_or(0);
            ends.push(before + piece.chars().count());
            let word = piece.trim_start_matches(' ');
            let (spaces, word) = match piece.strip_suffix(word) {
                Some(spaces) if !word.is_empty() => (spaces, word),
                _ => ("", piece.as_str()),
            };
            n_spaces.push(spaces.len());
            let plain = TextFormat {
                background: Color32::TRANSPARENT,
                underline: Stroke::NONE,
                ..format.clone()
            };
            job.append(spaces, 0.0, plain);
            job.append(word, 0.0, format);
        }
        let galley = ui.painter().layout_job(job);
        Self {
            galley,
            ends,
            n_spaces,
        }
    }

    /// Returns the text without its tints.
    pub(in crate::lab) fn text(&self) -> &str {
        self.galley.text()
    }

    pub(in crate::lab) fn size(&self) -> Vec2 {
        self.galley.size()
    }

    /// Paints the text. Each piece has its own color.
    pub(in crate::lab) fn paint(&self, ui: &Ui, at: Pos2) {
        let color = ui.visuals().text_color();
        ui.painter().galley(at, Arc::clone(&self.galley), color);
    }

    /// Returns the index of the piece at a point, counted from the corner of the text.
    pub(in crate::lab) fn piece_at(&self, point: Vec2) -> Option<usize> {
        let cursor = self.galley.cursor_from_pos(point);
        let index = self.ends.partition_point(|end| *end <= cursor.index.0);
        (index < self.ends.len()).then_some(index)
    }

    /// Rings pieces of the text that was painted here. What wraps is ringed on its first line only.
    pub(in crate::lab) fn ring(&self, ui: &Ui, at: Pos2, pieces: Range<usize>, edge: Stroke) {
        let end_of = |n: usize| {
            let end = n.checked_sub(1).and_then(|piece| self.ends.get(piece));
            end.copied().unwrap_or(0)
        };
        let caret_at = |index: usize| {
            let caret = self.galley.pos_from_cursor(CCursor::new(index));
            caret.translate(at.to_vec2())
        };
        let n_spaces = self.n_spaces.get(pieces.start).copied().unwrap_or(0);
        let start = end_of(pieces.start) + n_spaces;
        let (first, last): (Rect, Rect) = (caret_at(start), caret_at(end_of(pieces.end)));
        let right = if last.top() > first.top() {
            at.x + self.galley.size().x
        } else {
            last.right()
        };
        let ring = first.with_max_x(right.max(first.left() + 2.0)).expand(1.0);
        ui.painter().rect_stroke(ring, 3, edge, StrokeKind::Outside);
    }
}

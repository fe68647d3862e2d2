//! Lays the text out in rows. Rows that can no longer change are frozen into chunks; only the tail
//! is laid out again when a token arrives.
//!
//! Row ends are computed one row at a time, each from the start of its row. egui rounds glyph
//! positions relative to the start of the laid-out text, so otherwise a word that just fits could
//! end up on either row, depending on how the text arrived.
//!
//! A chunk keeps its layout job and asks egui for the galley in every frame that shows it: galleys
//! point into the font atlas, which egui may clear at any time.

use std::ops::Range;
use std::sync::{Arc, Weak};

use egui::emath::Rangef;
use egui::text::LayoutJob;
use egui::{Galley, Ui};

use super::jobs::{job_of_rows, n_glyphs_of, width_of, wrapped_job};
use super::rows::{Row, rows_of};
use super::transcript::Transcript;
use super::visual_order::{RowPlan, has_right_to_left};
use super::word_breaks;
use crate::design::appearance;
use crate::state::ReadingFont;

/// The number of rows in a frozen chunk.
const CHUNK_ROWS: usize = 8;

/// A row is final once this many rows follow it. Until then, its last word may still move.
const N_TENTATIVE_ROWS: usize = 2;

/// The number of bytes laid out at first: about three rows of a narrow pane.
const INITIAL_BYTES: usize = 120;

/// Everything a layout depends on besides the text.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key {
    width: f32,
    pixels_per_point: f32,
    dark: bool,
    font: ReadingFont,
}

/// Consecutive rows in one galley.
#[derive(Debug)]
pub(super) struct Chunk {
    job: LayoutJob,
    /// The galley from which `rows` was computed.
    galley: Weak<Galley>,
    /// The range of the transcript's text.
    bytes: Range<usize>,
    plans: Vec<RowPlan>,
    /// The vertical range within the text.
    pub(super) y: Rangef,
    /// Coordinates are relative to the chunk.
    pub(super) rows: Vec<Row>,
}

/// A text laid out at one width.
#[derive(Debug, Default)]
pub(super) struct Layout {
    key: Option<Key>,
    chunks: Vec<Chunk>,
    /// How many of the chunks are frozen; at most one tail chunk follows them.
    n_frozen: usize,
    /// The ends, in bytes, of the final rows after the frozen chunks.
    final_ends: Vec<usize>,
    /// The number of bytes laid out so far.
    end: usize,
}

impl Layout {
    /// Discards the layout.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Lays out new text, or everything if the width, the scale, the theme or the font has changed.
    pub(super) fn update(&mut self, ui: &Ui, transcript: &Transcript, width: f32) {
        let key = Key {
            width,
            pixels_per_point: ui.pixels_per_point(),
            dark: ui.visuals().dark_mode,
            font: appearance::reading_font(ui),
        };
        if self.key != Some(key) {
            self.clear();
            self.key = Some(key);
        }
        if self.end < transcript.text().len() || self.chunks.is_empty() {
            self.lay_out_more(ui, transcript, width);
        }
    }

    /// Returns the height of the text.
    pub(super) fn height(&self) -> f32 {
        self.chunks.last().map_or(0.0, |chunk| chunk.y.max)
    }

    /// Returns all chunks, from top to bottom.
    pub(super) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Returns the chunks within a vertical range of the text, with galleys valid in this frame.
    pub(super) fn visible(
        &mut self,
        ui: &Ui,
        transcript: &Transcript,
        y: Rangef,
    ) -> Vec<(&Chunk, Arc<Galley>)> {
        let first = self.chunks.partition_point(|chunk| chunk.y.max < y.min);
        self.chunks
            .iter_mut()
            .skip(first)
            .take_while(|chunk| chunk.y.min <= y.max)
            .map(|chunk| {
                let galley = chunk.galley(ui, transcript);
                (&*chunk, galley)
            })
            .collect()
    }

    /// Returns the row at this height.
    pub(super) fn row_at(&self, y: f32) -> Option<&Row> {
        let index = self.chunks.partition_point(|chunk| chunk.y.max <= y);
        let chunk = self.chunks.get(index)?;
        let row = chunk
            .rows
            .partition_point(|row| chunk.y.min + row.y.max <= y);
        chunk.rows.get(row)
    }

    /// Returns the vertical range of the row that contains a byte of the transcript.
    pub(super) fn row_of(&self, byte: usize) -> Option<Rangef> {
        let index = self.chunks.partition_point(|chunk| chunk.bytes.end <= byte);
        let chunk = self.chunks.get(index)?;
        let row = chunk.rows.partition_point(|row| row.bytes.end <= byte);
        let y = chunk.rows.get(row)?.y;
        Some(Rangef::new(chunk.y.min + y.min, chunk.y.min + y.max))
    }

    fn lay_out_more(&mut self, ui: &Ui, transcript: &Transcript, width: f32) {
        self.chunks.truncate(self.n_frozen);
        self.end = transcript.text().len();
        let mut row_start = self.final_ends.last().copied();
        let (mut tentative_ends, mut n_bytes) = (Vec::new(), INITIAL_BYTES);
        loop {
            let from = row_start.unwrap_or_else(|| self.frozen_end());
            if from >= self.end {
                break;
            }
            let (end, is_final) = row_end(ui, transcript, from, width, &mut n_bytes);
            row_start = Some(end);
            if is_final {
                self.final_ends.push(end);
            } else {
                tentative_ends.push(end);
            }
            if self.final_ends.len() == CHUNK_ROWS {
                let ends = std::mem::take(&mut self.final_ends);
                self.push_chunk(ui, transcript, &ends);
                self.n_frozen = self.chunks.len();
            }
        }
        let mut tail = self.final_ends.clone();
        tail.extend(tentative_ends);
        if transcript.text().is_empty() || transcript.text().ends_with('\n') {
            tail.push(self.end);
        }
        if !tail.is_empty() {
            self.push_chunk(ui, transcript, &tail);
        }
    }

    fn frozen_end(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.bytes.end)
    }

    /// Adds a chunk of rows with these ends.
    fn push_chunk(&mut self, ui: &Ui, transcript: &Transcript, ends: &[usize]) {
        let from = self.frozen_end();
        let starts = [from].into_iter().chain(ends.iter().copied());
        let rows = starts.zip(ends).map(|(start, end)| start..*end);
        let plans: Vec<RowPlan> = rows.map(|row| RowPlan::new(transcript, row)).collect();
        let width = self.key.map_or(0.0, |key| key.width);
        let mut chunk = Chunk {
            job: job_of_rows(ui, transcript, &plans, width),
            galley: Weak::new(),
            bytes: from..ends.last().copied().unwrap_or(from),
            plans,
            y: Rangef::point(self.height()),
            rows: Vec::new(),
        };
        chunk.galley(ui, transcript);
        chunk.y.max += chunk.rows.last().map_or(0.0, |row| row.y.max);
        self.chunks.push(chunk);
    }
}

/// Returns the end of the row that starts at `from`, and whether it is final, whatever text
/// follows. Doubles `n_bytes`, the number of bytes to lay out, until it suffices.
fn row_end(
    ui: &Ui,
    transcript: &Transcript,
    from: usize,
    width: f32,
    n_bytes: &mut usize,
) -> (usize, bool) {
    let text = transcript.text();
    loop {
        let end = char_boundary(text, from + *n_bytes);
        if has_right_to_left(text.get(from..end).unwrap_or_default()) {
            let width_of = |bytes| width_of(ui, transcript, &RowPlan::new(transcript, bytes));
            let row = word_breaks::row_end(text, from, width, width_of);
            // It must not depend on how much of the text was there.
            if has_right_to_left(text.get(from..row.0).unwrap_or_default()) {
                return row;
            }
        }
        let job = wrapped_job(ui, transcript, from..end, width);
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
        let is_final = galley.rows.len() > N_TENTATIVE_ROWS;
        if is_final || end == text.len() {
            let rows = rows_of(&galley, transcript, from, &[], |_| 0);
            let mut ends = rows.iter().map(|row| row.bytes.end);
            let first = ends.find(|row_end| *row_end > from);
            return (first.unwrap_or(end), is_final);
        }
        *n_bytes *= 2;
    }
}

impl Chunk {
    /// Returns the galley for this frame. If egui has created a new one, the rows are computed
    /// again: a fallback font found since then may have other widths.
    fn galley(&mut self, ui: &Ui, transcript: &Transcript) -> Arc<Galley> {
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(self.job.clone()));
        if !std::ptr::eq(self.galley.as_ptr(), Arc::as_ptr(&galley)) {
            let n_glyphs = |bytes| n_glyphs_of(ui, transcript, bytes);
            self.rows = rows_of(&galley, transcript, self.bytes.start, &self.plans, n_glyphs);
            self.galley = Arc::downgrade(&galley);
        }
        galley
    }
}

/// Returns the first character boundary at or after this byte.
fn char_boundary(text: &str, byte: usize) -> usize {
    (byte..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

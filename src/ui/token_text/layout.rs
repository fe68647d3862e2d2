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
use egui::text::{LayoutJob, TextFormat};
use egui::{Galley, Ui};

use super::rows::{Row, rows_of};
use super::transcript::{RunStyle, Transcript};
use crate::design::appearance;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::ReadingFont;

/// The number of rows in a frozen chunk.
const CHUNK_ROWS: usize = 8;

/// A row is final once this many rows follow it. Until then, its last word may still move.
const N_TENTATIVE_ROWS: usize = 2;

/// The number of bytes laid out at first: about three rows of a narrow pane.
const INITIAL_BYTES: usize = 120;

/// The height of an empty line, in points.
const BLANK_LINE: f32 = 10.0;

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
        let job = job_with_breaks(ui, transcript, from, ends);
        let end = ends.last().copied().unwrap_or(from);
        let chunk = Chunk::new(ui, transcript, job, from..end, self.height());
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
        let job = wrapped_job(ui, transcript, from..end, width);
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
        let is_final = galley.rows.len() > N_TENTATIVE_ROWS;
        if is_final || end == text.len() {
            let rows = rows_of(&galley, transcript, from);
            let mut ends = rows.iter().map(|row| row.bytes.end);
            let first = ends.find(|row_end| *row_end > from);
            return (first.unwrap_or(end), is_final);
        }
        *n_bytes *= 2;
    }
}

impl Chunk {
    fn new(
        ui: &Ui,
        transcript: &Transcript,
        job: LayoutJob,
        bytes: Range<usize>,
        top: f32,
    ) -> Self {
        let mut chunk = Self {
            job,
            galley: Weak::new(),
            bytes,
            y: Rangef::point(top),
            rows: Vec::new(),
        };
        chunk.galley(ui, transcript);
        let height = chunk.rows.last().map_or(0.0, |row| row.y.max);
        chunk.y.max = top + height;
        chunk
    }

    /// Returns the galley for this frame. If egui has created a new one, the rows are computed
    /// again: a fallback font found since then may have other widths.
    fn galley(&mut self, ui: &Ui, transcript: &Transcript) -> Arc<Galley> {
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(self.job.clone()));
        if !std::ptr::eq(self.galley.as_ptr(), Arc::as_ptr(&galley)) {
            self.rows = rows_of(&galley, transcript, self.bytes.start);
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

fn wrapped_job(ui: &Ui, transcript: &Transcript, bytes: Range<usize>, width: f32) -> LayoutJob {
    let mut job = LayoutJob::default();
    job.wrap.max_width = width;
    append(&mut job, Theme::of(ui), transcript, bytes);
    job
}

/// Creates a job that breaks rows exactly at `ends`.
fn job_with_breaks(ui: &Ui, transcript: &Transcript, from: usize, ends: &[usize]) -> LayoutJob {
    let theme = Theme::of(ui);
    let mut job = LayoutJob::default();
    let mut start = from;
    for (index, end) in ends.iter().enumerate() {
        if index > 0 {
            job.append("\n", 0.0, format(theme, RunStyle::Newline));
        }
        let row = transcript.text().get(start..*end).unwrap_or_default();
        let newline = usize::from(row.ends_with('\n'));
        append(&mut job, theme, transcript, start..*end - newline);
        start = *end;
    }
    job
}

fn append(job: &mut LayoutJob, theme: &Theme, transcript: &Transcript, bytes: Range<usize>) {
    for (run, end) in transcript.runs_from(bytes.start) {
        if run.start >= bytes.end {
            break;
        }
        let part = run.start.max(bytes.start)..end.min(bytes.end);
        let text = transcript.text().get(part).unwrap_or_default();
        if !text.is_empty() {
            job.append(text, 0.0, format(theme, run.style));
        }
    }
}

fn format(theme: &Theme, style: RunStyle) -> TextFormat {
    let (face, color, row) = match style {
        RunStyle::Prompt => (Face::Read, theme.prompt_text, Face::Read.row()),
        RunStyle::Text => (Face::Read, theme.token_text, Face::Read.row()),
        RunStyle::Special => (Face::Special, theme.special_text, Face::Read.row()),
        RunStyle::Bytes => (Face::Special, theme.byte_text, Face::Read.row()),
        RunStyle::Newline => (Face::Read, theme.token_text, BLANK_LINE),
    };
    TextFormat {
        line_height: Some(row),
        ..TextFormat::simple(face.font(), color)
    }
}

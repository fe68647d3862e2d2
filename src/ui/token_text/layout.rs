//! The text in rows: rows that can no longer change are frozen into chunks, and only the tail is
//! laid out again when a token arrives.
//!
//! A chunk keeps its job and asks egui for the galley in each frame that shows it: galleys point
//! into the font atlas, which egui may clear at any time.

use std::ops::Range;
use std::sync::{Arc, Weak};

use egui::emath::Rangef;
use egui::text::{LayoutJob, TextFormat};
use egui::{Galley, Ui};

use super::rows::{Row, rows_of};
use super::script::{Look, Script};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;

/// The tail is frozen when it has more rows than this.
const MAX_TAIL_ROWS: usize = 8;

/// So many rows of the tail may still change: the last one, and the one whose last word may move.
const N_LOOSE_ROWS: usize = 2;

/// How much text is laid out at once, in bytes, where much is new.
const STRIDE: usize = 1200;

/// A line without words is so high, in points.
const BLANK_LINE: f32 = 10.0;

/// What a layout depends on, beside the text.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key {
    width: f32,
    pixels_per_point: f32,
    dark: bool,
}

/// Some rows in one galley.
#[derive(Debug)]
pub(super) struct Chunk {
    job: LayoutJob,
    galley: Weak<Galley>,
    bytes: Range<usize>,
    /// Where it stands in the text, from top to bottom.
    pub(super) y: Rangef,
    /// Its rows; places are relative to the chunk.
    pub(super) rows: Vec<Row>,
}

/// A text in rows of one width.
#[derive(Debug, Default)]
pub(super) struct Layout {
    key: Option<Key>,
    chunks: Vec<Chunk>,
    n_frozen: usize,
    end: usize,
}

impl Layout {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Lays out what is new in the script; all of it where the width or the theme is new.
    pub(super) fn update(&mut self, ui: &Ui, script: &Script, width: f32) {
        let key = Key {
            width,
            pixels_per_point: ui.pixels_per_point(),
            dark: ui.visuals().dark_mode,
        };
        if self.key != Some(key) {
            self.clear();
            self.key = Some(key);
        }
        while self.end < script.text().len() || self.chunks.is_empty() {
            self.lay_out_more(ui, script, width);
            if script.text().is_empty() {
                break;
            }
        }
    }

    /// How high the text is.
    pub(super) fn height(&self) -> f32 {
        self.chunks.last().map_or(0.0, |chunk| chunk.y.max)
    }

    /// All chunks, from top to bottom.
    pub(super) fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The chunks that show in this part of the text, with galleys fit for this frame.
    pub(super) fn visible(
        &mut self,
        ui: &Ui,
        script: &Script,
        y: Rangef,
    ) -> Vec<(&Chunk, Arc<Galley>)> {
        let first = self.chunks.partition_point(|chunk| chunk.y.max < y.min);
        self.chunks
            .iter_mut()
            .skip(first)
            .take_while(|chunk| chunk.y.min <= y.max)
            .map(|chunk| {
                let galley = chunk.galley(ui, script);
                (&*chunk, galley)
            })
            .collect()
    }

    /// The row at this height, and where it stands.
    pub(super) fn row_at(&self, y: f32) -> Option<&Row> {
        let index = self.chunks.partition_point(|chunk| chunk.y.max <= y);
        let chunk = self.chunks.get(index)?;
        let row = chunk
            .rows
            .partition_point(|row| chunk.y.min + row.y.max <= y);
        chunk.rows.get(row)
    }

    /// From top to bottom, the row that holds a byte of the script.
    pub(super) fn row_of(&self, byte: usize) -> Option<Rangef> {
        let index = self.chunks.partition_point(|chunk| chunk.bytes.end <= byte);
        let chunk = self.chunks.get(index)?;
        let row = chunk.rows.partition_point(|row| row.bytes.end <= byte);
        let y = chunk.rows.get(row)?.y;
        Some(Rangef::new(chunk.y.min + y.min, chunk.y.min + y.max))
    }

    fn lay_out_more(&mut self, ui: &Ui, script: &Script, width: f32) {
        self.chunks.truncate(self.n_frozen);
        let from = self.chunks.last().map_or(0, |chunk| chunk.bytes.end);
        let mut n_bytes = STRIDE;
        loop {
            let end = char_border(script.text(), self.end.max(from) + n_bytes);
            let job = tail_job(ui, script, from..end, width);
            let tail = Chunk::new(ui, script, job, from, self.height());
            let at_end = end == script.text().len();
            let max_rows = if at_end { MAX_TAIL_ROWS } else { N_LOOSE_ROWS };
            if tail.rows.len() <= max_rows && !at_end {
                n_bytes *= 2;
                continue;
            }
            self.end = end;
            if tail.rows.len() <= max_rows {
                self.chunks.push(tail);
                return;
            }
            self.freeze(ui, script, &tail);
            if at_end {
                let from = self.frozen_end();
                let job = tail_job(ui, script, from..end, width);
                let tail = Chunk::new(ui, script, job, from, self.height());
                self.chunks.push(tail);
            }
            return;
        }
    }

    fn frozen_end(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.bytes.end)
    }

    /// Turns all rows of the tail but the loose ones into a chunk that keeps its row breaks.
    fn freeze(&mut self, ui: &Ui, script: &Script, tail: &Chunk) {
        let n_rows = tail.rows.len().saturating_sub(N_LOOSE_ROWS);
        let rows = tail.rows.get(..n_rows).unwrap_or_default();
        let job = frozen_job(ui, script, rows);
        let chunk = Chunk::new(ui, script, job, tail.bytes.start, self.height());
        self.chunks.push(chunk);
        self.n_frozen = self.chunks.len();
    }
}

impl Chunk {
    fn new(ui: &Ui, script: &Script, job: LayoutJob, from: usize, top: f32) -> Self {
        let mut chunk = Self {
            job,
            galley: Weak::new(),
            bytes: from..from,
            y: Rangef::point(top),
            rows: Vec::new(),
        };
        chunk.galley(ui, script);
        let height = chunk.rows.last().map_or(0.0, |row| row.y.max);
        chunk.y.max = top + height;
        chunk.bytes.end = chunk.rows.last().map_or(from, |row| row.bytes.end);
        chunk
    }

    /// The galley for this frame. Where egui made a new one, the tokens are looked up in it anew:
    /// a font that was found since may have other widths.
    fn galley(&mut self, ui: &Ui, script: &Script) -> Arc<Galley> {
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(self.job.clone()));
        if !std::ptr::eq(self.galley.as_ptr(), Arc::as_ptr(&galley)) {
            self.rows = rows_of(&galley, script, self.bytes.start);
            self.galley = Arc::downgrade(&galley);
        }
        galley
    }
}

/// The end of the text, or the first border of a character at or after this byte.
fn char_border(text: &str, byte: usize) -> usize {
    (byte..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

fn tail_job(ui: &Ui, script: &Script, bytes: Range<usize>, width: f32) -> LayoutJob {
    let mut job = LayoutJob::default();
    job.wrap.max_width = width;
    append(&mut job, Theme::of(ui), script, bytes);
    job
}

/// A job that breaks its rows where these are broken, and nowhere else.
fn frozen_job(ui: &Ui, script: &Script, rows: &[Row]) -> LayoutJob {
    let theme = Theme::of(ui);
    let mut job = LayoutJob::default();
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            job.append("\n", 0.0, format(theme, Look::Newline));
        }
        let newline = script
            .text()
            .get(row.bytes.clone())
            .is_some_and(|text| text.ends_with('\n'));
        let end = row.bytes.end - usize::from(newline);
        append(&mut job, theme, script, row.bytes.start..end);
    }
    job
}

fn append(job: &mut LayoutJob, theme: &Theme, script: &Script, bytes: Range<usize>) {
    for (run, end) in script.runs_from(bytes.start) {
        if run.start >= bytes.end {
            break;
        }
        let part = run.start.max(bytes.start)..end.min(bytes.end);
        let text = script.text().get(part).unwrap_or_default();
        if !text.is_empty() {
            job.append(text, 0.0, format(theme, run.look));
        }
    }
}

fn format(theme: &Theme, look: Look) -> TextFormat {
    let (face, color, row) = match look {
        Look::Prompt => (Face::Read, theme.prompt_text, Face::Read.row()),
        Look::Text => (Face::Read, theme.token_text, Face::Read.row()),
        Look::Special => (Face::Special, theme.special_text, Face::Read.row()),
        Look::Bytes => (Face::Special, theme.byte_text, Face::Read.row()),
        Look::Newline => (Face::Read, theme.token_text, BLANK_LINE),
    };
    TextFormat {
        line_height: Some(row),
        ..TextFormat::simple(face.font(), color)
    }
}

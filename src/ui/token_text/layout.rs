//! The text in rows: rows that can no longer change are frozen into chunks, and only the tail is
//! laid out again when a token arrives.
//!
//! Where a row ends is found from where it begins, one row after another: egui rounds the places of
//! glyphs from the start of what it is given, so that a word that just fits would stand on one row or
//! on the next, as the text happened to arrive.
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

/// So many rows make a chunk.
const CHUNK_ROWS: usize = 8;

/// Below a row there must be so many more before it stays as it is: its last word may move.
const N_LOOSE_ROWS: usize = 2;

/// Three rows of a narrow pane hold so much text, in bytes.
const SOME_ROWS: usize = 120;

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
    /// Where the rows after the frozen chunks end that stay as they are.
    firm: Vec<usize>,
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
        if self.end < script.text().len() || self.chunks.is_empty() {
            self.lay_out_more(ui, script, width);
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
        self.end = script.text().len();
        let mut at = self.firm.last().copied();
        let (mut loose, mut n_bytes) = (Vec::new(), SOME_ROWS);
        loop {
            let from = at.unwrap_or_else(|| self.frozen_end());
            if from >= self.end {
                break;
            }
            let (end, is_firm) = row_end(ui, script, from, width, &mut n_bytes);
            at = Some(end);
            if is_firm {
                self.firm.push(end);
            } else {
                loose.push(end);
            }
            if self.firm.len() == CHUNK_ROWS {
                let firm = std::mem::take(&mut self.firm);
                self.push_chunk(ui, script, &firm);
                self.n_frozen = self.chunks.len();
            }
        }
        let mut tail = self.firm.clone();
        tail.extend(loose);
        if script.text().is_empty() || script.text().ends_with('\n') {
            tail.push(self.end);
        }
        if !tail.is_empty() {
            self.push_chunk(ui, script, &tail);
        }
    }

    fn frozen_end(&self) -> usize {
        self.chunks.last().map_or(0, |chunk| chunk.bytes.end)
    }

    /// Adds a chunk of rows that end here.
    fn push_chunk(&mut self, ui: &Ui, script: &Script, ends: &[usize]) {
        let from = self.frozen_end();
        let job = broken_job(ui, script, from, ends);
        let end = ends.last().copied().unwrap_or(from);
        let chunk = Chunk::new(ui, script, job, from..end, self.height());
        self.chunks.push(chunk);
    }
}

/// Where the row ends that begins here, and whether it stays so whatever is written after it. As many
/// bytes are laid out as that takes; `n_bytes` is what the rows before took.
fn row_end(
    ui: &Ui,
    script: &Script,
    from: usize,
    width: f32,
    n_bytes: &mut usize,
) -> (usize, bool) {
    let text = script.text();
    loop {
        let end = char_border(text, from + *n_bytes);
        let job = wrapped_job(ui, script, from..end, width);
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
        let is_firm = galley.rows.len() > N_LOOSE_ROWS;
        if is_firm || end == text.len() {
            let rows = rows_of(&galley, script, from);
            let mut ends = rows.iter().map(|row| row.bytes.end);
            let first = ends.find(|row_end| *row_end > from);
            return (first.unwrap_or(end), is_firm);
        }
        *n_bytes *= 2;
    }
}

impl Chunk {
    fn new(ui: &Ui, script: &Script, job: LayoutJob, bytes: Range<usize>, top: f32) -> Self {
        let mut chunk = Self {
            job,
            galley: Weak::new(),
            bytes,
            y: Rangef::point(top),
            rows: Vec::new(),
        };
        chunk.galley(ui, script);
        let height = chunk.rows.last().map_or(0.0, |row| row.y.max);
        chunk.y.max = top + height;
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

fn wrapped_job(ui: &Ui, script: &Script, bytes: Range<usize>, width: f32) -> LayoutJob {
    let mut job = LayoutJob::default();
    job.wrap.max_width = width;
    append(&mut job, Theme::of(ui), script, bytes);
    job
}

/// A job that breaks its rows where they end, and nowhere else.
fn broken_job(ui: &Ui, script: &Script, from: usize, ends: &[usize]) -> LayoutJob {
    let theme = Theme::of(ui);
    let mut job = LayoutJob::default();
    let mut start = from;
    for (index, end) in ends.iter().enumerate() {
        if index > 0 {
            job.append("\n", 0.0, format(theme, Look::Newline));
        }
        let row = script.text().get(start..*end).unwrap_or_default();
        let newline = usize::from(row.ends_with('\n'));
        append(&mut job, theme, script, start..*end - newline);
        start = *end;
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

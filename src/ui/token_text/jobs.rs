//! The jobs that egui lays out: a text as it is stored, to be wrapped, or rows in their visual order.

use std::ops::Range;

use egui::Ui;
use egui::text::{ByteIndex, LayoutJob, LayoutSection, TextFormat};

use super::rows::RowEnds;
use super::transcript::{RunStyle, Transcript};
use super::visual_order::{parts_of, row_order};
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// The height of an empty line, in points.
const BLANK_LINE: f32 = 10.0;

/// Creates a job that egui wraps at this width.
pub(super) fn wrapped_job(
    ui: &Ui,
    transcript: &Transcript,
    bytes: Range<usize>,
    width: f32,
) -> LayoutJob {
    let mut job = LayoutJob::default();
    job.wrap.max_width = width;
    append(&mut job, Theme::of(ui), transcript, bytes);
    job
}

/// Returns the width of a part of a row.
pub(super) fn width_of(ui: &Ui, transcript: &Transcript, bytes: Range<usize>) -> f32 {
    let mut job = LayoutJob::default();
    append_row(&mut job, Theme::of(ui), transcript, bytes);
    ui.fonts_mut(|fonts| fonts.layout_job(job)).size().x
}

/// Returns the number of glyphs of a right-to-left word, which differs from that of its characters.
pub(super) fn n_glyphs_of(ui: &Ui, transcript: &Transcript, word: Range<usize>) -> usize {
    let mut job = LayoutJob::default();
    push_segment(&mut job, Theme::of(ui), transcript, None, word);
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    galley.rows.iter().map(|row| row.glyphs.len()).sum()
}

/// Creates a job that breaks rows exactly at these ends. Rows that are read from right to left begin
/// at the right edge.
pub(super) fn job_with_breaks(
    ui: &Ui,
    transcript: &Transcript,
    row_ends: &RowEnds,
    width: f32,
) -> LayoutJob {
    let theme = Theme::of(ui);
    let mut job = LayoutJob::default();
    let mut start = row_ends.from;
    for (index, end) in row_ends.ends.iter().enumerate() {
        if index > 0 {
            job.append("\n", 0.0, format(theme, RunStyle::Newline));
        }
        let row = transcript.text().get(start..*end).unwrap_or_default();
        let newline = usize::from(row.ends_with('\n'));
        let bytes = start..*end - newline;
        let n_sections = job.sections.len();
        if append_row(&mut job, theme, transcript, bytes.clone()) {
            let free = width - width_of(ui, transcript, bytes);
            if let Some(first) = job.sections.get_mut(n_sections) {
                // A space at the end of a full row hangs over the left edge.
                first.leading_space = free;
            }
        }
        start = *end;
    }
    job
}

/// Appends a row, without the newline that ends it, in its visual order. Returns whether it is read
/// from right to left.
fn append_row(
    job: &mut LayoutJob,
    theme: &Theme,
    transcript: &Transcript,
    bytes: Range<usize>,
) -> bool {
    let Some(order) = row_order(transcript, bytes.clone()) else {
        append(job, theme, transcript, bytes);
        return false;
    };
    for segment in &order.segments {
        let part = bytes.start + segment.bytes.start..bytes.start + segment.bytes.end;
        push_segment(job, theme, transcript, segment.mirrored, part);
    }
    order.is_right_to_left
}

/// Appends a part of the transcript as it is stored.
fn append(job: &mut LayoutJob, theme: &Theme, transcript: &Transcript, bytes: Range<usize>) {
    for (run, part) in parts_of(transcript, bytes) {
        let text = transcript.text().get(part).unwrap_or_default();
        job.append(text, 0.0, format(theme, run.style));
    }
}

/// Appends a segment, which has one style, or the bracket that replaces it, as a section. Unlike
/// [`LayoutJob::append`], this never joins neighboring sections, which egui would shape in one
/// direction.
fn push_segment(
    job: &mut LayoutJob,
    theme: &Theme,
    transcript: &Transcript,
    mirrored: Option<char>,
    bytes: Range<usize>,
) {
    let Some((run, _)) = parts_of(transcript, bytes.clone()).next() else {
        return;
    };
    let start = ByteIndex(job.text.len());
    match mirrored {
        Some(bracket) => job.text.push(bracket),
        None => job
            .text
            .push_str(transcript.text().get(bytes).unwrap_or_default()),
    }
    job.sections.push(LayoutSection {
        leading_space: 0.0,
        byte_range: start..ByteIndex(job.text.len()),
        format: format(theme, run.style),
    });
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

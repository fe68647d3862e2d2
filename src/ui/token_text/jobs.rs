//! The jobs that egui lays out: a text as it is stored, to be wrapped, or rows in their visual order.

use std::ops::Range;

use egui::Ui;
use egui::text::{ByteIndex, LayoutJob, LayoutSection, TextFormat};

use super::transcript::{RunStyle, Transcript};
use super::visual_order::RowPlan;
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

/// Returns the width of a row.
pub(super) fn width_of(ui: &Ui, transcript: &Transcript, row: &RowPlan) -> f32 {
    let mut job = LayoutJob::default();
    append_row(&mut job, Theme::of(ui), transcript, row);
    ui.fonts_mut(|fonts| fonts.layout_job(job)).size().x
}

/// Returns the number of glyphs of a right-to-left word, which differs from that of its characters.
pub(super) fn n_glyphs_of(ui: &Ui, transcript: &Transcript, word: Range<usize>) -> usize {
    let mut job = LayoutJob::default();
    push_segment(&mut job, Theme::of(ui), transcript, None, word);
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    galley.rows.iter().map(|row| row.glyphs.len()).sum()
}

/// Creates a job with exactly these rows. Those that are read from right to left begin at the right
/// edge.
pub(super) fn job_of_rows(
    ui: &Ui,
    transcript: &Transcript,
    rows: &[RowPlan],
    width: f32,
) -> LayoutJob {
    let theme = Theme::of(ui);
    let mut job = LayoutJob::default();
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            job.append("\n", 0.0, format(theme, RunStyle::Newline));
        }
        let n_sections = job.sections.len();
        append_row(&mut job, theme, transcript, row);
        let begins_right = row.order.as_ref().is_some_and(|row| row.is_right_to_left);
        if let Some(first) = job.sections.get_mut(n_sections).filter(|_| begins_right) {
            // May be negative: a space at the end of a full row hangs over the left edge.
            first.leading_space = width - width_of(ui, transcript, row);
        }
    }
    job
}

fn append_row(job: &mut LayoutJob, theme: &Theme, transcript: &Transcript, row: &RowPlan) {
    let Some(order) = &row.order else {
        append(job, theme, transcript, row.bytes.clone());
        return;
    };
    for segment in &order.segments {
        let bytes = row.bytes_of(segment);
        push_segment(job, theme, transcript, segment.mirrored, bytes);
    }
}

/// Appends a part of the transcript as it is stored.
fn append(job: &mut LayoutJob, theme: &Theme, transcript: &Transcript, bytes: Range<usize>) {
    for (run, part) in transcript.parts(bytes) {
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
    let Some((run, _)) = transcript.parts(bytes.clone()).next() else {
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
        RunStyle::Thought => (Face::Small, theme.text_3, Face::Read.row()),
    };
    TextFormat {
        line_height: Some(row),
        ..TextFormat::simple(face.font(), color)
    }
}

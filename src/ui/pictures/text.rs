//! Converts painted text to SVG text: one element per run of equal format.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::CharIndices;

use egui::epaint::TextShape;
use egui::epaint::text::Glyph;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontFamily, Pos2, vec2};

use super::shapes::{Number, color_attributes, escaped};
use crate::ui::token_text::{continues_right_to_left_word, is_right_to_left};

/// Neighboring characters of one row in the same format.
struct Run<'a> {
    format: &'a TextFormat,
    text: String,
    /// The left end of the baseline, relative to the text's position.
    start: Pos2,
    /// The x of the right end.
    end: f32,
}

/// Appends the runs of a text as SVG elements.
pub(super) fn push_text(svg: &mut String, shape: &TextShape) {
    for run in runs(shape) {
        if !run.text.trim().is_empty() {
            push_run(svg, shape, &run);
        }
    }
}

fn push_run(svg: &mut String, shape: &TextShape, run: &Run<'_>) {
    let (family, weight) = family_and_weight(&run.format.font_id.family);
    let own_color = if run.format.color == Color32::PLACEHOLDER {
        shape.fallback_color
    } else {
        run.format.color
    };
    let color = shape
        .override_text_color
        .unwrap_or(own_color)
        .gamma_multiply(shape.opacity_factor);
    let _ = write!(
        svg,
        "<text x=\"{}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\" \
         font-family=\"{family}\" font-size=\"{}\" font-weight=\"{weight}\"{}",
        Number(shape.pos.x + run.start.x),
        Number(shape.pos.y + run.start.y),
        Number(run.end - run.start.x),
        Number(run.format.font_id.size),
        color_attributes("fill", color)
    );
    if run.format.strikethrough.width > 0.0 {
        svg.push_str(" text-decoration=\"line-through\"");
    }
    if shape.angle.abs() > f32::EPSILON {
        let (x, y) = (Number(shape.pos.x), Number(shape.pos.y));
        let degrees = Number(shape.angle.to_degrees());
        let _ = write!(svg, " transform=\"rotate({degrees} {x} {y})\"");
    }
    let _ = writeln!(svg, " xml:space=\"preserve\">{}</text>", escaped(&run.text));
}

/// Returns a single run if the text is one row in one format. It keeps the logical order of the
/// characters, which bidirectional scripts need; glyphs are in visual order.
fn single_run(shape: &TextShape) -> Option<Run<'_>> {
    let galley = &*shape.galley;
    let ([section], [row]) = (&*galley.job.sections, &*galley.rows) else {
        return None;
    };
    if galley.elided || row.glyphs.is_empty() {
        return None;
    }
    let glyphs: Vec<&Glyph> = row.glyphs.iter().collect();
    let text = galley.job.text.clone();
    Some(run_of_word(row.pos, &section.format, text, &glyphs))
}

/// Creates a run that keeps this order of its characters, where its glyphs are. `row` is the
/// position of the glyphs' row.
fn run_of_word<'a>(row: Pos2, format: &'a TextFormat, text: String, glyphs: &[&Glyph]) -> Run<'a> {
    let baseline = glyphs.first().map_or(0.0, |glyph| glyph.pos.y);
    let left = glyphs.iter().map(|glyph| glyph.pos.x);
    let left = left.fold(f32::INFINITY, f32::min);
    let right = glyphs.iter().map(|glyph| glyph.pos.x + glyph.advance_width);
    let right = right.fold(left, f32::max);
    Run {
        format,
        text,
        start: row + vec2(left, baseline),
        end: row.x + right,
    }
}

/// If a right-to-left word begins at this glyph, takes it from the text, with the number of its first
/// byte. It may have more or fewer characters than glyphs, which are in visual order.
fn right_to_left_word(
    characters: &mut Peekable<CharIndices<'_>>,
    glyph: &Glyph,
) -> Option<(usize, String)> {
    let (byte, _) = *characters.peek()?;
    if !is_right_to_left(glyph.chr) {
        return None;
    }
    let mut word = String::new();
    let mut last = glyph.chr;
    while let Some((_, c)) = characters.next_if(|(_, c)| continues_right_to_left_word(last, *c)) {
        last = c;
        word.push(c);
    }
    (!word.is_empty()).then_some((byte, word))
}

fn runs(shape: &TextShape) -> Vec<Run<'_>> {
    if let Some(run) = single_run(shape) {
        return vec![run];
    }
    let job = &*shape.galley.job;
    let mut characters = job.text.char_indices().peekable();
    let mut section = 0;
    let mut runs: Vec<Run<'_>> = Vec::new();
    for row in &shape.galley.rows {
        let mut fresh = true;
        let mut glyphs = row.glyphs.iter().peekable();
        while let Some(glyph) = glyphs.next() {
            if let Some((byte, text)) = right_to_left_word(&mut characters, glyph) {
                section = section_at(job, byte, section);
                let mut word = vec![glyph];
                let mut last = glyph.chr;
                while let Some(glyph) =
                    glyphs.next_if(|glyph| continues_right_to_left_word(last, glyph.chr))
                {
                    last = glyph.chr;
                    word.push(glyph);
                }
                let format = job.sections.get(section).map(|section| &section.format);
                runs.extend(format.map(|format| run_of_word(row.pos, format, text, &word)));
                fresh = true;
                continue;
            }
            // The "…" of truncated text is a glyph without a character in the source.
            if let Some(&(byte, character)) = characters.peek()
                && character == glyph.chr
            {
                characters.next();
                let old = section;
                section = section_at(job, byte, section);
                fresh |= section != old;
            }
            let Some(format) = job.sections.get(section).map(|section| &section.format) else {
                continue;
            };
            let start = row.pos + glyph.pos.to_vec2();
            let end = start.x + glyph.advance_width;
            match runs.last_mut().filter(|_| !fresh) {
                Some(run) => {
                    run.text.push(glyph.chr);
                    run.end = end;
                }
                None => runs.push(Run {
                    format,
                    text: glyph.chr.to_string(),
                    start,
                    end,
                }),
            }
            fresh = false;
        }
        if row.ends_with_newline {
            characters.next();
        }
    }
    runs
}

/// Returns the section that holds this byte, searching from section `from`.
fn section_at(job: &LayoutJob, byte: usize, from: usize) -> usize {
    let sections = job.sections.iter().enumerate().skip(from);
    sections
        .filter(|(_, section)| section.byte_range.end.0 > byte)
        .map(|(index, _)| index)
        .next()
        .unwrap_or(from)
}

/// Returns the CSS font list, with fallbacks for missing characters, and the weight of a family.
fn family_and_weight(family: &FontFamily) -> (&'static str, u16) {
    const SANS: &str = "Inter, 'JetBrains Mono', Literata, sans-serif";
    match family {
        FontFamily::Monospace => ("'JetBrains Mono', Inter, Literata, monospace", 400),
        FontFamily::Proportional => (SANS, 400),
        FontFamily::Name(name) => match &**name {
            "serif" => ("Literata, Inter, 'JetBrains Mono', serif", 400),
            "strong" => (SANS, 600),
            _ => (SANS, 500),
        },
    }
}

//! Locates each token: splits the rows of a galley into one span per token.

use std::ops::Range;

use egui::Galley;
use egui::emath::Rangef;

use super::transcript::{Run, RunStyle, Transcript};
use super::visual_order::{RowOrder, RowPlan, Segment};
use super::word_glyphs::{WordGlyphs, x_of};
use crate::generation::formatting::mark;

/// The width of a line break, where it can be hovered and where its mark is drawn.
const NEWLINE_WIDTH: f32 = 12.0;

/// The space between a text and what follows it.
const GAP: f32 = 3.0;

/// One row of text. Coordinates are relative to its galley.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// Its range in the transcript, including the newline that ends it.
    pub(super) bytes: Range<usize>,
    pub(super) y: Rangef,
    /// Whether its paragraph is read from right to left, so that its end is on the left.
    pub(super) is_right_to_left: bool,
    /// From left to right.
    pub(super) spans: Vec<Span>,
    /// Its whitespace, which may get visible marks.
    pub(super) whitespace: Vec<Whitespace>,
}

/// The part of a token on one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    /// `None` for the prompt.
    pub(super) step: Option<usize>,
    pub(super) style: RunStyle,
    /// The horizontal range in which it can be hovered.
    pub(super) x: Rangef,
    /// The horizontal range without surrounding spaces; `None` if there is nothing else.
    pub(super) ink: Option<Rangef>,
}

/// A whitespace character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Whitespace {
    /// `None` for the prompt.
    pub(super) step: Option<usize>,
    /// Whether its token is only whitespace.
    pub(super) blank: bool,
    /// The horizontal center.
    pub(super) x: f32,
    pub(super) mark: char,
}

impl Row {
    /// Returns the span at `x`. Very narrow ones, such as a lone accent, are found within 2 points.
    pub(super) fn span_at(&self, x: f32) -> Option<&Span> {
        let narrow = |span: &&Span| span.x.span() < 1.0 && (span.x.center() - x).abs() < 2.0;
        let exact = |span: &&Span| span.x.min <= x && x < span.x.max;
        let blank_line = || {
            let only = self.spans.first().filter(|_| self.spans.len() == 1)?;
            (only.style == RunStyle::Newline).then_some(only)
        };
        let mut spans = self.spans.iter();
        let found = spans.clone().find(narrow).or_else(|| spans.find(exact));
        found.or_else(blank_line)
    }

    /// Returns the left edge of something of this width that follows the row's last character.
    pub(super) fn after(&self, width: f32) -> f32 {
        let is_text = |span: &&Span| span.style != RunStyle::Newline;
        if self.is_right_to_left {
            let first = self.spans.iter().find(is_text);
            return first.map_or(0.0, |span| span.x.min - GAP - width);
        }
        let last = self.spans.iter().rfind(is_text);
        last.map_or(0.0, |span| span.x.max) + GAP
    }
}

/// Locates the tokens in the rows of a galley whose text starts at byte `from` of the transcript.
/// `plans` are the rows if it was laid out by them. `n_glyphs` returns how many glyphs a
/// right-to-left word of the transcript has.
///
/// The galley may contain row breaks that the transcript does not have.
pub(super) fn rows_of(
    galley: &Galley,
    transcript: &Transcript,
    from: usize,
    plans: &[RowPlan],
    n_glyphs: impl Fn(Range<usize>) -> usize,
) -> Vec<Row> {
    let mut reader = Reader::new(transcript, from);
    let mut rows = Vec::with_capacity(galley.rows.len());
    for (index, placed) in galley.rows.iter().enumerate() {
        let mut row = Row {
            bytes: reader.at..reader.at,
            y: Rangef::new(placed.min_y(), placed.max_y()),
            is_right_to_left: false,
            spans: Vec::new(),
            whitespace: Vec::new(),
        };
        let plan = plans.get(index);
        let ordered = plan.and_then(|plan| Some((plan, plan.order.as_ref()?)));
        if let Some((plan, order)) = ordered {
            row.is_right_to_left = order.is_right_to_left;
            let n_glyphs = |segment: &Segment| n_glyphs(plan.bytes_of(segment));
            let words = WordGlyphs::of(placed, order, n_glyphs);
            row.add_in_order(&mut reader, order, &words);
        } else {
            for glyph in &placed.glyphs {
                if let Some((run, c)) = reader.next() {
                    row.add(run, c, x_of(placed, glyph));
                }
            }
        }
        if let Some(run) = reader.next_newline() {
            let before = reader.last_newline.replace(run);
            row.end_line(run, before.is_some_and(|before| before.step == run.step));
        } else {
            reader.last_newline = None;
        }
        row.bytes.end = reader.at;
        rows.push(row);
    }
    rows
}

impl Row {
    /// Adds the newline that ends the row. Of several newlines in one token only the first has ink,
    /// so that blank lines stay blank.
    fn end_line(&mut self, run: Run, continues_token: bool) {
        let left = if self.is_right_to_left {
            let first = self.spans.first();
            first.map_or(0.0, |span| span.x.min) - NEWLINE_WIDTH
        } else {
            self.spans.last().map_or(0.0, |span| span.x.max)
        };
        let x = Rangef::new(left, left + NEWLINE_WIDTH);
        self.add_whitespace(run, '\n', x);
        let ink = Rangef::new(x.min + 2.0, x.max - 1.0);
        let span = Span {
            step: run.step,
            style: run.style,
            x,
            ink: (!continues_token).then_some(ink),
        };
        if self.is_right_to_left {
            self.spans.insert(0, span);
        } else {
            self.spans.push(span);
        }
    }

    /// Adds the characters of a row that is laid out in visual order. `words` has the glyphs of each
    /// segment.
    fn add_in_order(&mut self, reader: &mut Reader<'_>, order: &RowOrder, words: &[WordGlyphs]) {
        let start = reader.at;
        let n_bytes = order.segments.iter().map(|segment| segment.bytes.end).max();
        let mut characters = Vec::new();
        while reader.at < start + n_bytes.unwrap_or_default() {
            let at = reader.at - start;
            let Some((run, c)) = reader.next() else {
                break;
            };
            characters.push((at, run, c));
        }
        for (segment, word) in order.segments.iter().zip(words) {
            let first = characters.partition_point(|(at, ..)| *at < segment.bytes.start);
            let after = characters.partition_point(|(at, ..)| *at < segment.bytes.end);
            let own = characters.get(first..after).unwrap_or_default();
            let text: Vec<char> = own.iter().map(|(_, _, c)| *c).collect();
            let mut placed: Vec<_> = own.iter().zip(word.ranges(segment, &text)).collect();
            if segment.is_reversed {
                placed.reverse();
            }
            for ((_, run, c), x) in placed {
                self.add(*run, *c, x);
            }
        }
    }

    fn add_whitespace(&mut self, run: Run, c: char, x: Rangef) {
        self.whitespace.push(Whitespace {
            step: run.step,
            blank: run.blank,
            x: x.center(),
            mark: mark(c),
        });
    }

    fn add(&mut self, run: Run, c: char, x: Rangef) {
        let is_whitespace = c.is_whitespace();
        if is_whitespace && !run.style.is_chip() {
            self.add_whitespace(run, c, x);
        }
        let ink = (!is_whitespace || (run.blank && !run.style.is_chip())).then_some(x);
        match self.spans.last_mut() {
            Some(span) if span.step == run.step && span.style == run.style => {
                span.x.max = span.x.max.max(x.max);
                span.ink = match (span.ink, ink) {
                    (Some(old), Some(new)) => Some(Rangef::new(old.min, new.max)),
                    (old, new) => old.or(new),
                };
            }
            _ => self.spans.push(Span {
                step: run.step,
                style: run.style,
                x,
                ink,
            }),
        }
    }
}

/// Iterates over a transcript's characters with their runs.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The newline that ended the previous row, if any.
    last_newline: Option<Run>,
    runs: Box<dyn Iterator<Item = (Run, usize)> + 'a>,
    run: Option<(Run, usize)>,
}

impl<'a> Reader<'a> {
    fn new(transcript: &'a Transcript, from: usize) -> Self {
        let mut runs = Box::new(transcript.runs_from(from));
        let text = transcript.text();
        let after_newline = text.get(..from).is_some_and(|text| text.ends_with('\n'));
        let before = after_newline.then(|| transcript.runs_from(from - 1).next());
        Self {
            text,
            at: from,
            last_newline: before.flatten().map(|(run, _)| run),
            run: runs.next(),
            runs,
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<(Run, char)> {
        let c = self.peek()?;
        while self.run.is_some_and(|(_, end)| end <= self.at) {
            self.run = self.runs.next();
        }
        let (run, _) = self.run?;
        self.at += c.len_utf8();
        Some((run, c))
    }

    /// Consumes the next character if it is a newline.
    fn next_newline(&mut self) -> Option<Run> {
        self.peek().filter(|c| *c == '\n')?;
        self.next().map(|(run, _)| run)
    }
}

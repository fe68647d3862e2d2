//! Where each token stands: the rows of a galley, cut into the tokens' spans.

use std::ops::Range;

use egui::Galley;
use egui::emath::Rangef;

use super::script::{Look, Run, Script};
use crate::ui::words::mark;

/// How wide the end of a line is, where it can be pointed at and where its mark is drawn.
const NEWLINE_WIDTH: f32 = 12.0;

/// One row of text; places are relative to its galley.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// Its characters in the script, with the newline that ends it.
    pub(super) bytes: Range<usize>,
    /// From top to bottom.
    pub(super) y: Rangef,
    /// Its tokens from left to right.
    pub(super) spans: Vec<Span>,
    /// Its white space, which may be marked.
    pub(super) whites: Vec<White>,
}

/// The part of a token that stands on one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    /// The step; nothing for the prompt.
    pub(super) step: Option<usize>,
    /// How it looks.
    pub(super) look: Look,
    /// Where it can be pointed at, from left to right.
    pub(super) x: Rangef,
    /// Where its ink is, without the space around it; nothing where only that space is here.
    pub(super) ink: Option<Rangef>,
}

/// A character of white space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct White {
    /// The step; nothing for the prompt.
    pub(super) step: Option<usize>,
    /// Whether its token is white space and nothing else.
    pub(super) blank: bool,
    /// Its middle.
    pub(super) x: f32,
    /// What stands for it.
    pub(super) mark: char,
}

impl Row {
    /// The span under `x`; narrow ones, as of a lone accent, are found a little beside them.
    pub(super) fn span_at(&self, x: f32) -> Option<&Span> {
        let narrow = |span: &&Span| span.x.span() < 1.0 && (span.x.center() - x).abs() < 2.0;
        let exact = |span: &&Span| span.x.min <= x && x < span.x.max;
        let blank_line = || {
            let only = self.spans.first().filter(|_| self.spans.len() == 1)?;
            (only.look == Look::Newline).then_some(only)
        };
        let mut spans = self.spans.iter();
        let found = spans.clone().find(narrow).or_else(|| spans.find(exact));
        found.or_else(blank_line)
    }

    /// Where the row's last character ends.
    pub(super) fn end(&self) -> f32 {
        let mut text = self.spans.iter().filter(|span| span.look != Look::Newline);
        text.next_back().map_or(0.0, |span| span.x.max)
    }
}

/// Cuts the rows of a galley whose first character stands at the byte `from` of the script.
///
/// The galley may break rows by newlines that the script does not have.
pub(super) fn rows_of(galley: &Galley, script: &Script, from: usize) -> Vec<Row> {
    let mut reader = Reader::new(script, from);
    let mut rows = Vec::with_capacity(galley.rows.len());
    for placed in &galley.rows {
        let mut row = Row {
            bytes: reader.at..reader.at,
            y: Rangef::new(placed.min_y(), placed.max_y()),
            spans: Vec::new(),
            whites: Vec::new(),
        };
        for glyph in &placed.glyphs {
            let left = placed.pos.x + glyph.pos.x;
            if let Some((run, c)) = reader.next() {
                row.add(run, c, Rangef::new(left, left + glyph.advance_width));
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
    /// Adds the newline that ends the row. Of several in one token only the first has ink, so that
    /// blank lines stay blank.
    fn end_line(&mut self, run: Run, goes_on: bool) {
        let left = self.spans.last().map_or(0.0, |span| span.x.max);
        let x = Rangef::new(left, left + NEWLINE_WIDTH);
        self.add(run, '\n', x);
        if let Some(span) = self.spans.last_mut() {
            let ink = Rangef::new(x.min + 2.0, x.max - 1.0);
            span.ink = (!goes_on).then_some(ink);
        }
    }

    fn add(&mut self, run: Run, c: char, x: Rangef) {
        let white = c.is_whitespace();
        if white && !run.look.is_chip() {
            self.whites.push(White {
                step: run.step,
                blank: run.blank,
                x: x.center(),
                mark: mark(c),
            });
        }
        let ink = (!white || (run.blank && !run.look.is_chip())).then_some(x);
        match self.spans.last_mut() {
            Some(span) if span.step == run.step && span.look == run.look => {
                span.x.max = x.max;
                span.ink = match (span.ink, ink) {
                    (Some(old), Some(new)) => Some(Rangef::new(old.min, new.max)),
                    (old, new) => old.or(new),
                };
            }
            _ => self.spans.push(Span {
                step: run.step,
                look: run.look,
                x,
                ink,
            }),
        }
    }
}

/// Walks through a script's characters.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The newline that ended the row before, if one did.
    last_newline: Option<Run>,
    runs: Box<dyn Iterator<Item = (Run, usize)> + 'a>,
    run: Option<(Run, usize)>,
}

impl<'a> Reader<'a> {
    fn new(script: &'a Script, from: usize) -> Self {
        let mut runs = Box::new(script.runs_from(from));
        let text = script.text();
        let after_newline = text.get(..from).is_some_and(|text| text.ends_with('\n'));
        let before = after_newline.then(|| script.runs_from(from - 1).next());
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

    /// Reads a newline, if that is what comes next.
    fn next_newline(&mut self) -> Option<Run> {
        self.peek().filter(|c| *c == '\n')?;
        self.next().map(|(run, _)| run)
    }
}

//! Paints what is under and over the text: tints, rings, marks, the fork and the cursor.

use std::sync::Arc;

use egui::emath::Rangef;
use egui::{Align2, Color32, Galley, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use super::TokenTextInput;
use super::layout::Chunk;
use super::rows::{Row, Span};
use super::transcript::RunStyle;
use crate::analysis::WhatIfVerdict;
use crate::analysis::grammar::{grammar_changed, is_forced};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::Tint;

/// The height of a token's fill, in a row of 24 points.
const TINT_HEIGHT: f32 = 20.0;

/// The length of the dashes, and of the gaps between them, under a token that would likely change.
const DASH: f32 = 3.0;

/// Everything needed to paint the visible part of a text.
pub(super) struct Painting<'a> {
    pub(super) input: TokenTextInput<'a>,
    pub(super) hovered: Option<usize>,
    /// The text's top left corner on the screen.
    pub(super) origin: Pos2,
    pub(super) painter: &'a Painter,
    pub(super) theme: &'a Theme,
}

impl Painting<'_> {
    /// Paints chunks in three passes (under the text, the text, over the text), so that no row
    /// hides part of its neighbor.
    pub(super) fn paint(&self, chunks: &[(&Chunk, Arc<Galley>)]) {
        for (chunk, _) in chunks {
            self.each_span(chunk, |span, rect| self.under(span, rect));
        }
        for (chunk, galley) in chunks {
            let at = self.origin + vec2(0.0, chunk.y.min);
            self.painter
                .galley(at, Arc::clone(galley), self.theme.token_text);
        }
        for (chunk, _) in chunks {
            self.marks(chunk);
            self.each_span(chunk, |span, rect| self.over(span, rect));
        }
        if let Some(rect) = self.token_rect(chunks, self.input.fork_step) {
            self.diamond(rect);
        }
    }

    /// Returns the rectangle of a step's token on the screen, if it is visible. If the token spans
    /// two rows, returns the first part.
    pub(super) fn token_rect(
        &self,
        chunks: &[(&Chunk, Arc<Galley>)],
        step: Option<usize>,
    ) -> Option<Rect> {
        step?;
        chunks.iter().find_map(|(chunk, _)| {
            let mut rows = chunk.rows.iter();
            rows.find_map(|row| {
                let mut spans = row.spans.iter().filter(|span| span.step == step);
                spans.find_map(|span| self.rect(chunk, row, span))
            })
        })
    }

    /// Paints the cursor at the end of the text during generation.
    pub(super) fn cursor(&self, last: Option<&Chunk>) {
        let Some((chunk, row)) = last.and_then(|chunk| Some((chunk, chunk.rows.last()?))) else {
            return;
        };
        let y = self.origin.y + chunk.y.min + row.y.center();
        let size = vec2(8.0, 16.0);
        let left = self.origin.x + row.after(size.x);
        let block = Rect::from_min_size(pos2(left, y - size.y / 2.0), size);
        self.painter.rect_filled(block, 2, self.input.pane_color);
    }

    /// Calls `paint` with each generated token of a chunk and its rectangle on the screen.
    fn each_span(&self, chunk: &Chunk, mut paint: impl FnMut(&Span, Rect)) {
        for row in &chunk.rows {
            for span in row.spans.iter().filter(|span| span.step.is_some()) {
                if let Some(rect) = self.rect(chunk, row, span) {
                    paint(span, rect);
                }
            }
        }
    }

    fn rect(&self, chunk: &Chunk, row: &Row, span: &Span) -> Option<Rect> {
        let ink = span.ink?;
        let padding = if span.style.is_chip() { 4.0 } else { 1.0 };
        let x = Rangef::new(self.origin.x + ink.min, self.origin.x + ink.max).expand(padding);
        let height = TINT_HEIGHT.min(row.y.span());
        let middle = self.origin.y + chunk.y.min + row.y.center();
        Some(Rect::from_x_y_ranges(
            x,
            Rangef::new(middle - height / 2.0, middle + height / 2.0),
        ))
    }

    fn under(&self, span: &Span, rect: Rect) {
        let fill = if span.step == self.input.pinned {
            self.theme.accent_bg
        } else if self.is_wrong(span) {
            self.theme.error_bg
        } else if self.is_unjudged(span) {
            Color32::TRANSPARENT
        } else {
            self.fill(span)
        };
        if fill != Color32::TRANSPARENT {
            let rect = if span.style.is_chip() {
                rect.shrink2(vec2(0.0, 1.0))
            } else {
                rect
            };
            self.painter.rect_filled(rect, 3, fill);
        }
    }

    /// Returns whether the token breaks the text's grammar, or contradicts the record.
    fn is_wrong(&self, span: &Span) -> bool {
        let wrong = [self.input.breaks_at, self.input.contradicts_at];
        span.step.is_some() && wrong.contains(&span.step)
    }

    /// Returns whether the token comes after a contradiction.
    fn is_unjudged(&self, span: &Span) -> bool {
        let from = self.input.unjudged_from;
        span.step.zip(from).is_some_and(|(step, from)| step >= from)
    }

    fn fill(&self, span: &Span) -> Color32 {
        match span.style {
            RunStyle::Special => self.theme.special_bg,
            RunStyle::Bytes => self.theme.byte_bg,
            // A line break has no width; its tint would be a stray blob.
            RunStyle::Newline | RunStyle::Thought => Color32::TRANSPARENT,
            RunStyle::Prompt | RunStyle::Text => {
                let steps = &self.input.generation.steps;
                let index = span.step.filter(|index| *index < steps.len());
                let tint = self.input.tint;
                index.map_or(Color32::TRANSPARENT, |index| {
                    let of_mark = self.input.watermark.map(|scan| scan.tint_step(index));
                    let step = match tint {
                        Tint::Watermark => of_mark.unwrap_or(0),
                        tint => steps.get(index).map_or(0, |step| tint.step(step)),
                    };
                    self.theme.tint(tint, step)
                })
            }
        }
    }

    fn over(&self, span: &Span, rect: Rect) {
        let steps = &self.input.generation.steps;
        let step = span.step.and_then(|step| steps.get(step));
        if step.is_some_and(|step| step.trace.draw.is_by_hand()) {
            let stroke = Stroke::new(1.0, self.theme.text_1);
            for y in [rect.top(), rect.bottom()] {
                self.painter.hline(rect.x_range(), y, stroke);
            }
        }
        let ring = |width: f32, color, kind| {
            self.painter
                .rect_stroke(rect, 3, Stroke::new(width, color), kind);
        };
        if span.step == self.input.pinned {
            ring(1.5, self.theme.accent, StrokeKind::Inside);
        } else if span.step == self.hovered {
            ring(1.0, self.theme.text_2, StrokeKind::Outside);
        } else if span.step == self.input.same_step {
            ring(1.0, self.theme.accent, StrokeKind::Inside);
        }
        if span.step == self.input.fork_step {
            let stroke = Stroke::new(1.5, self.theme.text_2);
            let y = rect.bottom() + 0.75;
            let ends = [rect.left() + 1.0, rect.right() - 1.0];
            self.painter.line_segment(ends.map(|x| pos2(x, y)), stroke);
        }
        self.loop_line(span, rect);
        self.kind_line(span, rect);
        if step.is_some_and(grammar_changed) {
            self.changed_line(span, rect, false);
        }
        if step.is_some_and(|step| step.trace.draw.is_given()) {
            self.cut_line(span, rect);
        } else {
            self.what_if(span, rect);
        }
        if span.step != self.input.pinned {
            if self.is_wrong(span) {
                ring(1.5, self.theme.error, StrokeKind::Inside);
            } else if span.step.is_some() && span.step == self.input.breaks_other_at {
                ring(1.0, self.theme.stroke_3, StrokeKind::Inside);
            }
        }
        if span.step < Some(self.input.n_dimmed) || step.is_some_and(is_forced) {
            let veil = self.theme.surface_1.gamma_multiply(0.6);
            self.painter.rect_filled(rect, 0, veil);
        }
    }

    /// Underlines the tokens of a loop.
    fn loop_line(&self, span: &Span, rect: Rect) {
        let looping = span.step.zip(self.input.looping);
        if looping.is_some_and(|(step, looping)| looping.steps.contains(&step)) {
            let stroke = Stroke::new(1.0, self.theme.warning);
            let y = rect.bottom();
            self.painter.hline(rect.x_range(), y, stroke);
        }
    }

    /// Returns whether the token is of the kind that is underlined.
    fn is_of_kind(&self, span: &Span) -> bool {
        let marked = span.step.zip(self.input.kind);
        marked.is_some_and(|(step, marks)| marks.contains(step))
    }

    /// Underlines a token of the chosen kind.
    fn kind_line(&self, span: &Span, rect: Rect) {
        if self.is_of_kind(span) {
            let stroke = Stroke::new(2.0, self.theme.text_2);
            let x_range = rect.shrink2(vec2(1.0, 0.0)).x_range();
            self.painter.hline(x_range, rect.bottom() + 1.0, stroke);
        }
    }

    /// Underlines a given token that the settings cut.
    fn cut_line(&self, span: &Span, rect: Rect) {
        let steps = &self.input.generation.steps;
        let Some((index, step)) = span.step.and_then(|at| Some((at, steps.get(at)?))) else {
            return;
        };
        let verdict = self.input.what_ifs.and_then(|ifs| ifs.verdict(index));
        let is_cut = match verdict {
            Some(verdict) => verdict == WhatIfVerdict::Changed,
            None => !step.trace.draw.was_possible(),
        };
        if is_cut {
            let stroke = Stroke::new(2.0, self.theme.error);
            let x_range = rect.shrink2(vec2(1.0, 0.0)).x_range();
            self.painter.hline(x_range, rect.bottom() + 1.0, stroke);
        }
    }

    /// Underlines a token that the current settings would change, dashed if they only likely would.
    /// The line is below those of the fork and of the kind.
    fn what_if(&self, span: &Span, rect: Rect) {
        let verdict = span.step.zip(self.input.what_ifs);
        let verdict = verdict.and_then(|(step, what_ifs)| what_ifs.verdict(step));
        match verdict {
            Some(WhatIfVerdict::Changed) => self.changed_line(span, rect, false),
            Some(WhatIfVerdict::LikelyChanged) => self.changed_line(span, rect, true),
            Some(WhatIfVerdict::Same | WhatIfVerdict::Unsure) | None => {}
        }
    }

    /// Underlines a token that would have been another one.
    fn changed_line(&self, span: &Span, rect: Rect, dashed: bool) {
        let below = if self.is_of_kind(span) {
            3.0
        } else if span.step == self.input.fork_step {
            2.75
        } else {
            1.0
        };
        let y = rect.bottom() + below;
        let ends = [pos2(rect.left() + 1.0, y), pos2(rect.right() - 1.0, y)];
        let stroke = Stroke::new(2.0, self.theme.changed);
        if dashed {
            let dashes = Shape::dashed_line(&ends, stroke, DASH, DASH);
            self.painter.extend(dashes);
        } else {
            self.painter.line_segment(ends, stroke);
        }
    }

    /// Paints the diamond that marks the first fork, above the gap before the token.
    fn diamond(&self, rect: Rect) {
        let (center, reach) = (pos2(rect.left() + 0.5, rect.top() + 1.0), 4.25);
        let corners = [
            vec2(0.0, -reach),
            vec2(reach, 0.0),
            vec2(0.0, reach),
            vec2(-reach, 0.0),
        ];
        let points = corners.map(|corner| center + corner).to_vec();
        let color = self.theme.text_1;
        self.painter
            .add(Shape::convex_polygon(points, color, Stroke::NONE));
    }

    /// Paints whitespace marks: all of them if enabled, otherwise only those of hovered or pinned
    /// tokens that would be invisible.
    fn marks(&self, chunk: &Chunk) {
        let marked_steps = [self.hovered, self.input.pinned, self.input.same_step];
        for row in &chunk.rows {
            let y = self.origin.y + chunk.y.min + row.y.center();
            let mut font = Face::Read.font();
            font.size = font.size.min(row.y.span());
            for whitespace in &row.whitespace {
                let invisible = whitespace.blank
                    && whitespace.step.is_some()
                    && marked_steps.contains(&whitespace.step);
                if invisible || (self.input.show_marks && whitespace.step.is_some()) {
                    self.painter.text(
                        pos2(self.origin.x + whitespace.x, y),
                        Align2::CENTER_CENTER,
                        whitespace.mark,
                        font.clone(),
                        self.theme.text_3,
                    );
                }
            }
        }
    }
}

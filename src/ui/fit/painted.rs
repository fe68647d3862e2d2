//! The texts of a frame, as painted.

use std::sync::Arc;

use egui::epaint::{ClippedShape, RectShape, Shape, TextShape};
use egui::{Color32, Galley, Rect};

/// A row of text.
#[derive(Debug, Clone)]
pub(super) struct PaintedText {
    pub words: String,
    /// The area that its glyphs cover.
    pub ink: Rect,
    pub clip: Rect,
    /// The address of its galley. Rows of the same galley are not compared.
    galley: usize,
    order: usize,
}

/// All texts and opaque areas of a frame, in the order in which they are painted.
#[derive(Debug, Default)]
pub(super) struct Frame {
    texts: Vec<PaintedText>,
    /// Opaque areas with their painting order.
    covers: Vec<(usize, Rect)>,
}

impl Frame {
    pub(super) fn of(shapes: &[ClippedShape]) -> Self {
        let mut frame = Self::default();
        for (
            order,
            ClippedShape {
                clip_rect, shape, ..
            },
        ) in shapes.iter().enumerate()
        {
            frame.add(order, *clip_rect, shape);
        }
        frame
    }

    fn add(&mut self, order: usize, clip: Rect, shape: &Shape) {
        match shape {
            Shape::Vec(shapes) => {
                for shape in shapes {
                    self.add(order, clip, shape);
                }
            }
            Shape::Rect(RectShape { rect, fill, .. }) if fill.is_opaque() => {
                self.covers.push((order, rect.intersect(clip)));
            }
            Shape::Text(text) if is_visible(text) => self.add_text(order, clip, text),
            _ => {}
        }
    }

    fn add_text(&mut self, order: usize, clip: Rect, text: &TextShape) {
        if text.angle.abs() > 0.0 {
            return;
        }
        for row in &text.galley.rows {
            let ink = row.visuals.mesh_bounds;
            if !ink.is_positive() {
                continue;
            }
            let words: String = row.glyphs.iter().map(|glyph| glyph.chr).collect();
            self.texts.push(PaintedText {
                words: words.trim().to_owned(),
                ink: ink.translate(text.pos.to_vec2() + row.pos.to_vec2()),
                clip,
                galley: Arc::<Galley>::as_ptr(&text.galley) as usize,
                order,
            });
        }
    }

    /// Returns the texts that nothing covers.
    pub(super) fn texts(&self) -> impl Iterator<Item = &PaintedText> {
        self.texts.iter().filter(|text| !self.is_covered(text))
    }

    /// Returns whether an opaque area, such as a dialog, was painted over a text.
    fn is_covered(&self, text: &PaintedText) -> bool {
        let seen = text.ink.intersect(text.clip);
        let mut covers = self.covers.iter();
        covers.any(|(order, cover)| *order > text.order && cover.contains_rect(seen))
    }

    /// Returns the pairs of texts whose glyphs overlap by more than this many points.
    pub(super) fn overlaps(&self, tolerance: f32) -> Vec<(&PaintedText, &PaintedText)> {
        let texts: Vec<&PaintedText> = self.texts().collect();
        let mut found = Vec::new();
        for (index, one) in texts.iter().enumerate() {
            for other in texts.iter().skip(index + 1) {
                let shared = one.seen().intersect(other.seen());
                let is_shared = shared.width() > tolerance && shared.height() > tolerance;
                let same_galley = one.galley == other.galley && one.order == other.order;
                if is_shared && !same_galley && !self.is_between(one, other, shared) {
                    found.push((*one, *other));
                }
            }
        }
        found
    }

    /// Returns whether an opaque area, such as a popup, separates two texts.
    fn is_between(&self, below: &PaintedText, above: &PaintedText, shared: Rect) -> bool {
        let mut covers = self.covers.iter();
        covers.any(|(order, cover)| {
            (below.order..=above.order).contains(order) && cover.contains_rect(shared)
        })
    }
}

impl PaintedText {
    fn seen(&self) -> Rect {
        self.ink.intersect(self.clip)
    }
}

/// Returns whether a text has a visible color. A field that truncates its text paints the full text
/// invisibly.
fn is_visible(text: &TextShape) -> bool {
    let sections = &text.galley.job.sections;
    let has_color = |color: Color32| color.a() > 0;
    let is_colored = match text.override_text_color {
        Some(color) => has_color(color),
        None => sections.iter().any(|section| {
            section.format.color == Color32::PLACEHOLDER || has_color(section.format.color)
        }),
    };
    text.opacity_factor > 0.0 && is_colored
}

//! What a page paints: shapes, and text glyph by glyph where the drawing has it.

use std::sync::Arc;

use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Name, Str};
use resvg::tiny_skia::{Path as Outline, PathSegment, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::layout::Span;
use resvg::usvg::{
    ClipPath, Color, Fill, FillRule, Group, LineCap, LineJoin, Node, Paint, Path, Stroke, Text,
};

use super::fonts::{PageFonts, PlacedGlyph};
use crate::plots::count;

/// The opacities of fills and of strokes, from 0 to 255.
pub(super) type Opacity = [u8; 2];

/// The content of a page, and what it refers to.
pub(super) struct PageContent {
    content: Content,
    opacities: Vec<Opacity>,
    fonts: PageFonts,
}

/// Returns the name of an opacity on the page.
pub(super) fn opacity_name(index: usize) -> String {
    format!("G{index}")
}

/// Returns the name of a font on the page.
pub(super) fn font_name(index: usize) -> String {
    format!("F{index}")
}

impl PageContent {
    /// Creates an empty page, whose text is in the fonts of a database.
    pub(super) fn new(database: &Arc<Database>) -> Self {
        Self {
            content: Content::new(),
            opacities: Vec::new(),
            fonts: PageFonts::new(database),
        }
    }

    /// Draws a group under a transformation of the page.
    pub(super) fn draw(&mut self, group: &Group, page: [f32; 6]) {
        self.content.save_state();
        self.content.transform(page);
        self.group(group, 1.0);
        self.content.restore_state();
    }

    /// Returns the operators of the page, its opacities and its fonts, in the order of their names.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<Opacity>, PageFonts) {
        (self.content.finish().into_vec(), self.opacities, self.fonts)
    }

    fn group(&mut self, group: &Group, opacity: f32) {
        let opacity = opacity * group.opacity().get();
        self.content.save_state();
        if !group.transform().is_identity() {
            self.content.transform(matrix(group.transform()));
        }
        if let Some(clip) = group.clip_path() {
            self.clip(clip);
        }
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group, opacity),
                Node::Path(path) => self.path(path, opacity),
                Node::Text(text) => self.text(text, opacity),
                // No drawing has one.
                Node::Image(_) => {}
            }
        }
        self.content.restore_state();
    }

    fn clip(&mut self, clip: &ClipPath) {
        if let Some(outer) = clip.clip_path() {
            self.clip(outer);
        }
        for node in clip.root().children() {
            if let Node::Path(path) = node
                && let Some(outline) = path.data().clone().transform(clip.transform())
            {
                self.outline(&outline);
            }
        }
        self.content.clip_nonzero();
        self.content.end_path();
    }

    fn path(&mut self, path: &Path, opacity: f32) {
        if !path.is_visible() {
            return;
        }
        let fill = path
            .fill()
            .and_then(|fill| Some((fill, color(fill.paint())?)));
        let stroke = path
            .stroke()
            .and_then(|stroke| Some((stroke, color(stroke.paint())?)));
        let alpha = [
            fill.map_or(1.0, |(fill, _)| fill.opacity().get()),
            stroke.map_or(1.0, |(stroke, _)| stroke.opacity().get()),
        ];
        self.content.save_state();
        self.set_opacity(alpha.map(|alpha| alpha * opacity));
        if let Some((_, color)) = fill {
            self.set_fill(color);
        }
        if let Some((stroke, color)) = stroke {
            self.set_stroke(stroke, color);
        }
        self.outline(path.data());
        let is_even_odd = fill.is_some_and(|(fill, _)| fill.rule() == FillRule::EvenOdd);
        match (fill.is_some(), stroke.is_some()) {
            (true, true) if is_even_odd => self.content.fill_even_odd_and_stroke(),
            (true, true) => self.content.fill_nonzero_and_stroke(),
            (true, false) if is_even_odd => self.content.fill_even_odd(),
            (true, false) => self.content.fill_nonzero(),
            (false, true) => self.content.stroke(),
            (false, false) => self.content.end_path(),
        };
        self.content.restore_state();
    }

    /// Draws a text with its fonts, or as outlines if one of them can't be embedded.
    fn text(&mut self, text: &Text, opacity: f32) {
        let fonts = &mut self.fonts;
        let spans = text.layouted().iter().filter(|span| span.visible);
        let placed: Option<Vec<(&Span, Vec<PlacedGlyph>)>> = spans
            .map(|span| {
                let glyphs = span.positioned_glyphs.iter();
                let placed = glyphs.map(|glyph| fonts.place(span, glyph));
                Some((span, placed.collect::<Option<_>>()?))
            })
            .collect();
        let Some(placed) = placed else {
            return self.group(text.flattened(), opacity);
        };
        for (span, glyphs) in placed {
            let below = span.underline.iter().chain(&span.overline);
            below.for_each(|line| self.path(line, opacity));
            if let Some(fill) = &span.fill {
                self.glyphs(&glyphs, fill, opacity);
            }
            if let Some(line) = &span.line_through {
                self.path(line, opacity);
            }
        }
    }

    fn glyphs(&mut self, glyphs: &[PlacedGlyph], fill: &Fill, opacity: f32) {
        let Some(color) = color(fill.paint()) else {
            return;
        };
        self.content.save_state();
        self.set_opacity([fill.opacity().get() * opacity, 1.0]);
        self.set_fill(color);
        self.content.begin_text();
        for line in glyphs.chunk_by(PlacedGlyph::shares_line) {
            let Some(first) = line.first() else {
                continue;
            };
            let name = font_name(first.font);
            self.content.set_font(Name(name.as_bytes()), first.size);
            self.content.set_text_matrix(matrix(first.transform));
            let mut shown = self.content.show_positioned();
            let mut items = shown.items();
            let mut together = Vec::new();
            let nexts = line.iter().skip(1).map(Some).chain([None]);
            for (glyph, next) in line.iter().zip(nexts) {
                together.extend(glyph.id.to_be_bytes());
                let overlap = next.and_then(|next| glyph.overlap(next));
                if next.is_none() || overlap.is_some() {
                    items.show(Str(&together));
                    together.clear();
                }
                if let Some(overlap) = overlap {
                    items.adjust(overlap);
                }
            }
        }
        self.content.end_text();
        self.content.restore_state();
    }

    fn set_opacity(&mut self, opacity: [f32; 2]) {
        let opacity = opacity.map(|alpha| count(f64::from(alpha * 255.0).round()).min(255) as u8);
        if opacity == [u8::MAX; 2] {
            return;
        }
        let known = self.opacities.iter().position(|known| *known == opacity);
        let index = known.unwrap_or_else(|| {
            self.opacities.push(opacity);
            self.opacities.len() - 1
        });
        let name = opacity_name(index);
        self.content.set_parameters(Name(name.as_bytes()));
    }

    fn set_fill(&mut self, color: Color) {
        let [red, green, blue] = components(color);
        // Printers print gray with black ink alone.
        if color.red == color.green && color.green == color.blue {
            self.content.set_fill_gray(red);
        } else {
            self.content.set_fill_rgb(red, green, blue);
        }
    }

    fn set_stroke(&mut self, stroke: &Stroke, color: Color) {
        let [red, green, blue] = components(color);
        if color.red == color.green && color.green == color.blue {
            self.content.set_stroke_gray(red);
        } else {
            self.content.set_stroke_rgb(red, green, blue);
        }
        self.content.set_line_width(stroke.width().get());
        self.content.set_line_cap(match stroke.linecap() {
            LineCap::Butt => LineCapStyle::ButtCap,
            LineCap::Round => LineCapStyle::RoundCap,
            LineCap::Square => LineCapStyle::ProjectingSquareCap,
        });
        self.content.set_line_join(match stroke.linejoin() {
            LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
            LineJoin::Round => LineJoinStyle::RoundJoin,
            LineJoin::Bevel => LineJoinStyle::BevelJoin,
        });
        if let Some(dashes) = stroke.dasharray() {
            let offset = stroke.dashoffset();
            self.content
                .set_dash_pattern(dashes.iter().copied(), offset);
        }
    }

    fn outline(&mut self, outline: &Outline) {
        let mut last = (0.0, 0.0);
        for segment in outline.segments() {
            match segment {
                PathSegment::MoveTo(to) => self.content.move_to(to.x, to.y),
                PathSegment::LineTo(to) => self.content.line_to(to.x, to.y),
                PathSegment::QuadTo(by, to) => {
                    // A cubic curve with the same points.
                    let toward = |end: f32, by: f32| end + (by - end) * 2.0 / 3.0;
                    let start = (toward(last.0, by.x), toward(last.1, by.y));
                    let end = (toward(to.x, by.x), toward(to.y, by.y));
                    self.content
                        .cubic_to(start.0, start.1, end.0, end.1, to.x, to.y)
                }
                PathSegment::CubicTo(start, end, to) => self
                    .content
                    .cubic_to(start.x, start.y, end.x, end.y, to.x, to.y),
                PathSegment::Close => self.content.close_path(),
            };
            if let PathSegment::MoveTo(to)
            | PathSegment::LineTo(to)
            | PathSegment::QuadTo(_, to)
            | PathSegment::CubicTo(_, _, to) = segment
            {
                last = (to.x, to.y);
            }
        }
    }
}

/// Returns a plain color. No drawing has gradients.
fn color(paint: &Paint) -> Option<Color> {
    match paint {
        Paint::Color(color) => Some(*color),
        _ => None,
    }
}

fn components(color: Color) -> [f32; 3] {
    [color.red, color.green, color.blue].map(|part| f32::from(part) / 255.0)
}

fn matrix(transform: Transform) -> [f32; 6] {
    let Transform {
        sx,
        kx,
        ky,
        sy,
        tx,
        ty,
    } = transform;
    [sx, ky, kx, sy, tx, ty]
}

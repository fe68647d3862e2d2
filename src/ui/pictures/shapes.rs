//! Converts painted shapes to SVG.

use std::fmt::Write as _;

use egui::epaint::{ClippedShape, ColorMode};
use egui::{Color32, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2, pos2};

use super::text::push_text;

/// The page of a drawing.
pub(super) struct Page<'a> {
    /// The size of what is drawn, and the size at which it is shown, in points.
    pub size: Vec2,
    pub shown: Vec2,
    /// What describe it for screen readers.
    pub title: &'a str,
    pub caption: &'a str,
}

impl Page<'_> {
    /// Returns a complete SVG document.
    pub(super) fn document(&self, clipped_shapes: &[ClippedShape]) -> String {
        let (size, shown) = (self.size, self.shown);
        let mut svg = String::new();
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
             viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n",
            shown.x,
            shown.y,
            size.x,
            size.y,
            escaped(self.title),
            escaped(self.caption)
        );
        push_clipped(&mut svg, size, clipped_shapes);
        svg.push_str("</svg>\n");
        svg
    }
}

/// Appends shapes, each within its clip rectangle.
fn push_clipped(svg: &mut String, size: Vec2, clipped_shapes: &[ClippedShape]) {
    let page = Rect::from_min_size(pos2(0.0, 0.0), size);
    let mut open_clip: Option<Rect> = None;
    let mut n_clips = 0;
    for ClippedShape {
        clip_rect, shape, ..
    } in clipped_shapes
    {
        let bounds = shape.visual_bounding_rect();
        let clip = clip_rect.intersect(page);
        if !clip.intersects(bounds) || matches!(shape, Shape::Noop) {
            continue;
        }
        let wanted = (!clip_rect.contains_rect(bounds.intersect(page))).then_some(clip);
        if wanted != open_clip {
            close_clip(svg, open_clip);
            if let Some(clip) = wanted {
                open_new_clip(svg, clip, n_clips);
                n_clips += 1;
            }
            open_clip = wanted;
        }
        push_shape(svg, shape);
    }
    close_clip(svg, open_clip);
}

fn open_new_clip(svg: &mut String, clip: Rect, index: usize) {
    let _ = writeln!(
        svg,
        "<clipPath id=\"clip{index}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\
         <g clip-path=\"url(#clip{index})\">",
        Number(clip.min.x),
        Number(clip.min.y),
        Number(clip.width()),
        Number(clip.height())
    );
}

fn close_clip(svg: &mut String, clip: Option<Rect>) {
    if clip.is_some() {
        svg.push_str("</g>\n");
    }
}

/// Appends one shape. Plots paint only rectangles, lines, polygons, circles and text; other shapes
/// are skipped.
fn push_shape(svg: &mut String, shape: &Shape) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| push_shape(svg, shape)),
        Shape::Circle(circle) => {
            let _ = writeln!(
                svg,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
                Number(circle.center.x),
                Number(circle.center.y),
                Number(circle.radius),
                paint(circle.fill, circle.stroke)
            );
        }
        Shape::LineSegment { points, stroke } => {
            let points = crisp(*points, stroke.width);
            push_points(
                svg,
                "polyline",
                &points,
                &paint(Color32::TRANSPARENT, *stroke),
            );
        }
        Shape::Path(path) => {
            let color = match path.stroke.color {
                ColorMode::Solid(color) => color,
                // No plot paints a gradient.
                ColorMode::UV(_) => Color32::TRANSPARENT,
            };
            let element = if path.closed { "polygon" } else { "polyline" };
            let stroke = Stroke::new(path.stroke.width, color);
            push_points(svg, element, &path.points, &paint(path.fill, stroke));
        }
        Shape::Rect(rect) => push_rect(svg, rect),
        Shape::Text(text) => push_text(svg, text),
        _ => {}
    }
}

/// Aligns a horizontal or vertical hairline to the point grid, as on the screen.
fn crisp([mut start, mut end]: [Pos2; 2], width: f32) -> [Pos2; 2] {
    let middle = |at: f32| at.floor() + 0.5;
    if (width - 1.0).abs() < 0.01 {
        if (start.y - end.y).abs() < 0.01 {
            start.y = middle(start.y);
            end.y = start.y;
        } else if (start.x - end.x).abs() < 0.01 {
            start.x = middle(start.x);
            end.x = start.x;
        }
    }
    [start, end]
}

fn push_rect(svg: &mut String, shape: &egui::epaint::RectShape) {
    // SVG centers a stroke on the edge.
    let inset = match shape.stroke_kind {
        StrokeKind::Inside => shape.stroke.width / 2.0,
        StrokeKind::Middle => 0.0,
        StrokeKind::Outside => -shape.stroke.width / 2.0,
    };
    let rect = shape.rect.shrink(if shape.stroke.color.a() == 0 {
        0.0
    } else {
        inset
    });
    if rect.width() <= 0.0 || rect.height() <= 0.0 {
        return;
    }
    let radius = f32::from(shape.corner_radius.nw).min(rect.width().min(rect.height()) / 2.0);
    let radius = if radius > 0.0 {
        format!(" rx=\"{}\"", Number(radius))
    } else {
        String::new()
    };
    let _ = writeln!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{radius}{}/>",
        Number(rect.min.x),
        Number(rect.min.y),
        Number(rect.width()),
        Number(rect.height()),
        paint(shape.fill, shape.stroke)
    );
}

fn push_points(svg: &mut String, element: &str, points: &[Pos2], paint: &str) {
    let _ = write!(svg, "<{element} points=\"");
    for (index, point) in points.iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        let _ = write!(svg, "{space}{},{}", Number(point.x), Number(point.y));
    }
    let _ = writeln!(svg, "\"{paint}/>");
}

fn paint(fill: Color32, stroke: Stroke) -> String {
    let mut attributes = color_attributes("fill", fill);
    if stroke.width > 0.0 && stroke.color.a() > 0 {
        attributes.push_str(&color_attributes("stroke", stroke.color));
        let _ = write!(attributes, " stroke-width=\"{}\"", Number(stroke.width));
        attributes.push_str(" stroke-linejoin=\"round\"");
    }
    attributes
}

/// Formats a color as SVG attributes; a fully transparent one is "none".
pub(super) fn color_attributes(name: &str, color: Color32) -> String {
    let [red, green, blue, alpha] = color.to_srgba_unmultiplied();
    match alpha {
        0 => format!(" {name}=\"none\""),
        255 => format!(" {name}=\"#{red:02x}{green:02x}{blue:02x}\""),
        _ => format!(
            " {name}=\"#{red:02x}{green:02x}{blue:02x}\" {name}-opacity=\"{}\"",
            Number(f32::from(alpha) / 255.0)
        ),
    }
}

/// Escapes text for XML. Characters that XML does not allow become U+FFFD.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Formats a number with at most two decimals.
pub(super) struct Number(pub f32);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = (self.0 * 100.0).round() / 100.0;
        // Adding 0 turns −0 into 0.
        (rounded + 0.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_for_xml() {
        let cases = [
            ("a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"),
            ("one\ntwo", "one two"),
            ("\u{1}\u{FFFF}", "\u{FFFD}\u{FFFD}"),
            ("‘ü’", "‘ü’"),
        ];
        for (text, expected) in cases {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn numbers_have_at_most_two_decimals() {
        for (number, text) in [
            (1.0, "1"),
            (0.333_33, "0.33"),
            (-0.001, "0"),
            (12.345_6, "12.35"),
        ] {
            assert_eq!(Number(number).to_string(), text);
        }
    }
}

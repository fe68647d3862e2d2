//! The strokes and fills that make up icons.

use egui::epaint::CubicBezierShape;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2};

/// A point on the icon's grid: x to the right, y down.
pub(super) type Point = (f32, f32);

/// One stroke or fill. Strokes are 1.5 units wide.
#[derive(Debug)]
pub(super) enum Mark {
    /// An arc of a circle, from one angle to another in radians.
    Arc(Point, f32, [f32; 2]),
    /// A filled rectangle: top left, bottom right, corner radius.
    Block(Point, Point, f32),
    /// The outline of a rectangle: top left, bottom right, corner radius.
    Box(Point, Point, f32),
    /// The outline of a circle.
    Circle(Point, f32),
    /// A cubic Bézier curve.
    Curve([Point; 4]),
    /// A filled circle.
    Dot(Point, f32),
    /// A filled convex polygon with a stroke around it.
    Fill(&'static [Point]),
    /// A line through points, with round ends.
    Line(&'static [Point]),
    /// The outline of a polygon.
    Outline(&'static [Point]),
}

/// Paints marks in the coordinates of an icon's grid.
pub(super) struct MarkPainter<'a> {
    painter: &'a Painter,
    origin: Pos2,
    scale: f32,
    color: Color32,
}

impl<'a> MarkPainter<'a> {
    /// Creates a painter for the largest square centered in `rect`.
    pub(super) fn new(painter: &'a Painter, rect: Rect, color: Color32) -> Self {
        let scale = rect.width().min(rect.height()) / 16.0;
        Self {
            painter,
            origin: rect.center() - Vec2::splat(8.0 * scale),
            scale,
            color,
        }
    }

    /// Paints one mark.
    pub(super) fn paint(&self, mark: &Mark) {
        let shape = match *mark {
            Mark::Arc(center, radius, [from, to]) => {
                return self.line(&self.arc(center, radius, [from, to]));
            }
            Mark::Block(min, max, radius) => {
                Shape::rect_filled(self.rect(min, max), radius * self.scale, self.color)
            }
            Mark::Box(min, max, radius) => Shape::rect_stroke(
                self.rect(min, max),
                radius * self.scale,
                self.stroke(),
                StrokeKind::Middle,
            ),
            Mark::Circle(center, radius) => {
                Shape::circle_stroke(self.at(center), radius * self.scale, self.stroke())
            }
            Mark::Curve(control) => CubicBezierShape::from_points_stroke(
                control.map(|point| self.at(point)),
                false,
                Color32::TRANSPARENT,
                self.stroke(),
            )
            .into(),
            Mark::Dot(center, radius) => {
                Shape::circle_filled(self.at(center), radius * self.scale, self.color)
            }
            Mark::Fill(points) => {
                Shape::convex_polygon(self.all(points), self.color, self.stroke())
            }
            Mark::Line(points) => return self.line(&self.all(points)),
            Mark::Outline(points) => Shape::closed_line(self.all(points), self.stroke()),
        };
        self.painter.add(shape);
    }

    fn line(&self, points: &[Pos2]) {
        let stroke = self.stroke();
        for end in [points.first(), points.last()].into_iter().flatten() {
            self.painter
                .circle_filled(*end, stroke.width / 2.0, self.color);
        }
        self.painter.line(points.to_vec(), stroke);
    }

    fn arc(&self, center: Point, radius: f32, [from, to]: [f32; 2]) -> Vec<Pos2> {
        (0..=24)
            .map(|step| {
                let (sin, cos) = (from + (to - from) * step as f32 / 24.0).sin_cos();
                self.at((center.0 + radius * cos, center.1 + radius * sin))
            })
            .collect()
    }

    fn stroke(&self) -> Stroke {
        Stroke::new(1.5 * self.scale, self.color)
    }

    fn rect(&self, min: Point, max: Point) -> Rect {
        Rect::from_min_max(self.at(min), self.at(max))
    }

    fn all(&self, points: &[Point]) -> Vec<Pos2> {
        points.iter().map(|point| self.at(*point)).collect()
    }

    fn at(&self, (x, y): Point) -> Pos2 {
        self.origin + Vec2::new(x, y) * self.scale
    }
}

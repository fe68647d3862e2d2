//! What distinguishes panes besides color: a dash pattern and an end marker for each.

use egui::{Color32, Painter, Pos2, Shape, Stroke, Vec2, pos2, vec2};
use egui_plot::LineStyle;

/// The opacity of the uprights, in the color of a pane, at which turns of its conversation begin.
pub(super) const TURN_OPACITY: f32 = 0.4;

/// Returns the dash pattern of the pane at this index.
pub(super) fn dash(pane: usize) -> LineStyle {
    match pane % 4 {
        0 => LineStyle::Solid,
        1 => LineStyle::Dashed { length: 7.0 },
        2 => LineStyle::Dotted { spacing: 5.0 },
        _ => LineStyle::Dashed { length: 14.0 },
    }
}

/// Paints the marker at the end of a pane's line.
pub fn paint_marker(painter: &Painter, pane: usize, at: Pos2, color: Color32) {
    let polygon = |points: &[Vec2]| {
        let points = points.iter().map(|offset| at + *offset).collect();
        Shape::convex_polygon(points, color, Stroke::NONE)
    };
    let triangle = |turn: fn(Vec2) -> Vec2| {
        let up = [vec2(0.0, -4.2), vec2(4.4, 3.4), vec2(-4.4, 3.4)];
        polygon(&up.map(turn))
    };
    painter.add(match pane % 8 {
        0 => Shape::circle_filled(at, 3.5, color),
        1 => polygon(&[
            vec2(0.0, -4.5),
            vec2(4.5, 0.0),
            vec2(0.0, 4.5),
            vec2(-4.5, 0.0),
        ]),
        2 => polygon(&[
            vec2(-3.2, -3.2),
            vec2(3.2, -3.2),
            vec2(3.2, 3.2),
            vec2(-3.2, 3.2),
        ]),
        3 => triangle(|offset| offset),
        4 => triangle(|offset| -offset),
        5 => triangle(Vec2::rot90),
        6 => triangle(|offset| -offset.rot90()),
        _ => cross(at, color),
    });
}

/// Returns a pane's line through these points.
pub fn dashed_line(pane: usize, points: Vec<Pos2>, color: Color32) -> Shape {
    let stroke = Stroke::new(1.5, color);
    let gap = 1.0 / std::f32::consts::GOLDEN_RATIO;
    match dash(pane) {
        LineStyle::Solid => Shape::line(points, stroke),
        LineStyle::Dashed { length } => {
            Shape::Vec(Shape::dashed_line(&points, stroke, length, length * gap))
        }
        LineStyle::Dotted { spacing } => {
            Shape::Vec(Shape::dotted_line(&points, color, spacing, 1.5 / 2.0))
        }
    }
}

/// Paints a sample of a pane's line for a legend, from `start` to the right.
pub(super) fn paint_sample(
    painter: &Painter,
    pane: usize,
    start: Pos2,
    length: f32,
    color: Color32,
) {
    let points = [start, pos2(start.x + length, start.y)];
    let stroke = Stroke::new(1.5, color);
    let gap = 1.0 / std::f32::consts::GOLDEN_RATIO;
    match dash(pane) {
        LineStyle::Solid => painter.extend([Shape::line_segment(points, stroke)]),
        LineStyle::Dashed { length } => {
            painter.extend(Shape::dashed_line(&points, stroke, length, length * gap));
        }
        LineStyle::Dotted { spacing } => {
            painter.extend(Shape::dotted_line(&points, color, spacing, 1.5 / 2.0));
        }
    }
}

fn cross(at: Pos2, color: Color32) -> Shape {
    let stroke = Stroke::new(1.75, color);
    let arm = |x: f32| Shape::line_segment([at - vec2(x, 3.4), at + vec2(x, 3.4)], stroke);
    Shape::Vec(vec![arm(3.4), arm(-3.4)])
}

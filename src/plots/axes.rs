//! The frame of a plot with two axes: round marks, grid lines and names.

use egui::{Align2, Pos2, Rangef, Rect, Stroke, Ui, pos2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::plots::scale::{axis_steps, step_decimals};
use crate::plots::{TextRun, paint_text};

/// The space for the labels on the left and below.
const LEFT: f32 = 44.0;
const BELOW: f32 = 38.0;

/// An axis from 0, or from its smallest value, to a round number.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    from: f64,
    to: f64,
    marks: Vec<(f64, String)>,
}

impl Scale {
    /// Covers values that are at least 0, from 0 to a round number.
    pub fn from_zero(most: f64) -> Self {
        let (step, n_steps) = axis_steps(most);
        let decimals = step_decimals(step);
        let mark = |index: u32| {
            let value = step * f64::from(index);
            (value, format!("{value:.decimals$}"))
        };
        Self {
            from: 0.0,
            to: step * f64::from(n_steps),
            marks: (0..=n_steps).map(mark).collect(),
        }
    }

    /// Marks exactly these values, given with their labels.
    pub fn of(marks: Vec<(f64, String)>) -> Self {
        let values = marks.iter().map(|(value, _)| *value);
        let from = values.clone().fold(f64::INFINITY, f64::min);
        let to = values.fold(f64::NEG_INFINITY, f64::max);
        Self { from, to, marks }
    }

    /// An axis whose values are not known yet.
    pub const fn unmarked() -> Self {
        Self {
            from: 0.0,
            to: 1.0,
            marks: Vec::new(),
        }
    }

    /// Covers values from one to another, marked at round numbers.
    pub fn between(from: f64, to: f64) -> Self {
        let (step, _) = axis_steps(to - from);
        let decimals = step_decimals(step);
        let first = (from / step - 1e-9).ceil();
        let marks = (0..64).map(|index| (first + f64::from(index)) * step);
        let marks = marks.take_while(|value| *value <= to + step * 1e-9);
        Self {
            from,
            to,
            marks: marks
                .map(|value| (value, format!("{value:.decimals$}")))
                .collect(),
        }
    }

    /// Covers values from 0 at the top down to a round number below it, given without their sign.
    pub fn downwards(most: f64) -> Self {
        let (step, n_steps) = axis_steps(most);
        let decimals = step_decimals(step);
        let mark = |index: u32| {
            let value = step * f64::from(index);
            (-value, format!("{value:.decimals$}"))
        };
        Self {
            from: -step * f64::from(n_steps),
            to: 0.0,
            marks: (0..=n_steps).rev().map(mark).collect(),
        }
    }

    fn place(&self, value: f64, range: Rangef) -> f32 {
        let share = if self.to > self.from {
            (value - self.from) / (self.to - self.from)
        } else {
            0.5
        };
        range.min + share as f32 * range.span()
    }
}

/// Two axes and the rectangle between them.
pub struct Axes {
    area: Rect,
    x: Scale,
    y: Scale,
}

impl Axes {
    /// Lays the axes out in a rectangle, their labels included.
    pub fn new(rect: Rect, x: Scale, y: Scale) -> Self {
        let mut area = rect;
        area.min.x += LEFT;
        area.min.y += 6.0;
        area.max.x -= 14.0;
        area.max.y -= BELOW;
        Self { area, x, y }
    }

    /// Returns the rectangle between the axes.
    pub const fn area(&self) -> Rect {
        self.area
    }

    /// Returns the position at which a point is painted.
    pub fn at(&self, x: f64, y: f64) -> Pos2 {
        let up = Rangef::new(self.area.bottom(), self.area.top());
        let height = self.y.place(y, Rangef::new(0.0, up.min - up.max));
        pos2(self.x.place(x, self.area.x_range()), up.min - height)
    }

    /// Paints grid lines and labels, and names the horizontal axis.
    pub fn paint(&self, ui: &Ui, x_name: &str) {
        let theme = Theme::of(ui);
        let run = |words| TextRun::new(words, Face::Micro, theme.text_3);
        let grid = Stroke::new(1.0, theme.stroke_1);
        let base = Stroke::new(1.0, theme.stroke_2);
        for (place, (value, label)) in self.y.marks.iter().enumerate() {
            let y = self.at(self.x.from, *value).y;
            let stroke = if place == 0 { base } else { grid };
            ui.painter().hline(self.area.x_range(), y, stroke);
            let at = pos2(self.area.left() - 8.0, y);
            paint_text(ui, at, Align2::RIGHT_CENTER, run(label));
        }
        let mut free_from = f32::NEG_INFINITY;
        for (value, label) in &self.x.marks {
            let x = self.at(*value, self.y.from).x;
            let half = Face::Micro.width(ui, label) / 2.0;
            if x - half < free_from {
                continue;
            }
            free_from = x + half + 6.0;
            let at = pos2(x, self.area.bottom() + 12.0);
            paint_text(ui, at, Align2::CENTER_CENTER, run(label));
        }
        let at = pos2(self.area.right(), self.area.bottom() + 29.0);
        paint_text(ui, at, Align2::RIGHT_CENTER, run(x_name));
    }
}

#[cfg(test)]
mod tests {
    use egui::{Rect, pos2};

    use super::{Axes, Scale};

    #[test]
    fn a_point_lies_where_its_values_say() {
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(258.0, 144.0));
        let marks = [1.0, 2.0, 4.0].map(|value: f64| (value, value.to_string()));
        let axes = Axes::new(rect, Scale::of(marks.to_vec()), Scale::from_zero(0.9));
        assert_eq!(axes.at(1.0, 0.0), pos2(44.0, 106.0));
        assert_eq!(axes.at(4.0, 1.0), pos2(244.0, 6.0));
        let middle = axes.at(2.5, 0.5);
        assert!((middle - pos2(144.0, 56.0)).length() < 1e-3, "{middle}");
    }

    #[test]
    fn a_single_value_is_in_the_middle() {
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(258.0, 144.0));
        let one = Scale::of(vec![(3.0, "3".to_owned())]);
        let axes = Axes::new(rect, one, Scale::from_zero(1.0));
        assert!((axes.at(3.0, 0.0).x - 144.0).abs() < 1e-3);
    }
}

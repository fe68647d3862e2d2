//! The time per token with and without the KV cache, as two curves whose names may be hidden.

use egui::{Align2, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::{Axes, Scale};
use super::{TextRun, paint_text};
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// The radius of a point.
const POINT: f32 = 2.5;

/// The height of the line above the plot that names the vertical axis.
const TITLE: f32 = 20.0;

/// A curve: points of length and milliseconds, and the name at its right end.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCurve {
    pub points: Vec<(f64, f64)>,
    pub name: String,
}

/// Draws the curves on the same axes into this rectangle.
pub fn cache_curves_ui(ui: &Ui, rect: Rect, curves: &[NamedCurve]) {
    let theme = Theme::of(ui);
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let most = |values: f64, value: f64| values.max(value);
    let longest = all().map(|(length, _)| *length).fold(1.0, most);
    let slowest = all().map(|(_, ms)| *ms).fold(0.001, most);
    let run = TextRun::new("milliseconds per token", Face::Micro, theme.text_3);
    paint_text(
        ui,
        rect.left_top() + vec2(0.0, 8.0),
        Align2::LEFT_CENTER,
        run,
    );
    let axes = Axes::new(
        rect.with_min_y(rect.top() + TITLE),
        Scale::between(0.0, longest),
        Scale::from_zero(slowest),
    );
    axes.paint(ui, "tokens of text");
    for curve in curves {
        let points = curve.points.iter();
        let points: Vec<Pos2> = points.map(|(length, ms)| axes.at(*length, *ms)).collect();
        for point in &points {
            ui.painter().circle_filled(*point, POINT, theme.text_1);
        }
        let line = Stroke::new(1.0, theme.text_2);
        ui.painter().line(points.clone(), line);
        if let Some(last) = points.last() {
            let right = axes.area().right();
            let highest = points.iter().rev().take(8).map(|point| point.y);
            let y = highest.fold(last.y, f32::min) - 10.0;
            let at = pos2(right, y.max(axes.area().top() - 8.0));
            let run = TextRun::new(&curve.name, Face::SmallMedium, theme.text_1);
            paint_text(ui, at, Align2::RIGHT_CENTER, run);
        }
    }
    let response = ui.interact(rect, ui.scope_id().with("curves"), Sense::hover());
    let words = curves_words(curves);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &words));
}

/// Describes the curves by their ends, for screen readers.
fn curves_words(curves: &[NamedCurve]) -> String {
    let words = curves.iter().filter_map(|curve| {
        let (from, first) = curve.points.first()?;
        let (to, last) = curve.points.last()?;
        let name = &curve.name;
        Some(format!(
            "{name}: {first:.2} ms at {from:.0} tokens, {last:.2} ms at {to:.0}"
        ))
    });
    format!("Time per token. {}", words.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::{NamedCurve, curves_words};

    #[test]
    fn curves_are_described_by_their_ends() {
        let curve = NamedCurve {
            points: vec![(20.0, 1.0), (60.0, 1.5), (100.0, 2.0)],
            name: "One".to_owned(),
        };
        assert_eq!(
            curves_words(&[curve]),
            "Time per token. One: 1.00 ms at 20 tokens, 2.00 ms at 100"
        );
    }
}

//! What the drawn answers cost and how varied they are, over a number that is varied: a small plot for
//! each measure, all with the same axis.

use egui::{Align2, Pos2, Rect, Role, Sense, Ui, WidgetInfo, pos2};

use super::curve::SweepCurve;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::lab::prompts::figures::PaneOverview;
use crate::plots::{Axes, Scale, TextRun, dashed_line, paint_text_within};

/// The height of the plots.
pub(in crate::lab::prompts) const MEASURES: f32 = 138.0;

const TITLE: f32 = 18.0;
const GAP: f32 = 6.0;
const POINT: f32 = 2.5;

/// A measure: its name, and its value for settings.
type Measure = (&'static str, fn(&PaneOverview) -> Option<f64>);

const MEASURE: [Measure; 3] = [
    ("different answers to a task", |row| row.n_different),
    ("tokens of an answer", |row| row.n_tokens),
    ("seconds of an answer", |row| row.secs),
];

/// Draws the plots side by side.
pub(in crate::lab::prompts) fn measures_ui(ui: &Ui, rect: Rect, shown: SweepCurve<'_>) {
    let width = (rect.width() - GAP * (MEASURE.len() - 1) as f32) / MEASURE.len() as f32;
    let mut left = rect.left();
    for measure in MEASURE {
        let own = Rect::from_x_y_ranges(left..=left + width, rect.y_range());
        measure_ui(ui, own, measure, shown);
        left += width + GAP;
    }
}

fn measure_ui(ui: &Ui, rect: Rect, (name, value): Measure, shown: SweepCurve<'_>) {
    let theme = Theme::of(ui);
    let values = shown.sweep.axis.values().iter().copied();
    let drawn = shown.reading.drawn_cells();
    let points = values.zip(drawn.map(|drawn| value(&drawn.overview)));
    let points: Vec<(f64, f64)> = points
        .filter_map(|(at, value)| Some((at, value?)))
        .collect();
    let (title, plot) = rect.split_top_bottom_at_y(rect.top() + TITLE);
    let run = TextRun::new(name, Face::Small, theme.text_2);
    let at = pos2(title.left(), title.center().y);
    paint_text_within(ui, at, Align2::LEFT_CENTER, run, title.width());
    let most = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let [from, to] = shown.ends();
    let axes = Axes::new(plot, Scale::between(from, to), Scale::from_zero(most));
    axes.paint(ui, "");
    let line: Vec<Pos2> = points.iter().map(|(x, y)| axes.at(*x, *y)).collect();
    let color = theme.pane(shown.place());
    for point in &line {
        ui.painter().circle_filled(*point, POINT, color);
    }
    ui.painter().add(dashed_line(shown.place(), line, color));
    let response = ui.interact(rect, ui.scope_id().with(name), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, spoken(name, &points)));
}

/// "tokens of an answer: 3.1 at 0.1, 9.7 at 1.6".
fn spoken(name: &str, points: &[(f64, f64)]) -> String {
    let ends = [points.first(), points.last()].into_iter().flatten();
    let ends = ends.map(|(at, value)| format!("{value:.2} at {at}"));
    format!("{name}: {}", ends.collect::<Vec<_>>().join(", "))
}

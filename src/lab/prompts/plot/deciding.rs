//! The prompts that decide how a curve runs: one strip each, whose color is the probability of a right
//! answer, under the axis of the curve.

use std::ops::RangeInclusive;

use egui::{Align2, Color32, Rect, Shape, Stroke, Ui, pos2};

use super::curve::SweepCurve;
use crate::analysis::sweep::label;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::pane_letter;
use crate::plots::{Axes, TextRun, heat_legend, heat_step, paint_text_within, unit_title_ui};

/// The distance from one strip to the next, and the space above and below each.
pub(in crate::lab::prompts) const STRIP_ROW: f32 = 22.0;
const MARGIN: f32 = 2.0;

/// The room for what is expected, and the width of the labels from which it is shown.
const EXPECTED: f32 = 82.0;
const WITH_EXPECTED: f32 = 230.0;

/// Draws the title, with the color ramp on the right.
pub(in crate::lab::prompts) fn deciding_title_ui(ui: &Ui, rect: Rect, shown: SweepCurve<'_>) {
    let right = pos2(rect.right(), rect.top() + 9.0);
    let legend = heat_legend(ui, right, &["0 %".to_owned(), "100 %".to_owned()]);
    let title = rect.with_max_x(legend.left() - 12.0);
    let letter = pane_letter(shown.place());
    let share = if shown.reading.n_drawn_tasks() > shown.reading.n_tasks {
        "share of right answers"
    } else {
        "probability of a right answer"
    };
    let unit = format!("{share}, first to fall first, otherwise as {letter}");
    unit_title_ui(ui, title, ["The prompts that decide it", &unit], "");
}

/// Draws a prompt and its strip.
pub(in crate::lab::prompts) fn strip_ui(
    ui: &Ui,
    row: Rect,
    axes: &Axes,
    shown: SweepCurve<'_>,
    task: usize,
) {
    let theme = Theme::of(ui);
    let area = axes.area();
    let labels = row.with_max_x(area.left() - 8.0);
    let y = row.center().y;
    let expected = if labels.width() >= WITH_EXPECTED {
        EXPECTED
    } else {
        0.0
    };
    let words = shown.results.prompt_words(task);
    let run = TextRun::new(&words, Face::Candidate, theme.text_2);
    let at = pos2(labels.right() - expected, y);
    let room = at.x - labels.left();
    paint_text_within(ui, at, Align2::RIGHT_CENTER, run, room);
    if expected > 0.0 {
        let words = shown.results.expected_words(task);
        let run = TextRun::new(&words, Face::Candidate, theme.text_3);
        let at = pos2(labels.right() - expected + 10.0, y);
        paint_text_within(ui, at, Align2::LEFT_CENTER, run, expected - 10.0);
    }
    let strip = Rect::from_x_y_ranges(area.x_range(), row.top() + MARGIN..=row.bottom() - MARGIN);
    for (rect, color) in runs(strip, theme, axes, &steps(axes, shown, task)) {
        ui.painter().rect_filled(rect, 0, color);
    }
}

/// The step of the color ramp at a position.
type StepAt = (f32, usize);

/// Returns the colors of a strip from left to right.
fn steps(axes: &Axes, shown: SweepCurve<'_>, task: usize) -> Vec<StepAt> {
    let points = shown.sweep.task_points(shown.results, task).into_iter();
    let steps = points.map(|point| {
        let x = axes.at(point.value, 0.0).x;
        (x, heat_step(point.share.middle()))
    });
    let mut steps: Vec<StepAt> = steps.collect();
    steps.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    steps
}

/// Returns the rectangles of a strip. Each value reaches half of the way to its neighbors; those of
/// the same color share a rectangle.
fn runs(strip: Rect, theme: &Theme, axes: &Axes, steps: &[StepAt]) -> Vec<(Rect, Color32)> {
    let mut left = axes.area().left();
    let mut runs = Vec::new();
    for run in steps.chunk_by(|(_, a), (_, b)| a == b) {
        let Some((last, step)) = run.last() else {
            continue;
        };
        let next = steps.iter().find(|(x, _)| x > last);
        let right = next.map_or(strip.right(), |(x, _)| f32::midpoint(*x, *last));
        let rect = Rect::from_x_y_ranges(left..=right, strip.y_range());
        runs.push((rect, theme.heat(*step)));
        left = right;
    }
    runs
}

/// Draws an upright through the strips at the value of each pane.
pub(in crate::lab::prompts) fn guides_ui(
    ui: &Ui,
    range: RangeInclusive<f32>,
    axes: &Axes,
    shown: SweepCurve<'_>,
) {
    let stroke = Stroke::new(1.0, Theme::of(ui).text_1);
    for (_, value) in shown.on_axis() {
        let x = axes.at(value, 0.0).x;
        let ends = [pos2(x, *range.start()), pos2(x, *range.end())];
        ui.painter()
            .extend(Shape::dashed_line(&ends, stroke, 2.0, 3.0));
    }
}

/// Describes a strip for screen readers: "Task 11, Mars: 95 percent at 0.1, 2 percent at 1.6".
pub(in crate::lab::prompts) fn strip_words(shown: SweepCurve<'_>, task: usize) -> String {
    let points = shown.sweep.task_points(shown.results, task);
    let ends = [points.first(), points.last()].into_iter().flatten();
    let ends = ends.map(|point| {
        let percent = point.share.middle() * 100.0;
        format!("{percent:.0} percent at {}", label(point.value))
    });
    let ends: Vec<String> = ends.collect();
    let expected = shown.results.expected_words(task);
    format!("Task {}, {expected}: {}", task + 1, ends.join(", "))
}

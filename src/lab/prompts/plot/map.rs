//! The share of right answers as two numbers vary.

use egui::{Align2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use super::cell::whole_percent;
use super::curve::SweepCurve;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::counted;
use crate::plots::{
    FineGrid, MapResponse, Target, TextRun, heat_legend, heat_step, paint_text, unit_title_ui,
};

const TITLE: f32 = 26.0;
const LEFT: f32 = 40.0;
const BELOW: f32 = 42.0;

/// The size from which a cell shows its share.
const WITH_NUMBER: [f32; 2] = [34.0, 16.0];

/// Shows the map in this rectangle. In a picture, nothing can be clicked.
pub(in crate::lab::prompts) fn sweep_map_ui(
    ui: &Ui,
    rect: Rect,
    shown: SweepCurve<'_>,
    selected: Option<usize>,
    target: Target,
) -> MapResponse {
    let theme = Theme::of(ui);
    let Some(columns) = &shown.sweep.columns else {
        return MapResponse::default();
    };
    title_ui(ui, rect.with_max_y(rect.top() + TITLE), shown);
    let area = Rect::from_min_max(rect.min + vec2(LEFT, TITLE), rect.max - vec2(2.0, BELOW));
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(area, 0, edge, StrokeKind::Outside);
    let grid = FineGrid::new(area, [&shown.sweep.axis, columns]);
    let share = |cell: usize| Some(shown.reading.shares.get(cell)?.share);
    grid.paint_cells(ui, |cell| Some(theme.heat(heat_step(share(cell)?))));
    for cell in 0..shown.sweep.n_cells() {
        let rect = grid.cell(cell);
        let has_room = rect.width() >= WITH_NUMBER[0] && rect.height() >= WITH_NUMBER[1];
        if let Some(share) = share(cell).filter(|_| has_room) {
            let words = whole_percent(share);
            let run = TextRun::new(&words, Face::Small, theme.heat_ink(heat_step(share)));
            paint_text(ui, rect.center(), Align2::CENTER_CENTER, run);
        }
    }
    grid.paint_labels(ui, rect, "");
    if target == Target::Picture {
        return MapResponse::default();
    }
    if let Some(cell) = selected {
        grid.paint_selected(ui, cell);
    }
    grid.response(ui, &spoken(shown, selected))
}

fn title_ui(ui: &Ui, rect: Rect, shown: SweepCurve<'_>) {
    let right = pos2(rect.right(), rect.top() + 9.0);
    let legend = heat_legend(ui, right, &["0 %".to_owned(), "100 %".to_owned()]);
    let title = rect.with_max_x(legend.left() - 12.0);
    unit_title_ui(ui, title, ["Right answers", &unit(shown)], "");
}

/// "exact, mean of 40 tasks", or how many answers were drawn.
fn unit(shown: SweepCurve<'_>) -> String {
    let reading = shown.reading;
    let n = reading.shares.first().map_or(0, |share| share.n_prompts);
    let tasks = counted(n, "task");
    if reading.n_tasks >= n {
        return format!("exact, mean of {tasks}");
    }
    let answers = counted(shown.results.n_answers, "answer");
    match reading.n_tasks {
        0 => format!("drawn, {answers} to each of {tasks}"),
        n_exact => format!("mean of {tasks}, {n_exact} of them exact, others {answers} each"),
    }
}

/// Describes the map, and the selected cell, for screen readers.
fn spoken(shown: SweepCurve<'_>, selected: Option<usize>) -> String {
    let verdict = shown.reading.verdict.as_ref();
    let verdict = verdict.map_or("", |verdict| &verdict.sentence);
    let cell = selected.and_then(|cell| {
        let share = shown.reading.shares.get(cell)?.share;
        Some(format!(
            "{}: {}",
            shown.sweep.cell_words(cell),
            whole_percent(share)
        ))
    });
    format!(
        "Map of right answers. {verdict} {}",
        cell.unwrap_or_default()
    )
}

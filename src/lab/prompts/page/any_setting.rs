//! The Any setting view: the exact share of right answers over a number that is varied, and the
//! prompts that decide it.

use egui::{Label, Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, vec2};

use super::{sentence_ui, spellings};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;
use crate::lab::frame::Columns;
use crate::lab::prompts::CurveRun;
use crate::lab::prompts::plot::{
    ExactCurve, STRIP_ROW, deciding_title_ui, guides_ui, strip_ui, strip_words,
};
use crate::lab::prompts::state::blocking_reason;
use crate::plots::Axes;
use crate::state::{AppState, Command, RunStatus, capitalize};

const EMPTY: &str = "Press Compute for the exact share of right answers at any setting. No text is \
    drawn, so nothing is left to chance.";

/// The height of the curve, in a narrow and in a wide window, and the least height of the strips.
const CURVE: f32 = 266.0;
const WIDE_CURVE: f32 = 398.0;
const MOST_CURVE: f32 = 0.5;

const TITLE: f32 = 26.0;
const GAP: f32 = 10.0;

/// The height of the sentence below the strips.
const VERDICT: f32 = 96.0;

/// The distance of a column's content to the lines around it.
const MARGIN: f32 = 14.0;

/// Draws the middle and the right column.
pub(super) fn show(
    ui: &mut Ui,
    columns: Columns,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let Some(run) = &state.lab.prompts.runs.curve else {
        // What keeps the curve from being computed matters more than what it shows.
        let reason = blocking_reason(state);
        return sentence_ui(ui, columns.middle, reason.as_deref().unwrap_or(EMPTY));
    };
    if run.reading.n_tasks == 0 {
        return sentence_ui(ui, columns.middle, &nothing_words(run));
    }
    let Some(run) = &mut state.lab.prompts.runs.curve else {
        return;
    };
    let mut middle = child_ui(ui, columns.middle, "curve");
    if let Some(task) = middle_ui(&mut middle, run, columns.is_wide) {
        run.selected = Some(task);
    }
    spellings::show(&mut child_ui(ui, columns.right, "spellings"), run, commands);
}

/// Says why there is no curve, or not yet.
fn nothing_words(run: &CurveRun) -> String {
    match &run.status {
        RunStatus::Failed { error } => capitalize(error),
        RunStatus::Waiting | RunStatus::Running => "Waiting for the first tasks".to_owned(),
        RunStatus::Complete | RunStatus::Stopped => {
            let tasks = 0..run.results.tasks().len();
            let mut found = tasks.filter_map(|task| run.results.exact(task));
            let refusal = found.find_map(|exact| exact.refusal.as_ref());
            refusal.map_or_else(
                || "No task was computed at all values.".to_owned(),
                |refusal| capitalize(refusal),
            )
        }
    }
}

/// Draws the curve, the strips and the sentence. Returns the task that was clicked.
fn middle_ui(ui: &mut Ui, run: &CurveRun, is_wide: bool) -> Option<usize> {
    let area = ui.max_rect();
    let shown = ExactCurve {
        base: run.base,
        ..ExactCurve::new(&run.results, &run.curve, &run.reading)
    };
    let (area, foot) = if run.reading.verdict.is_some() {
        area.split_top_bottom_at_y(area.bottom() - VERDICT)
    } else {
        (area, Rect::NOTHING)
    };
    let height = if is_wide { WIDE_CURVE } else { CURVE };
    let height = height.min(area.height() * MOST_CURVE);
    let (curve, below) = area.split_top_bottom_at_y(area.top() + height);
    let axes = shown.show(ui, curve);
    let below = below.with_min_y(below.top() + GAP);
    let (title, strips) = below.split_top_bottom_at_y(below.top() + TITLE);
    deciding_title_ui(ui, title, shown);
    let clicked = strips_ui(&mut child_ui(ui, strips, "strips"), run, &axes, shown);
    if foot.is_positive() {
        verdict_ui(&mut child_ui(ui, foot, "verdict"), run);
    }
    clicked
}

/// Draws the visible strips. Returns the task that was clicked.
fn strips_ui(ui: &mut Ui, run: &CurveRun, axes: &Axes, shown: ExactCurve<'_>) -> Option<usize> {
    let deciding = &run.reading.deciding;
    if deciding.is_empty() {
        let words = "No prompt changes by more than two points.";
        ui.label(Face::Small.text(words).color(Theme::of(ui).text_2));
        return None;
    }
    let selected = run.shown_task();
    let width = ui.available_width();
    let mut clicked = None;
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().auto_shrink(false).show_rows(
        ui,
        STRIP_ROW,
        deciding.len(),
        |ui, rows| {
            let top = ui.cursor().top();
            for task in deciding.get(rows).unwrap_or_default() {
                let size = vec2(width, STRIP_ROW);
                let (row, response) = ui.allocate_exact_size(size, Sense::click());
                let is_selected = selected == Some(*task);
                response.widget_info(|| {
                    let name = strip_words(shown, *task);
                    WidgetInfo::selected(Role::Button, true, is_selected, name)
                });
                if is_selected {
                    let fill = Theme::of(ui).surface_3;
                    ui.painter().rect_filled(row, 4, fill);
                }
                strip_ui(ui, row, axes, shown, *task);
                focus_ring(ui, &response, 4);
                if response.clicked() {
                    clicked = Some(*task);
                }
            }
            guides_ui(ui, top..=ui.cursor().top(), axes, shown);
        },
    );
    clicked
}

/// Says how accuracy depends on the number.
fn verdict_ui(ui: &mut Ui, run: &CurveRun) {
    let theme = Theme::of(ui);
    let area = ui.max_rect();
    let edge = Stroke::new(1.0, theme.stroke_1);
    let line = area.expand2(vec2(MARGIN, 0.0));
    ui.painter().hline(line.x_range(), area.top(), edge);
    let Some(verdict) = &run.reading.verdict else {
        return;
    };
    ui.add_space(11.0);
    ui.spacing_mut().item_spacing.y = 4.0;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.set_max_width(ui.available_width() - 8.0);
        let words = Face::Why.text(&verdict.sentence).color(theme.text_1);
        ui.add(Label::new(words).wrap());
        if let Some(limits) = &verdict.limits {
            let words = Face::Small.text(limits).color(theme.text_2);
            ui.add(Label::new(words).wrap());
        }
    });
}

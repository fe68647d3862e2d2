//! The Any setting view: the share of right answers over one number that is varied, with what the
//! answers cost and the prompts that decide it, or a map over two.

use egui::{Label, Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, vec2};

use super::{sentence_ui, spellings};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;
use crate::lab::frame::Columns;
use crate::lab::prompts::SweepRun;
use crate::lab::prompts::plot::{
    MEASURES, STRIP_ROW, SweepCurve, deciding_title_ui, guides_ui, measures_ui, strip_ui,
    strip_words, sweep_map_ui,
};
use crate::lab::prompts::state::blocking_reason;
use crate::plots::{Axes, Target};
use crate::state::{AppState, Command, RunStatus, capitalize};

const EMPTY: &str = "Press the button for the share of right answers at any setting.";

/// The height of the curve, in a narrow and in a wide window, and the most of the height that it
/// takes.
const CURVE: f32 = 266.0;
const WIDE_CURVE: f32 = 398.0;
const MOST_CURVE: f32 = 0.5;

/// The height from which there is room for the plots of what the answers cost.
const WITH_MEASURES: f32 = 420.0;

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
    let Some(run) = &state.lab.prompts.runs.sweep else {
        // What keeps the sweep from being computed matters more than what it shows.
        let reason = blocking_reason(state);
        return sentence_ui(ui, columns.middle, reason.as_deref().unwrap_or(EMPTY));
    };
    if run.reading.is_empty() {
        return sentence_ui(ui, columns.middle, &nothing_words(run));
    }
    let runs = &mut state.lab.prompts.runs;
    let (Some(run), fork) = (&mut runs.sweep, runs.fork.as_ref()) else {
        return;
    };
    let mut middle = child_ui(ui, columns.middle, "curve");
    if run.sweep.columns.is_some() {
        if let Some(cell) = map_ui(&mut middle, run) {
            run.select_cell(cell);
        }
    } else if let Some(task) = middle_ui(&mut middle, run, columns.is_wide) {
        run.select_task(task);
    }
    let mut right = child_ui(ui, columns.right, "spellings");
    spellings::show(&mut right, run, fork, commands);
}

/// Says why there is nothing to show, or not yet.
fn nothing_words(run: &SweepRun) -> String {
    match &run.status {
        RunStatus::Failed { error } => capitalize(error),
        RunStatus::Waiting | RunStatus::Running => "Waiting for the first tasks".to_owned(),
        RunStatus::Complete | RunStatus::Stopped => {
            let refusal = run.results.exact_refusal();
            refusal.map_or_else(
                || "No task was computed at all values.".to_owned(),
                capitalize,
            )
        }
    }
}

/// Returns what the plots show.
pub(super) fn shown_curve(run: &SweepRun) -> SweepCurve<'_> {
    SweepCurve {
        base: run.base,
        ..SweepCurve::new(&run.results, &run.sweep, &run.reading)
    }
}

/// Splits an area into the room for the plots and the room for the sentence below them.
fn with_foot(run: &SweepRun, area: Rect) -> (Rect, Rect) {
    if run.reading.verdict.is_some() {
        area.split_top_bottom_at_y(area.bottom() - VERDICT)
    } else {
        (area, Rect::NOTHING)
    }
}

/// Draws the map and the sentence. Returns the cell that was clicked.
fn map_ui(ui: &mut Ui, run: &SweepRun) -> Option<usize> {
    let (area, foot) = with_foot(run, ui.max_rect());
    let n_panes = run.sweep.n_panes();
    let selected = run.shown_settings().checked_sub(n_panes);
    let map = area.with_max_y(area.bottom() - GAP);
    let response = sweep_map_ui(ui, map, shown_curve(run), selected, Target::Screen);
    verdict_ui(ui, foot, run);
    response.clicked
}

/// Draws the curve, what the answers cost, the strips and the sentence. Returns the task that was
/// clicked.
fn middle_ui(ui: &mut Ui, run: &SweepRun, is_wide: bool) -> Option<usize> {
    let (area, foot) = with_foot(run, ui.max_rect());
    let shown = shown_curve(run);
    let height = if is_wide { WIDE_CURVE } else { CURVE };
    let height = height.min(area.height() * MOST_CURVE);
    let (curve, mut below) = area.split_top_bottom_at_y(area.top() + height);
    let axes = shown.show(ui, curve);
    below.min.y += GAP;
    if run.is_drawn() && area.height() >= WITH_MEASURES {
        let (measures, rest) = below.split_top_bottom_at_y(below.top() + MEASURES);
        measures_ui(ui, measures, shown);
        below = rest.with_min_y(rest.top() + GAP);
    }
    let (title, strips) = below.split_top_bottom_at_y(below.top() + TITLE);
    deciding_title_ui(ui, title, shown);
    let clicked = strips_ui(&mut child_ui(ui, strips, "strips"), run, &axes, shown);
    verdict_ui(ui, foot, run);
    clicked
}

/// Draws the visible strips. Returns the task that was clicked.
fn strips_ui(ui: &mut Ui, run: &SweepRun, axes: &Axes, shown: SweepCurve<'_>) -> Option<usize> {
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

/// Says how accuracy depends on what is varied, and how varied the answers are.
fn verdict_ui(ui: &mut Ui, foot: Rect, run: &SweepRun) {
    let Some(verdict) = run.reading.verdict.as_ref().filter(|_| foot.is_positive()) else {
        return;
    };
    let mut ui = child_ui(ui, foot, "verdict");
    let theme = Theme::of(&ui);
    let edge = Stroke::new(1.0, theme.stroke_1);
    let line = foot.expand2(vec2(MARGIN, 0.0));
    ui.painter().hline(line.x_range(), foot.top(), edge);
    ui.add_space(11.0);
    ui.spacing_mut().item_spacing.y = 4.0;
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut ui, |ui| {
            ui.set_max_width(ui.available_width() - 8.0);
            let words = Face::Why.text(&verdict.sentence).color(theme.text_1);
            ui.add(Label::new(words).wrap());
            let variety = run.reading.variety(&run.sweep);
            for words in variety.iter().chain(&verdict.limits) {
                let words = Face::Small.text(words).color(theme.text_2);
                ui.add(Label::new(words).wrap());
            }
        });
}

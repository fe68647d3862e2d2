//! Match questions: the learner draws a line from each pane to the option that belongs to it.

use egui::{Align2, Color32, Pos2, Rect, Response, Role, Sense, Stroke, Ui, Vec2, WidgetInfo};
use egui::{pos2, vec2};

use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{BADGE, ControlColors, focus_ring, paint_badge, paint_fill};
use crate::generation::formatting::pane_letter;
use crate::lessons::Question;
use crate::state::LessonRun;

/// The height of a row, and the gap below it.
const ROW: f32 = 36.0;
const GAP: f32 = 6.0;

/// The width of the panes' column, and of the space for the lines.
const PANES: f32 = 40.0;
const LINES: f32 = 56.0;

/// A row of the right column.
struct OptionRow<'a> {
    index: usize,
    label: &'a str,
    /// The row of the pane matched with it.
    taken: Option<usize>,
}

fn panes_of(run: &LessonRun) -> Vec<usize> {
    match run.step().map(|step| &step.question) {
        Some(Question::Match { panes, .. }) => panes.clone(),
        _ => Vec::new(),
    }
}

/// Draws both columns and the lines so far. The learner clicks a pane and then an option, or drags
/// a line from one to the other.
pub(super) fn matching_ui(ui: &mut Ui, run: &mut LessonRun) {
    let theme = Theme::of(ui);
    let labels = run.texts().labels.clone();
    let panes = panes_of(run);
    let hint =
        "Click a pane and then what belongs to it, or type a digit for A, one for B, and so on";
    ui.label(Face::Small.text(hint).color(theme.text_3));
    let n_rows = panes.len();
    let height = n_rows as f32 * (ROW + GAP) - GAP;
    let (area, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let current = run.guess.current_row(n_rows);
    let mut dragged = None;
    for (row, pane) in panes.iter().enumerate() {
        let rect = Rect::from_min_size(top_left(area, row), vec2(PANES, ROW));
        let matched = run.guess.matched.get(row).copied().flatten();
        let label = matched.and_then(|option| labels.get(option));
        let response = pane_ui(ui, rect, *pane, current == Some(row), label);
        if response.clicked() || response.drag_started() {
            run.guess.row = Some(row);
        }
        if response.dragged() || response.drag_stopped() {
            dragged = Some((row, response));
        }
    }
    for (index, label) in labels.iter().enumerate() {
        let left = area.left() + PANES + LINES;
        let rect = Rect::from_min_max(
            pos2(left, top_left(area, index).y),
            pos2(area.right(), top_left(area, index).y + ROW),
        );
        let matched = &run.guess.matched;
        let option = OptionRow {
            index,
            label,
            taken: matched.iter().position(|option| *option == Some(index)),
        };
        let response = option_ui(ui, rect, &option, &panes);
        let pointer = ui.input(|input| input.pointer.latest_pos());
        let is_dropped = dragged
            .as_ref()
            .is_some_and(|(_, from)| from.drag_stopped());
        let is_target = is_dropped && pointer.is_some_and(|at| rect.contains(at));
        if response.clicked() || is_target {
            run.guess.match_option(index, n_rows);
        }
    }
    for (row, option) in run.guess.matched.iter().enumerate() {
        if let (Some(option), Some(pane)) = (option, panes.get(row)) {
            line_ui(ui, ends(area, row, *option), theme.pane(*pane));
        }
    }
    if let Some((row, response)) = dragged
        && response.dragged()
        && let Some(pointer) = response.interact_pointer_pos()
        && let Some(pane) = panes.get(row)
    {
        line_ui(ui, [ends(area, row, row)[0], pointer], theme.pane(*pane));
    }
}

fn top_left(area: Rect, row: usize) -> Pos2 {
    pos2(area.left(), area.top() + row as f32 * (ROW + GAP))
}

/// Returns the ends of the line between a pane and an option.
fn ends(area: Rect, row: usize, option: usize) -> [Pos2; 2] {
    let middle = |index: usize| top_left(area, index).y + ROW / 2.0;
    let right = area.left() + PANES + LINES;
    [
        pos2(area.left() + PANES, middle(row)),
        pos2(right, middle(option)),
    ]
}

fn line_ui(ui: &Ui, [from, to]: [Pos2; 2], color: Color32) {
    let bend = vec2((to.x - from.x) / 2.0, 0.0);
    let points = [from, from + bend, to - bend, to];
    let line = egui::epaint::CubicBezierShape::from_points_stroke(
        points,
        false,
        Color32::TRANSPARENT,
        Stroke::new(2.0, color),
    );
    ui.painter().add(line);
    for end in [from, to] {
        ui.painter().circle_filled(end, 3.0, color);
    }
}

fn pane_ui(
    ui: &Ui,
    rect: Rect,
    pane: usize,
    is_current: bool,
    matched: Option<&String>,
) -> Response {
    let theme = Theme::of(ui);
    let id = ui.scope_id().with(("match pane", pane));
    let response = ui.interact(rect, id, Sense::click_and_drag());
    let name = match matched {
        Some(label) => format!("Pane {}: {label}", pane_letter(pane)),
        None => format!("Pane {}: not matched yet", pane_letter(pane)),
    };
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_current, &name));
    let fill = if is_current {
        theme.surface_3
    } else {
        Color32::TRANSPARENT
    };
    let text = theme.text_1;
    paint_fill(ui, &response, ControlColors { fill, text }, 6);
    let badge = Rect::from_center_size(rect.center(), Vec2::splat(BADGE));
    paint_badge(ui.painter(), theme, badge, pane);
    focus_ring(ui, &response, 6);
    response
}

fn option_ui(ui: &Ui, rect: Rect, option: &OptionRow<'_>, panes: &[usize]) -> Response {
    let theme = Theme::of(ui);
    let id = ui.scope_id().with(("match option", option.index));
    let response = ui.interact(rect, id, Sense::click());
    let taken = option.taken.and_then(|row| panes.get(row));
    let number = option.index + 1;
    let name = match taken {
        Some(pane) => format!("{number}: {}, pane {}", option.label, pane_letter(*pane)),
        None => format!("{number}: {}", option.label),
    };
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, taken.is_some(), &name));
    let text = theme.text_1;
    let fill = theme.surface_2;
    paint_fill(ui, &response, ControlColors { fill, text }, 6);
    let at = pos2(rect.left() + 12.0, rect.center().y);
    let font = Face::Candidate.font();
    let mut job = egui::text::LayoutJob::simple_singleline(option.label.to_owned(), font, text);
    job.wrap = egui::text::TextWrapping::truncate_at_width(rect.width() - 32.0);
    let galley = ui.painter().layout_job(job);
    let at = Align2::LEFT_CENTER.anchor_size(at, galley.size());
    ui.painter().galley(at.min, galley, text);
    let at = pos2(rect.right() - 10.0, rect.center().y);
    let font = Face::Micro.font();
    let color = theme.text_3;
    ui.painter()
        .text(at, Align2::CENTER_CENTER, number, font, color);
    focus_ring(ui, &response, 6);
    response
}

/// Draws the correct option for each pane, and the learner's choice if it differs.
pub(super) fn right_match_ui(ui: &mut Ui, run: &LessonRun, right: &[usize]) {
    let theme = Theme::of(ui);
    let labels = &run.texts().labels;
    for (row, (pane, option)) in panes_of(run).iter().zip(right).enumerate() {
        let said = run.guess.matched.get(row).copied().flatten();
        let is_right = said == Some(*option);
        let label = |option: usize| labels.get(option).map_or("", String::as_str);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            let (square, _) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::hover());
            if is_right {
                let icon = Rect::from_center_size(square.center(), vec2(14.0, 14.0));
                Icon::Check.paint(ui.painter(), icon, theme.text_1);
            }
            let (square, _) = ui.allocate_exact_size(Vec2::splat(BADGE), Sense::hover());
            paint_badge(ui.painter(), theme, square, *pane);
            ui.label(Face::Candidate.text(label(*option)).color(theme.text_1));
        });
        if let Some(said) = said.filter(|_| !is_right) {
            ui.horizontal(|ui| {
                ui.add_space(50.0);
                let words = format!("you said {}", label(said));
                ui.label(Face::Small.text(words).color(theme.text_3));
            });
        }
    }
}

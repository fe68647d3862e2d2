//! Order questions: the learner clicks items one after the other, or types their digits.

use egui::{Align2, Color32, Rect, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{ControlColors, SMALL_BADGE, focus_ring, paint_badge, paint_fill};
use crate::lessons::{Direction, Question};
use crate::state::LessonRun;

const ROW: f32 = 32.0;

/// The diameter of the circle with the place.
const CIRCLE: f32 = 20.0;

/// An item to put in order, as it is drawn.
struct Item<'a> {
    label: &'a str,
    /// The pane that it is about.
    pane: Option<usize>,
    /// Its place, from 1.
    place: Option<usize>,
    /// What is shown at the right end of the row.
    aside: &'a str,
}

/// Draws which end comes first, and below it the items to put in order.
pub(super) fn order_ui(ui: &mut Ui, run: &mut LessonRun) {
    let labels = run.texts().labels.clone();
    let panes = panes_of(run);
    let hint = match direction(run) {
        Some(Direction::HighestFirst) => "Click them from the highest to the lowest",
        _ => "Click them from the lowest to the highest",
    };
    ui.label(Face::Small.text(hint).color(Theme::of(ui).text_3));
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (index, label) in labels.iter().enumerate() {
            let order = &run.guess.order;
            let key = (index + 1).to_string();
            let item = Item {
                label,
                pane: panes.get(index).copied().flatten(),
                place: order
                    .iter()
                    .position(|item| *item == index)
                    .map(|at| at + 1),
                aside: &key,
            };
            if item_ui(ui, &item, Sense::click()) {
                run.guess.toggle_item(index);
            }
        }
    });
}

/// Draws the correct order, with each item's value and the place that the learner gave it.
pub(super) fn right_order_ui(ui: &mut Ui, run: &LessonRun, order: &[usize], values: &[String]) {
    let theme = Theme::of(ui);
    let panes = panes_of(run);
    let labels = &run.texts().labels;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (at, index) in order.iter().enumerate() {
            let said = run.guess.order.iter().position(|item| item == index);
            let mut aside = values.get(*index).cloned().unwrap_or_default();
            if let Some(said) = said.filter(|said| *said != at) {
                aside = format!("{aside}  (you said {})", said + 1);
            }
            let item = Item {
                label: labels.get(*index).map_or("", String::as_str),
                pane: panes.get(*index).copied().flatten(),
                place: Some(at + 1),
                aside: &aside,
            };
            item_ui(ui, &item, Sense::hover());
        }
    });
    let words = match direction(run) {
        Some(Direction::HighestFirst) => "from the highest to the lowest",
        _ => "from the lowest to the highest",
    };
    ui.label(Face::Micro.text(words).color(theme.text_3));
}

fn direction(run: &LessonRun) -> Option<Direction> {
    match run.step()?.question {
        Question::Order { direction, .. } => Some(direction),
        _ => None,
    }
}

/// Returns the pane that each item is about. If two items share a pane, badges couldn't tell them
/// apart, and the list is empty.
fn panes_of(run: &LessonRun) -> Vec<Option<usize>> {
    let Some(Question::Order { items, .. }) = run.step().map(|step| &step.question) else {
        return Vec::new();
    };
    let panes: Vec<Option<usize>> = items.iter().map(|item| item.value.pane()).collect();
    let distinct: std::collections::BTreeSet<_> = panes.iter().collect();
    if distinct.len() == panes.len() {
        panes
    } else {
        Vec::new()
    }
}

/// Draws a row. Returns whether it was clicked.
fn item_ui(ui: &mut Ui, item: &Item<'_>, sense: Sense) -> bool {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let name = match item.place {
        Some(place) => format!("{}, place {place}", item.label),
        None => format!("{}, no place yet", item.label),
    };
    let is_placed = item.place.is_some();
    if sense.senses_click() {
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_placed, &name));
    } else {
        let words = format!("{name}: {}", item.aside);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &words));
    }
    let fill = if is_placed && sense.senses_click() {
        theme.surface_3
    } else {
        Color32::TRANSPARENT
    };
    let text = theme.text_1;
    if sense.senses_click() {
        paint_fill(ui, &response, ControlColors { fill, text }, 6);
    }
    let center = pos2(rect.left() + 16.0, rect.center().y);
    place_ui(ui, center, item.place);
    let mut left = rect.left() + 34.0;
    if let Some(pane) = item.pane {
        let center = pos2(left + SMALL_BADGE / 2.0, rect.center().y);
        let badge = Rect::from_center_size(center, Vec2::splat(SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, pane);
        left = badge.right() + 8.0;
    }
    let painter = ui.painter();
    let at = pos2(left, rect.center().y);
    let font = Face::Candidate.font();
    painter.text(at, Align2::LEFT_CENTER, item.label, font, text);
    let at = pos2(rect.right() - 7.0, rect.center().y);
    let face = if sense.senses_click() {
        Face::Micro
    } else {
        Face::Small
    };
    let color = theme.text_3;
    painter.text(at, Align2::RIGHT_CENTER, item.aside, face.font(), color);
    focus_ring(ui, &response, 6);
    response.clicked()
}

/// Draws the place in a filled circle, or a hollow circle if there is none yet.
fn place_ui(ui: &Ui, center: egui::Pos2, place: Option<usize>) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    if let Some(place) = place {
        painter.circle_filled(center, CIRCLE / 2.0, theme.text_1);
        let font = Face::SmallMedium.font();
        let color = theme.surface_1;
        painter.text(center, Align2::CENTER_CENTER, place, font, color);
    } else {
        let edge = egui::Stroke::new(1.5, theme.text_3);
        painter.circle_stroke(center, CIRCLE / 2.0 - 1.0, edge);
    }
}

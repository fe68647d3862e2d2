//! The setup: the logits, the pane whose chain is applied to them, and the tokens before.

use egui::{Align, Layout, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo};

use super::history::history_ui;
use super::scores::scores_ui;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, SMALL_BADGE, focus_ring, paint_badge};
use crate::generation::formatting::pane_letter;
use crate::lab::frame::setup::row_ui;
use crate::lab::frame::{Foot, Labels};
use crate::state::{AppState, Command};
use crate::ui::chain_editor::chain_editor_ui;
use crate::ui::pane_header::editor_id;

/// Draws the form.
pub(super) fn form_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let held = state.held_token();
    scores_ui(ui, &mut state.by_hand, held.as_ref());
    ui.separator();
    chain_ui(ui, state, commands);
    history_ui(ui, &mut state.by_hand);
}

/// Returns what stands below the form.
pub(super) fn foot(state: &AppState) -> Foot {
    Foot {
        labels: Some(Labels {
            run: "Draw 1,000",
            stop: "",
            stop_hint: "",
        }),
        blocked: state.hand_table().err(),
        is_quiet: true,
        ..Foot::default()
    }
}

/// Draws the choice of the pane whose chain is applied, and the chain. Its editor opens beside the
/// column.
fn chain_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let chosen = state.hand_pane();
    row_ui(ui, "Settings of", |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let places: Vec<usize> = state.panes.places().collect();
            for place in places {
                if pane_button_ui(ui, place, place == chosen).clicked() {
                    state.by_hand.pane = Some(place);
                }
            }
        });
    });
    let Some(pane) = state.panes.get(chosen) else {
        return;
    };
    let chain = pane.settings.chain.to_string();
    let name = format!("Change how {} chooses", pane_letter(chosen));
    let max_width = ui.available_width();
    let chip = Chip::new(&chain).name(&name).max_width(max_width);
    let tip = format!("{name}. Changes apply here immediately.\n{chain}");
    let id = editor_id(pane.id);
    // The visible part of the column.
    let column = ui.clip_rect();
    let response = ui.add(chip).on_hover_text(tip);
    chain_editor_ui(&response, id, column, (chosen, state), commands);
}

/// Draws a pane's badge as a radio button.
fn pane_button_ui(ui: &mut Ui, place: usize, chosen: bool) -> Response {
    let theme = Theme::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(24.0), Sense::click());
    let name = format!("Chain of pane {}", pane_letter(place));
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, chosen, &name));
    if chosen || response.hovered() {
        ui.painter().rect_filled(rect, 6, theme.surface_3);
    }
    let badge = Rect::from_center_size(rect.center(), Vec2::splat(SMALL_BADGE));
    paint_badge(ui.painter(), theme, badge, place);
    if chosen {
        let edge = egui::Stroke::new(1.0, theme.stroke_3);
        let inside = egui::StrokeKind::Inside;
        ui.painter().rect_stroke(rect, 6, edge, inside);
    }
    focus_ring(ui, &response, 6);
    response.on_hover_text(name)
}

//! The By hand tab: editable scores, an X-ray of a pane's chain applied to them, and repeated
//! draws.

mod draws;
mod history;
mod scores;
mod tab;

use egui::{Align, Layout, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

pub(in crate::lab) use self::tab::TAB;

use self::draws::draws_ui;
use self::history::history_ui;
use self::scores::scores_ui;
use crate::analysis::xray::XrayTable;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, SMALL_BADGE, focus_ring, paint_badge};
use crate::generation::Piece;
use crate::generation::formatting::pane_letter;
use crate::state::{AppState, Command};
use crate::ui::chain_editor::chain_editor_ui;
use crate::ui::pane_header::editor_id;
use crate::ui::xray::{Xray, sentence_ui, table_ui, toggled};

/// The widths of the scores and of the draws, in a wide and in a narrow window. The X-ray takes the
/// rest.
const WIDE: [f32; 2] = [352.0, 220.0];
const NARROW: [f32; 2] = [260.0, 184.0];

/// The minimum width, in points, for the wide layout.
const MIN_WIDE: f32 = 1000.0;

/// The minimum width of the X-ray at which the history fits beside the chain.
const MIN_ONE_ROW: f32 = 600.0;

/// The height of the row above each column.
const TOP: f32 = 28.0;

const GAP: f32 = 28.0;

/// Draws the scores, the X-ray and the draws side by side.
fn by_hand_ui(ui: &mut Ui, body: Rect, state: &mut AppState, commands: &mut Vec<Command>) {
    let inside = Rect::from_min_max(body.min + vec2(14.0, 6.0), body.max - vec2(14.0, 8.0));
    let span = |left: f32, right: f32| {
        Rect::from_min_max(pos2(left, inside.top()), pos2(right, inside.bottom()))
    };
    let is_wide = inside.width() >= MIN_WIDE;
    let [scores, draws] = if is_wide { WIDE } else { NARROW };
    let scores = span(inside.left(), inside.left() + scores);
    let draws = span(inside.right() - draws, inside.right());
    let table = span(scores.right() + GAP, draws.left() - GAP);

    let held = state.held_token();
    let mut scores_area = child_ui(ui, scores, "scores");
    scores_ui(&mut scores_area, &mut state.by_hand, held.as_ref());
    let (top, mut below) = table.split_top_bottom_at_y(table.top() + TOP);
    let one_row = table.width() >= MIN_ONE_ROW;
    let mut chain = child_ui(ui, top, "chain");
    // A long row must not reach the buttons beside it.
    chain.shrink_clip_rect(top);
    chain_ui(&mut chain, table, one_row, state, commands);
    if !one_row {
        let (second, rest) = below.split_top_bottom_at_y(below.top() + TOP);
        let mut history = child_ui(ui, second, "history");
        history.shrink_clip_rect(second);
        history.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            history_ui(ui, &mut state.by_hand);
        });
        below = rest;
    }
    let table = state.hand_table();
    let below = below.with_min_y(below.top() + 2.0);
    xray_ui(ui, below, &table, state, commands);
    let enabled = table.is_ok();
    draws_ui(&mut child_ui(ui, draws, "draws"), enabled, state, commands);

    let stroke = egui::Stroke::new(1.0, Theme::of(ui).stroke_1);
    for x in [scores.right() + GAP / 2.0, draws.left() - GAP / 2.0] {
        let height = body.shrink2(vec2(0.0, 1.0)).y_range();
        ui.painter().vline(x, height, stroke);
    }
}

/// Draws the choice of the pane whose chain is applied, and the history if it fits. The chain
/// editor opens beside the X-ray.
fn chain_ui(
    ui: &mut Ui,
    xray: Rect,
    with_history: bool,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    let chosen = state.hand_pane();
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.label(Face::Small.text("Chain of").color(theme.text_3));
        ui.add_space(2.0);
        let places: Vec<usize> = state.panes.places().collect();
        for place in places {
            if pane_button_ui(ui, place, place == chosen).clicked() {
                state.by_hand.pane = Some(place);
            }
        }
        ui.add_space(6.0);
        let Some(pane) = state.panes.get(chosen) else {
            return;
        };
        let chain = pane.settings.chain.to_string();
        let name = format!("Change how {} chooses", pane_letter(chosen));
        let share = if with_history { 0.4 } else { 1.0 };
        let max_width = (ui.available_width() * share).max(60.0);
        let chip = Chip::new(&chain).name(&name).max_width(max_width);
        let tip = format!("{name}. Changes apply here immediately.\n{chain}");
        let id = editor_id(pane.id);
        let response = ui.add(chip).on_hover_text(tip);
        chain_editor_ui(&response, id, xray, (chosen, state), commands);
        if with_history {
            ui.add_space(10.0);
            history_ui(ui, &mut state.by_hand);
        }
    });
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

fn xray_ui(
    ui: &mut Ui,
    rect: Rect,
    table: &Result<XrayTable, String>,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let table = match table {
        Ok(table) => table,
        Err(error) => return sentence_ui(ui, rect, error),
    };
    let place = state.hand_pane();
    let by_hand = &state.by_hand;
    let response = table_ui(
        ui,
        rect,
        &Xray {
            table,
            pane: place,
            piece: &|token| Piece::text(by_hand.label(token)),
            generated: None,
            coin_draggable: true,
            can_draw: false,
            is_picture: false,
            step: (0, 0),
        },
    );
    if response.coin.is_some() {
        state.by_hand.coin = response.coin;
    }
    if let (Some(index), Some(pane)) = (response.toggled, state.panes.get(place)) {
        let chain = toggled(&pane.settings.chain, index);
        commands.push(Command::SetChain(pane.id, chain));
    }
}

//! The coin bar: the kept tokens end to end from 0 to 1, and the coin that falls on one of them.

use egui::{
    Align2, Color32, Pos2, Rect, Response, Role, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo,
    pos2, vec2,
};

use super::Xray;
use super::labels::{draw_sentence, quoted, unrecorded_label};
use crate::analysis::xray::{BarPart, DrawnBy};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{focus_ring, key_steps};
use crate::generation::formatting::{percent, token_word};
use crate::plots::{TokenStyle, token_galley};

/// What a press on the bar does, if it can be pressed.
const DRAW: &str = "Draw 10,000 times";

/// The distance the coin moves per press of an arrow key.
const KEY_STEP: f64 = 0.005;

/// The rightmost position of the coin, which is always less than 1.
const MAX_COIN: f64 = 1.0 - 1e-9;

/// How the user interacted with the bar.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CoinResponse {
    /// Where the user moved the coin to.
    pub moved: Option<f64>,
    /// Whether the user asked for many draws.
    pub drawn: bool,
}

/// Draws the bar, with its title in the column of the names.
pub(super) fn coin_bar_ui(ui: &mut Ui, xray: &Xray<'_>, names: f32) -> CoinResponse {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let bar = Rect::from_min_size(
        pos2(rect.left() + names, rect.top() + 24.0),
        vec2(rect.width() - names, xray.heights.coin),
    );
    let title = pos2(rect.left(), bar.center().y);
    ui.painter().text(
        title,
        Align2::LEFT_CENTER,
        "Draw",
        Face::SmallMedium.font(),
        theme.text_1,
    );
    let response = bar_response(ui, xray, bar);
    paint_parts(ui, xray, bar);
    let sentence = draw_sentence(xray);
    let color = if xray.table.what_if {
        theme.changed
    } else {
        theme.text_1
    };
    let galley = ui
        .painter()
        .layout_no_wrap(sentence, Face::SmallMedium.font(), color);
    let width = galley.size().x;
    let middle = rect.top() + 13.0;
    let x = if let DrawnBy::OneCoin(coin) = xray.table.bar.drawn.by {
        let x = bar.left() + bar.width() * coin as f32;
        paint_coin(ui, pos2(x, bar.top() - 2.0), theme.text_1);
        let (before, after) = (x - 10.0 - width, x + 10.0);
        if before >= rect.left() { before } else { after }
    } else {
        bar.left()
    };
    let x = x.min(rect.right() - width).max(rect.left());
    let at = pos2(x, middle - galley.size().y / 2.0);
    if can_draw(xray) {
        // The bar itself is a button.
        let words = Rect::from_min_size(at, galley.size());
        let label = ui.interact(words, ui.scope_id().with("coin sentence"), Sense::hover());
        label.widget_info(|| WidgetInfo::labeled(Role::Label, true, bar_sentence(xray)));
    }
    ui.painter().galley(at, galley, color);
    focus_ring(ui, &response, 2);
    CoinResponse {
        moved: moved_coin(ui, xray, &response, bar),
        drawn: can_draw(xray) && response.clicked(),
    }
}

/// Returns whether a press on the bar draws many times.
fn can_draw(xray: &Xray<'_>) -> bool {
    xray.can_draw && matches!(xray.table.bar.drawn.by, DrawnBy::OneCoin(_))
}

/// Paints a triangle that points down at the bar.
fn paint_coin(ui: &Ui, tip: Pos2, color: Color32) {
    let corners = vec![tip, tip + vec2(-5.0, -9.0), tip + vec2(5.0, -9.0)];
    ui.painter()
        .add(Shape::convex_polygon(corners, color, Stroke::NONE));
}

/// Returns the coin, if the user can move it.
fn draggable_coin(xray: &Xray<'_>) -> Option<f64> {
    match xray.table.bar.drawn.by {
        DrawnBy::OneCoin(coin) if xray.coin_draggable => Some(coin),
        _ => None,
    }
}

fn bar_response(ui: &Ui, xray: &Xray<'_>, bar: Rect) -> Response {
    let id = ui.scope_id().with("coin");
    if let Some(coin) = draggable_coin(xray) {
        let handle = Rect::from_min_max(bar.min - vec2(0.0, 14.0), bar.max);
        let response = ui.interact(handle, id, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::slider(true, coin, "Coin"));
        return response
            .on_hover_cursor(egui::CursorIcon::ResizeHorizontal)
            .with_new_rect(bar);
    }
    let response = if can_draw(xray) {
        let response = ui.interact(bar, id, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, DRAW));
        response.on_hover_cursor(egui::CursorIcon::PointingHand)
    } else {
        let response = ui.interact(bar, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, bar_sentence(xray)));
        response
    };
    match response.hover_pos() {
        Some(pointer) => {
            let at = f64::from((pointer.x - bar.left()) / bar.width());
            let mut parts = xray.table.bar.parts.iter();
            match parts.find(|part| at < part.to) {
                Some(part) => {
                    let mut words = part_sentence(xray, part);
                    if can_draw(xray) {
                        words = format!("{words}\n\nPress to draw 10,000 times");
                    }
                    response.on_hover_text_at_pointer(words)
                }
                None => response,
            }
        }
        None => response,
    }
}

/// Returns where the pointer or the arrow keys moved the coin.
fn moved_coin(ui: &Ui, xray: &Xray<'_>, response: &Response, bar: Rect) -> Option<f64> {
    let coin = draggable_coin(xray)?;
    if let Some(pointer) = response.interact_pointer_pos() {
        let share = f64::from((pointer.x - bar.left()) / bar.width());
        return Some(share.clamp(0.0, MAX_COIN));
    }
    let steps = key_steps(ui, response);
    (steps.abs() > 0.0).then(|| (coin + steps * KEY_STEP).clamp(0.0, MAX_COIN))
}

fn part_sentence(xray: &Xray<'_>, part: &BarPart) -> String {
    let share = percent(part.to - part.from);
    let name = match part.token {
        Some(token) => format!("‘{}’", token_word(&(xray.piece)(token))),
        None => unrecorded_label(xray),
    };
    format!("{name} {share}, from {:.3} to {:.3}", part.from, part.to)
}

fn paint_parts(ui: &Ui, xray: &Xray<'_>, bar: Rect) {
    let theme = Theme::of(ui);
    let coin_bar = &xray.table.bar;
    if coin_bar.parts.is_empty() {
        let edge = Stroke::new(1.0, theme.bar_cut);
        ui.painter().rect_stroke(bar, 2, edge, StrokeKind::Inside);
        let note = "The sizes of the parts depend on tokens that were not recorded";
        let at = bar.left_center() + vec2(8.0, 0.0);
        ui.painter().text(
            at,
            Align2::LEFT_CENTER,
            note,
            Face::Micro.font(),
            theme.text_3,
        );
        return;
    }
    let x = |at: f64| bar.left() + bar.width() * at as f32;
    for part in &coin_bar.parts {
        let width = x(part.to) - x(part.from);
        // Wide parts leave a gap of one point before the next part.
        let gap = if width > 3.0 { 1.0 } else { 0.0 };
        let rect = Rect::from_min_max(
            pos2(x(part.from), bar.top()),
            pos2(x(part.to) - gap, bar.bottom()),
        );
        paint_part(ui, xray, part, rect);
    }
}

fn paint_part(ui: &Ui, xray: &Xray<'_>, part: &BarPart, rect: Rect) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let color = if xray.table.bar.is_drawn(part) {
        // The drawn token is visible however unlikely it is.
        let visible = rect.with_max_x(rect.right().max(rect.left() + 2.0));
        painter.rect_filled(visible, 2, theme.pane(xray.pane));
        theme.pane_letter
    } else if part.token.is_some() {
        painter.rect_filled(rect, 2, theme.surface_4);
        theme.text_1
    } else {
        let edge = Stroke::new(1.0, theme.bar_cut);
        painter.rect_stroke(rect, 2, edge, StrokeKind::Inside);
        theme.text_3
    };
    let galley = match part.token {
        Some(token) => {
            let piece = crate::generation::Piece::text(token_word(&(xray.piece)(token)));
            token_galley(ui, &piece, TokenStyle::plain(color), f32::INFINITY)
        }
        None => painter.layout_no_wrap(unrecorded_label(xray), Face::Micro.font(), color),
    };
    if galley.size().x + 8.0 <= rect.width() {
        let at = Align2::CENTER_CENTER.anchor_size(rect.center(), galley.size());
        painter.galley(at.min, galley, color);
    }
}

/// Describes the coin bar for a screen reader.
fn bar_sentence(xray: &Xray<'_>) -> String {
    let parts = xray.table.bar.parts.iter().filter_map(|part| {
        let share = percent(part.to - part.from);
        Some(format!("{} {share}", quoted(xray, part.token?)))
    });
    let mut phrases = vec![draw_sentence(xray)];
    phrases.extend(parts);
    phrases.join(", ")
}

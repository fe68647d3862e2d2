//! The kept tokens laid end to end from 0 to 1, and the coin that falls on one of them.

use egui::{
    Align2, Color32, Pos2, Rect, Response, Role, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo,
    pos2, vec2,
};

use super::Xray;
use super::words::{drawn, others, spoken_bar};
use crate::analysis::xray::{BarPart, DrawnBy};
use crate::ui::fonts::Face;
use crate::ui::plots::word_galley;
use crate::ui::theme::Theme;
use crate::ui::widgets::{focus_ring, key_steps};
use crate::ui::words::{percent, token_word};

const BAR: f32 = 18.0;

/// How far an arrow key moves the coin.
const KEY_STEP: f64 = 0.005;

/// The last place on the bar: a coin is always less than 1.
const LAST: f64 = 1.0 - 1e-9;

/// Draws the bar, its words in the column of the names; gives where the coin was put.
pub(super) fn coin_bar_ui(ui: &mut Ui, xray: &Xray<'_>, names: f32) -> Option<f64> {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let bar = Rect::from_min_size(
        pos2(rect.left() + names, rect.top() + 24.0),
        vec2(rect.width() - names, BAR),
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
    let sentence = drawn(xray);
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
    ui.painter().galley(at, galley, color);
    focus_ring(ui, &response, 2);
    moved(ui, xray, &response, bar)
}

/// A triangle that points down at the bar.
fn paint_coin(ui: &Ui, tip: Pos2, color: Color32) {
    let corners = vec![tip, tip + vec2(-5.0, -9.0), tip + vec2(5.0, -9.0)];
    ui.painter()
        .add(Shape::convex_polygon(corners, color, Stroke::NONE));
}

fn coin_moves(xray: &Xray<'_>) -> Option<f64> {
    match xray.table.bar.drawn.by {
        DrawnBy::OneCoin(coin) if xray.coin_moves => Some(coin),
        _ => None,
    }
}

fn bar_response(ui: &Ui, xray: &Xray<'_>, bar: Rect) -> Response {
    let id = ui.scope_id().with("coin");
    if let Some(coin) = coin_moves(xray) {
        let around = Rect::from_min_max(bar.min - vec2(0.0, 14.0), bar.max);
        let response = ui.interact(around, id, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::slider(true, coin, "Coin"));
        return response
            .on_hover_cursor(egui::CursorIcon::ResizeHorizontal)
            .with_new_rect(bar);
    }
    let response = ui.interact(bar, id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, spoken_bar(xray)));
    match response.hover_pos() {
        Some(pointer) => {
            let at = f64::from((pointer.x - bar.left()) / bar.width());
            let parts = xray.table.bar.parts.iter();
            let under = parts.clone().find(|part| at < part.to);
            match under {
                Some(part) => response.on_hover_text_at_pointer(part_words(xray, part)),
                None => response,
            }
        }
        None => response,
    }
}

/// Where the coin was put by the pointer or the keys.
fn moved(ui: &Ui, xray: &Xray<'_>, response: &Response, bar: Rect) -> Option<f64> {
    let coin = coin_moves(xray)?;
    if let Some(pointer) = response.interact_pointer_pos() {
        let share = f64::from((pointer.x - bar.left()) / bar.width());
        return Some(share.clamp(0.0, LAST));
    }
    let steps = key_steps(ui, response);
    (steps.abs() > 0.0).then(|| (coin + steps * KEY_STEP).clamp(0.0, LAST))
}

fn part_words(xray: &Xray<'_>, part: &BarPart) -> String {
    let share = percent(part.to - part.from);
    let name = match part.token {
        Some(token) => format!("‘{}’", token_word(&(xray.piece)(token))),
        None => others(xray),
    };
    format!("{name} {share}, from {:.3} to {:.3}", part.from, part.to)
}

fn paint_parts(ui: &Ui, xray: &Xray<'_>, bar: Rect) {
    let theme = Theme::of(ui);
    let coin_bar = &xray.table.bar;
    if coin_bar.parts.is_empty() {
        let edge = Stroke::new(1.0, theme.bar_cut);
        ui.painter().rect_stroke(bar, 2, edge, StrokeKind::Inside);
        let words = "How long each part is depends on tokens that were not recorded";
        let at = bar.left_center() + vec2(8.0, 0.0);
        ui.painter().text(
            at,
            Align2::LEFT_CENTER,
            words,
            Face::Micro.font(),
            theme.text_3,
        );
        return;
    }
    let x = |at: f64| bar.left() + bar.width() * at as f32;
    for part in &coin_bar.parts {
        let width = x(part.to) - x(part.from);
        // A hair between two parts, where there is room for one.
        let gap = if width > 3.0 { 1.0 } else { 0.0 };
        let rect = Rect::from_min_max(
            pos2(x(part.from), bar.top()),
            pos2(x(part.to) - gap, bar.bottom()),
        );
        let chosen = coin_bar.is_drawn(part);
        part_ui(ui, xray, part, (rect, chosen));
    }
}

fn part_ui(ui: &Ui, xray: &Xray<'_>, part: &BarPart, (rect, chosen): (Rect, bool)) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let color = if chosen {
        // It is seen however narrow it is.
        let least = rect.with_max_x(rect.right().max(rect.left() + 2.0));
        painter.rect_filled(least, 2, theme.pane(xray.pane));
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
            word_galley(ui, &piece, (color, false), f32::INFINITY)
        }
        None => painter.layout_no_wrap(others(xray), Face::Micro.font(), color),
    };
    if galley.size().x + 8.0 <= rect.width() {
        let at = Align2::CENTER_CENTER.anchor_size(rect.center(), galley.size());
        painter.galley(at.min, galley, color);
    }
}

//! A pane's badge: its letter on its color.

use egui::{Align2, Painter, Rect, Response, Role, Sense, Ui, Vec2, WidgetInfo};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::pane_letter;

/// The side length of a badge in a pane's header, in points.
pub const BADGE: f32 = 18.0;

/// The side length of a badge within a line of text, in points.
pub const SMALL_BADGE: f32 = 14.0;

/// Shows the badge of the pane at this index. `side` is [`BADGE`] or [`SMALL_BADGE`].
pub fn badge(ui: &mut Ui, index: usize, side: f32) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::hover());
    response.widget_info(|| {
        let name = format!("Pane {}", pane_letter(index));
        WidgetInfo::labeled(Role::Label, true, name)
    });
    paint_badge(ui.painter(), Theme::of(ui), rect, index);
    response
}

/// Paints the badge of the pane at this index without allocating space.
pub fn paint_badge(painter: &Painter, theme: &Theme, rect: Rect, index: usize) {
    let small = rect.height() < BADGE;
    painter.rect_filled(rect, if small { 4 } else { 5 }, theme.pane(index));
    let mut font = Face::Strong.font();
    font.size = if small { 9.0 } else { 11.0 };
    painter.text(
        rect.center(),
        Align2::CENTER_CENTER,
        pane_letter(index),
        font,
        theme.pane_letter,
    );
}

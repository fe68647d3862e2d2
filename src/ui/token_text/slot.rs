//! The slot for the next token, whose choice is the user's.

use egui::{Align2, Rect, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2};

use super::TokenView;
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// The size of the slot for the next token.
const SLOT: Vec2 = vec2(32.0, 22.0);

impl TokenView {
    /// Returns where the slot for the next token is, relative to the text's top left corner: after
    /// the last token, or below it if the line is full.
    pub(super) fn slot(&self, line_width: f32) -> Option<Rect> {
        let chunk = self.layout.chunks().last()?;
        let row = chunk.rows.last()?;
        let y = chunk.y.min + row.y.center();
        let left = row.after(SLOT.x);
        let corner = if left >= 0.0 && left + SLOT.x <= line_width {
            pos2(left, y - SLOT.y / 2.0)
        } else {
            pos2(0.0, y + row.y.span() - SLOT.y / 2.0)
        };
        Some(Rect::from_min_size(corner, SLOT))
    }
}

/// Draws the slot for the next token.
pub(super) fn slot_ui(ui: &Ui, rect: Option<Rect>) {
    let Some(rect) = rect else {
        return;
    };
    let theme = Theme::of(ui);
    let response = ui.interact(rect, ui.scope_id().with("slot"), Sense::hover());
    let name = "The next token: not drawn yet";
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, name));
    let edge = Stroke::new(1.5, theme.accent);
    let painter = ui.painter();
    painter.rect_stroke(rect, 3, edge, StrokeKind::Inside);
    let font = Face::Read.font();
    painter.text(
        rect.center(),
        Align2::CENTER_CENTER,
        "?",
        font,
        theme.text_3,
    );
    response.on_hover_text("Space draws the next token; 1–9 pick one by hand");
}

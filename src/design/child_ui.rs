//! Areas of the window with fixed rectangles, so that widths are whole points.

use egui::{AsIdSalt, Rect, Ui, UiBuilder};

/// Returns a child `Ui` that draws inside `rect`. `id_salt` must be unique within the parent.
pub fn child_ui(ui: &mut Ui, rect: Rect, id_salt: impl AsIdSalt) -> Ui {
    ui.new_child(UiBuilder::new().id_salt(id_salt).max_rect(rect))
}

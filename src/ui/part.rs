//! A place of its own in the window, cut by hand so that widths are whole points.

use egui::{AsIdSalt, Rect, Ui, UiBuilder};

/// A part of the window with a place of its own.
pub(super) fn part(ui: &mut Ui, rect: Rect, name: impl AsIdSalt) -> Ui {
    ui.new_child(UiBuilder::new().id_salt(name).max_rect(rect))
}

//! The window's icon.

use eframe::egui::IconData;

use crate::ui::app_icon;

/// Sharp in a task switcher on a display with two pixels per point.
const SIZE: u32 = 128;

/// Returns the window's icon. A window without one is fine, so an icon that could not be drawn is
/// left out.
pub(super) fn icon() -> IconData {
    app_icon::rgba(SIZE).map_or_else(
        |_| IconData::default(),
        |rgba| IconData {
            rgba,
            width: SIZE,
            height: SIZE,
        },
    )
}

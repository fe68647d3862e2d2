//! An item of a menu, with an optional shortcut.

use egui::{Color32, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::fill::{ControlColors, focus_ring, paint_fill};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;

/// Shows an item of a menu, 32 points high and as wide as the menu, with its shortcut on the right.
pub fn menu_item(ui: &mut Ui, label: &str, shortcut: &str, selected: bool) -> Response {
    let theme = Theme::of(ui);
    let layout = |text: &str, face: Face| {
        ui.painter()
            .layout_no_wrap(text.to_owned(), face.font(), Color32::PLACEHOLDER)
    };
    let (text, keys) = (layout(label, Face::Body), layout(shortcut, Face::Micro));
    let min_width = text.size().x + keys.size().x + 44.0;
    let width = ui.available_width().max(min_width);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 32.0), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::MenuItem, ui.is_enabled(), selected, label));
    if ui.is_rect_visible(rect) {
        let fill = if selected {
            theme.surface_3
        } else {
            Color32::TRANSPARENT
        };
        let colors = ControlColors {
            fill,
            text: theme.text_1,
        };
        let color = paint_fill(ui, &response, colors, 6);
        let middle = |height: f32| rect.center().y - height / 2.0;
        let at = pos2(rect.left() + 10.0, middle(text.size().y));
        ui.painter().galley(at, text, color);
        let at = pos2(rect.right() - 10.0 - keys.size().x, middle(keys.size().y));
        ui.painter().galley(at, keys, theme.text_3);
        focus_ring(ui, &response, 6);
    }
    response
}

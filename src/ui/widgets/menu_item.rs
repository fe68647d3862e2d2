//! A row of a menu.

use egui::{Color32, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::fill::{Rest, focus_ring, paint_fill};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;

/// A row of a menu, 32 high and as wide as the menu, with its shortcut at the right.
pub fn menu_item(ui: &mut Ui, label: &str, shortcut: &str, selected: bool) -> Response {
    let theme = Theme::of(ui);
    let layout = |text: &str, face: Face| {
        ui.painter()
            .layout_no_wrap(text.to_owned(), face.font(), Color32::PLACEHOLDER)
    };
    let (words, keys) = (layout(label, Face::Body), layout(shortcut, Face::Micro));
    let least = words.size().x + keys.size().x + 44.0;
    let width = ui.available_width().max(least);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 32.0), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::MenuItem, ui.is_enabled(), selected, label));
    if ui.is_rect_visible(rect) {
        let fill = if selected {
            theme.surface_3
        } else {
            Color32::TRANSPARENT
        };
        let plain = Rest {
            fill,
            text: theme.text_1,
        };
        let color = paint_fill(ui, &response, plain, 6);
        let middle = |height: f32| rect.center().y - height / 2.0;
        let at = pos2(rect.left() + 10.0, middle(words.size().y));
        ui.painter().galley(at, words, color);
        let at = pos2(rect.right() - 10.0 - keys.size().x, middle(keys.size().y));
        ui.painter().galley(at, keys, theme.text_3);
        focus_ring(ui, &response, 6);
    }
    response
}

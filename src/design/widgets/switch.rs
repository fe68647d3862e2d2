//! A segmented switch: a few words side by side, one of them selected.

use egui::{Color32, Rect, Response, Role, Sense, Ui, WidgetInfo, vec2};

use super::fill::focus_ring;
use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// The painted height, in points. The clickable height is 24.
const HEIGHT: f32 = 20.0;

const PADDING: f32 = 8.0;

/// Shows one segment of a switch. Place the segments side by side without spacing.
pub fn switch_part(ui: &mut Ui, word: &str, selected: bool) -> Response {
    let theme = Theme::of(ui);
    let text =
        ui.painter()
            .layout_no_wrap(word.to_owned(), Face::Micro.font(), Color32::PLACEHOLDER);
    let width = (text.size().x + 2.0 * PADDING).ceil();
    let (rect, response) = ui.allocate_exact_size(vec2(width, 24.0), Sense::click());
    response
        .widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), selected, word));
    let painted = Rect::from_center_size(rect.center(), vec2(width, HEIGHT));
    let hovered = ui.is_enabled() && response.hovered();
    let (fill, color) = match (selected, hovered) {
        (true, _) => (theme.surface_3, theme.text_1),
        (false, true) => (theme.surface_2, theme.text_1),
        (false, false) => (Color32::TRANSPARENT, theme.text_2),
    };
    ui.painter().rect_filled(painted, 6, fill);
    let at = egui::Align2::CENTER_CENTER.align_size_within_rect(text.size(), painted);
    ui.painter().galley(at.min, text, color);
    focus_ring(ui, &response.clone().with_new_rect(painted), 6);
    response
}

//! One of a few words, side by side, of which one is chosen.

use egui::{Color32, Rect, Response, Role, Sense, Ui, WidgetInfo, vec2};

use super::fill::focus_ring;
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;

/// The height that is painted; 24 can be pressed.
const HEIGHT: f32 = 20.0;

const PADDING: f32 = 8.0;

/// One part of a switch. Show the parts side by side, with nothing between them.
pub fn switch_part(ui: &mut Ui, word: &str, chosen: bool) -> Response {
    let theme = Theme::of(ui);
    let words =
        ui.painter()
            .layout_no_wrap(word.to_owned(), Face::Micro.font(), Color32::PLACEHOLDER);
    let width = (words.size().x + 2.0 * PADDING).ceil();
    let (rect, response) = ui.allocate_exact_size(vec2(width, 24.0), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), chosen, word));
    let seen = Rect::from_center_size(rect.center(), vec2(width, HEIGHT));
    let touched = ui.is_enabled() && response.hovered();
    let (fill, color) = match (chosen, touched) {
        (true, _) => (theme.surface_3, theme.text_1),
        (false, true) => (theme.surface_2, theme.text_1),
        (false, false) => (Color32::TRANSPARENT, theme.text_2),
    };
    ui.painter().rect_filled(seen, 6, fill);
    let at = egui::Align2::CENTER_CENTER.align_size_within_rect(words.size(), seen);
    ui.painter().galley(at.min, words, color);
    focus_ring(ui, &response.clone().with_new_rect(seen), 6);
    response
}

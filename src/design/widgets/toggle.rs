//! A switch that is on or off.

use egui::{Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::fill::focus_ring;
use crate::design::theme::Theme;

/// The painted size, in points. The clickable height is 24.
const WIDTH: f32 = 30.0;
const HEIGHT: f32 = 16.0;

/// Shows a switch with an accessible name.
pub fn toggle(ui: &mut Ui, is_on: bool, name: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(WIDTH, 24.0), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Switch, ui.is_enabled(), is_on, name));
    let theme = Theme::of(ui);
    let painted = egui::Rect::from_center_size(rect.center(), vec2(WIDTH, HEIGHT));
    let (fill, knob) = if is_on {
        (theme.primary, theme.primary_text)
    } else if response.hovered() {
        (theme.surface_4, theme.text_1)
    } else {
        (theme.surface_4, theme.text_2)
    };
    let radius = HEIGHT / 2.0;
    ui.painter().rect_filled(painted, radius, fill);
    let x = if is_on {
        painted.right() - radius
    } else {
        painted.left() + radius
    };
    let center = pos2(x, painted.center().y);
    ui.painter().circle_filled(center, radius - 2.5, knob);
    focus_ring(ui, &response.clone().with_new_rect(painted), 8);
    response
}

//! A box to tick.

use egui::{Checkbox, Response, RichText, Stroke, Ui};

use super::fill::focus_ring;
use crate::ui::theme::Theme;

/// A box with words beside it. Its edge is drawn, because a popup is hardly darker than a field.
pub fn checkbox(ui: &mut Ui, ticked: &mut bool, words: RichText) -> Response {
    ui.scope(|ui| {
        let edge = Stroke::new(1.0, Theme::of(ui).stroke_3);
        let widgets = &mut ui.visuals_mut().widgets;
        for state in [
            &mut widgets.inactive,
            &mut widgets.hovered,
            &mut widgets.active,
        ] {
            state.bg_stroke = edge;
        }
        let response = ui.add(Checkbox::new(ticked, words));
        focus_ring(ui, &response, 4);
        response
    })
    .inner
}

//! A checkbox with a visible edge.

use egui::{Checkbox, Response, RichText, Stroke, Ui};

use super::fill::focus_ring;
use crate::design::theme::Theme;

/// Shows a checkbox with a label. It has an edge because its fill hardly differs from a popup's.
pub fn checkbox(ui: &mut Ui, checked: &mut bool, label: RichText) -> Response {
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
        let response = ui.add(Checkbox::new(checked, label));
        focus_ring(ui, &response, 4);
        response
    })
    .inner
}

//! The popup that a setting's chip opens.

use egui::{Popup, PopupCloseBehavior, RectAlign, Response, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;

/// Shows the editor of a setting in a popup with a title. A click outside closes it.
pub fn editor_popup(chip: &Response, align: RectAlign, title: &str, editor: impl FnOnce(&mut Ui)) {
    Popup::from_toggle_button_response(chip)
        .align(align)
        .gap(4.0)
        .width(280.0)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name(title)
        .show(|ui| {
            egui::Frame::new().inner_margin(8).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 8.0;
                ui.label(Face::Strong.text(title).color(Theme::of(ui).text_1));
                editor(ui);
            });
        });
}

/// Shows a hint about a setting.
pub fn hint_ui(ui: &mut Ui, hint: &str) {
    ui.label(Face::Small.text(hint).color(Theme::of(ui).text_3));
}

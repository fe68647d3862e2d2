//! The editor of a setting, which opens from its chip.

use egui::{Popup, PopupCloseBehavior, RectAlign, Response, Ui};

use crate::ui::fonts::Face;
use crate::ui::theme::Theme;

/// The editor that a chip opens, under this title; a press outside it closes it.
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

/// What there is to know about a setting.
pub fn hint_ui(ui: &mut Ui, words: &str) {
    ui.label(Face::Small.text(words).color(Theme::of(ui).text_3));
}

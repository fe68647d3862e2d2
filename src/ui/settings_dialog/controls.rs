//! The controls of the settings.

use egui::{DragValue, Popup, Ui};

use crate::design::fonts::Face;
use crate::design::widgets::{Chip, checkbox, menu_item, switch_part};

/// Draws all choices side by side.
pub(super) fn switch_ui<T: Copy + PartialEq>(
    ui: &mut Ui,
    choices: &[T],
    chosen: &mut T,
    words: fn(T) -> String,
) {
    ui.spacing_mut().item_spacing.x = 0.0;
    for choice in choices {
        if switch_part(ui, &words(*choice), choice == chosen).clicked() {
            *chosen = *choice;
        }
    }
}

/// A menu of choices.
pub(super) struct Menu<T: 'static> {
    pub name: &'static str,
    /// In points.
    pub width: f32,
    pub choices: &'static [T],
    pub words: fn(T) -> String,
}

impl<T: Copy + PartialEq> Menu<T> {
    /// Draws the chosen one; a click lists all choices.
    pub(super) fn show(&self, ui: &mut Ui, chosen: &mut T) {
        let words = (self.words)(*chosen);
        let chip = ui.add(Chip::new(&words).name(self.name).chevron());
        Popup::menu(&chip)
            .width(self.width)
            .gap(4.0)
            .accessible_name(self.name)
            .show(|ui| {
                for choice in self.choices {
                    let words = (self.words)(*choice);
                    if menu_item(ui, &words, "", choice == chosen).clicked() {
                        *chosen = *choice;
                    }
                }
            });
    }
}

/// Draws a choice that is on or off.
pub(super) fn checkbox_ui(ui: &mut Ui, label: &str, is_on: &mut bool) {
    checkbox(ui, is_on, Face::Body.text(label));
}

/// Draws the field for a memory limit. Returns whether it changed.
pub(super) fn megabytes_ui(ui: &mut Ui, name: &str, megabytes: &mut u32, min: u32) -> bool {
    let field = DragValue::new(megabytes).range(min..=100_000).speed(1.0);
    let field = ui.add(field).accessible_name(name);
    ui.label("MB");
    field.changed()
}

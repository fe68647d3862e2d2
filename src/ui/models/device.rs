//! Below the list: where models compute, and in which numbers.

use egui::{Align, Label, Layout, Popup, RectAlign, Ui, UiBuilder};

use crate::state::{AppState, Command, DeviceRow};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::widgets::{Chip, menu_item};

/// Draws the choosers, and what is to be said about them.
pub(super) fn device_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let devices = state.device_rows();
    if devices.is_empty() {
        return;
    }
    let row = ui.max_rect();
    let row = row.with_min_y(row.bottom() - 24.0);
    let builder = UiBuilder::new()
        .max_rect(row)
        .layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(builder, |ui| {
        chooser_ui(ui, "Runs on", "Devices", &devices, commands);
        chooser_ui(ui, "In", "Numbers", &state.precision_rows(), commands);
        if let Some(n_threads) = state.n_cpu_threads() {
            let words = match n_threads {
                1 => "1 thread".to_owned(),
                n => format!("{n} threads"),
            };
            let words = Face::Small.text(words).color(Theme::of(ui).text_2);
            ui.label(words).on_hover_text(
                "So many threads compute on the processor. Their number is fixed while Quartet runs: \
                 start it with the environment variable RAYON_NUM_THREADS to have another.",
            );
        }
        ui.add_space(4.0);
        let words = Face::Small.text(state.device_words());
        let words = words.color(Theme::of(ui).text_3);
        ui.add(Label::new(words).truncate());
    });
}

/// A chip that shows what is chosen, and a menu of what can be.
fn chooser_ui(
    ui: &mut Ui,
    label: &str,
    menu: &str,
    rows: &[DeviceRow],
    commands: &mut Vec<Command>,
) {
    let Some(chosen) = rows.iter().find(|row| row.chosen).or(rows.first()) else {
        return;
    };
    let chip = Chip::new(&chosen.name).label(label).name(label);
    let response = ui.add_enabled(rows.len() > 1, chip.chevron());
    Popup::menu(&response)
        .width(200.0)
        .gap(4.0)
        .align(RectAlign::TOP_START)
        .accessible_name(menu)
        .show(|ui| {
            for row in rows {
                if menu_item(ui, &row.name, row.hint, row.chosen).clicked() {
                    commands.push(row.command.clone());
                }
            }
        });
}

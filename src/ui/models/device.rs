//! Below the list: where models compute.

use egui::{Align, Label, Layout, Popup, RectAlign, Ui, UiBuilder};

use crate::state::{AppState, Command};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::widgets::{Chip, menu_item};

/// Draws the chooser, and what is to be said about it.
pub(super) fn device_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let rows = state.device_rows();
    let Some(chosen) = rows.iter().find(|row| row.chosen).or(rows.first()) else {
        return;
    };
    let row = ui.max_rect();
    let row = row.with_min_y(row.bottom() - 24.0);
    let builder = UiBuilder::new()
        .max_rect(row)
        .layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(builder, |ui| {
        let chip = Chip::new(&chosen.name).label("Runs on").name("Runs on");
        let response = ui.add_enabled(rows.len() > 1, chip.chevron());
        Popup::menu(&response)
            .width(200.0)
            .gap(4.0)
            .align(RectAlign::TOP_START)
            .accessible_name("Devices")
            .show(|ui| {
                for row in &rows {
                    if menu_item(ui, &row.name, "", row.chosen).clicked() {
                        commands.push(row.command.clone());
                    }
                }
            });
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

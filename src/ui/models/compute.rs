//! Below the list: how models compute.

use std::num::NonZeroUsize;

use egui::{Align, DragValue, Frame, Label, Layout, Margin, Popup, RectAlign, Ui, UiBuilder};

use crate::state::{AppState, Command, DeviceRow, ThreadChoice};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::widgets::{Button, Chip, editor_popup, hint_ui, menu_item};

/// What was chosen changes nothing of the model that is there.
const WHEN: &str = "Counts for the next model that is loaded.";

/// Draws the choosers, and what is to be said about them.
pub(super) fn compute_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let row = ui.max_rect();
    let row = row.with_min_y(row.bottom() - 24.0);
    let builder = UiBuilder::new()
        .max_rect(row)
        .layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(builder, |ui| {
        chooser_ui(ui, "Runs on", "Devices", &state.device_rows(), commands);
        chooser_ui(ui, "In", "Numbers", &state.precision_rows(), commands);
        chooser_ui(
            ui,
            "KV cache",
            "Keys and values",
            &state.cache_rows(),
            commands,
        );
        if let Some(choice) = state.thread_choice() {
            threads_ui(ui, state, choice, commands);
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
            let beside = Margin::symmetric(10, 4);
            Frame::new().inner_margin(beside).show(ui, |ui| {
                ui.vertical(|ui| hint_ui(ui, WHEN));
            });
        });
}

fn threads_ui(ui: &mut Ui, state: &AppState, choice: ThreadChoice, commands: &mut Vec<Command>) {
    let value = choice.n_threads.to_string();
    let chip = Chip::new(&value).label("Threads").name("Threads");
    let response = ui.add(chip.chevron());
    let title = "Threads on the processor";
    editor_popup(&response, RectAlign::TOP_START, title, |ui| {
        ui.horizontal(|ui| {
            let mut n_threads = choice.n_threads.get();
            // Below a speed of 1 the arrow keys do nothing.
            let field = DragValue::new(&mut n_threads)
                .range(1..=choice.n_max.get())
                .speed(1.0);
            let field = ui.add(field).accessible_name("Number of threads");
            if field.changed() {
                commands.push(state.with_threads(NonZeroUsize::new(n_threads)));
            }
            ui.label(format!("of at most {}", choice.n_max));
            let usual = Button::new("As many as cores");
            if ui.add_enabled(!choice.is_usual, usual).clicked() {
                commands.push(state.with_threads(None));
            }
        });
        hint_ui(ui, WHEN);
    });
}

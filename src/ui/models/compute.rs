//! The footer of the models dialog: device, precision, KV cache type, rounding of inputs and
//! threads.

use std::num::NonZeroUsize;

use egui::{Align, DragValue, Frame, Label, Layout, Margin, Popup, RectAlign, Ui, UiBuilder};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, editor_popup, hint_ui, menu_item};
use crate::state::{AppState, Command, DeviceRow, ThreadChoice};

/// Shown under each choice: the current model is not affected.
const HINT: &str = "Applies to the next model you open";

/// Draws the choices and the sentence about the devices.
pub(super) fn compute_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let row = ui.max_rect();
    let row = row.with_min_y(row.bottom() - 24.0);
    let builder = UiBuilder::new()
        .max_rect(row)
        .layout(Layout::left_to_right(Align::Center));
    ui.scope_builder(builder, |ui| {
        choices_ui(ui, state, commands);
        ui.add_space(4.0);
        let sentence = Face::Small.text(state.models.device_words());
        let sentence = sentence.color(Theme::of(ui).text_3);
        ui.add(Label::new(sentence).truncate());
    });
}

/// Draws a chip for each choice.
pub(in crate::ui) fn choices_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    chooser_ui(ui, "Device", &state.models.device_rows(), commands);
    chooser_ui(ui, "Precision", &state.models.precision_rows(), commands);
    chooser_ui(ui, "KV cache", &state.models.cache_rows(), commands);
    chooser_ui(ui, "Inputs", &state.models.inputs_rows(), commands);
    if let Some(choice) = state.models.thread_choice() {
        threads_ui(ui, state, choice, commands);
    }
}

/// Draws a chip that shows the current choice and opens a menu of all choices.
fn chooser_ui(ui: &mut Ui, label: &str, rows: &[DeviceRow], commands: &mut Vec<Command>) {
    let Some(chosen) = rows.iter().find(|row| row.chosen).or(rows.first()) else {
        return;
    };
    let chip = Chip::new(&chosen.name).label(label).name(label);
    let response = ui.add_enabled(rows.len() > 1, chip.chevron());
    Popup::menu(&response)
        .width(200.0)
        .gap(4.0)
        .align(RectAlign::TOP_START)
        .accessible_name(format!("{label} menu"))
        .show(|ui| {
            for row in rows {
                if menu_item(ui, &row.name, row.hint, row.chosen).clicked() {
                    commands.push(row.command.clone());
                }
            }
            let margin = Margin::symmetric(10, 4);
            Frame::new().inner_margin(margin).show(ui, |ui| {
                ui.vertical(|ui| hint_ui(ui, HINT));
            });
        });
}

fn threads_ui(ui: &mut Ui, state: &AppState, choice: ThreadChoice, commands: &mut Vec<Command>) {
    let value = choice.n_threads.to_string();
    let chip = Chip::new(&value).label("Threads").name("Threads");
    let response = ui.add(chip.chevron());
    let title = "CPU threads";
    editor_popup(&response, RectAlign::TOP_START, title, |ui| {
        ui.horizontal(|ui| {
            let mut n_threads = choice.n_threads.get();
            // The arrow keys do nothing if the speed is below 1.
            let field = DragValue::new(&mut n_threads)
                .range(1..=choice.n_max.get())
                .speed(1.0);
            let field = ui.add(field).accessible_name("Number of threads");
            if field.changed() {
                commands.push(state.models.with_threads(NonZeroUsize::new(n_threads)));
            }
            ui.label(format!("of {} available", choice.n_max));
            let default = Button::new("One per core");
            if ui.add_enabled(!choice.is_default, default).clicked() {
                commands.push(state.models.with_threads(None));
            }
        });
        hint_ui(ui, HINT);
    });
}

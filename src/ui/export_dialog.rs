//! The dialog that exports everything: which panes, and which files will be written.

use egui::{Id, Modal, ScrollArea, Ui};

use super::run_file_style::run_file_style_ui;
use super::run_folder;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, checkbox, hint_ui};
use crate::generation::formatting::pane_letter;
use crate::state::{AppState, Command, EverythingDocument};

const WIDTH: f32 = 520.0;

/// Draws the dialog, if it is open.
pub(super) fn export_dialog_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    if !state.export.dialog_open {
        return;
    }
    let frame = egui::Frame::window(ui.style()).inner_margin(22);
    let modal = Modal::new(Id::unique("export everything")).frame(frame);
    let response = modal.show(ui, |ui| {
        ui.set_width(WIDTH);
        ui.spacing_mut().item_spacing.y = 8.0;
        let theme = Theme::of(ui);
        ui.label(Face::Title.text("Export everything").color(theme.text_1));
        panes_ui(ui, state);
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 20.0;
            run_file_style_ui(ui, state);
        });
        ui.add_space(4.0);
        files_ui(ui, state);
        hint_ui(
            ui,
            "All of the files are written, or none. Other files in the folder are kept.",
        );
        ui.add_space(4.0);
        buttons_ui(ui, state, commands);
    });
    if response.should_close() {
        commands.push(Command::ShowExport(false));
    }
}

/// Draws a checkbox for each pane with a text.
fn panes_ui(ui: &mut Ui, state: &mut AppState) {
    let panes: Vec<_> = state
        .panes
        .placed()
        .filter_map(|(place, pane)| {
            let n_tokens = pane.generation()?.steps.len();
            let name = &pane.settings.name;
            let label = format!("{} · {name} · {n_tokens} tokens", pane_letter(place));
            Some((pane.id, label))
        })
        .collect();
    for (id, label) in panes {
        let mut included = !state.export.left_out.contains(&id);
        if checkbox(ui, &mut included, Face::Body.text(label)).changed() {
            if included {
                state.export.left_out.remove(&id);
            } else {
                state.export.left_out.insert(id);
            }
        }
    }
}

/// Lists the files and their contents, below the checkboxes of the panes.
fn files_ui(ui: &mut Ui, state: &AppState) {
    let theme = Theme::of(ui);
    let n_panes = state.generations().iter().flatten().count();
    let contents = run_folder::contents(&state.generations_to_export());
    let title = format!("{} files", contents.len());
    ui.label(Face::SmallMedium.text(title).color(theme.text_2));
    // Eight panes and all buttons fit a window 600 points high.
    let window_height = ui.ctx().content_rect().height();
    let max_height = (window_height - 36.0 * n_panes as f32 - 262.0).clamp(90.0, 520.0);
    let area = ScrollArea::vertical()
        .max_height(max_height)
        .auto_shrink([false, true]);
    area.show(ui, |ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        egui::Grid::new("files to be written")
            .num_columns(2)
            .spacing([24.0, 2.0])
            .show(ui, |ui| {
                for (name, description) in contents {
                    ui.label(Face::Code.text(name).color(theme.text_1));
                    ui.label(Face::Small.text(description).color(theme.text_3));
                    ui.end_row();
                }
            });
    });
}

fn buttons_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let has_text = state.generations_to_export().iter().any(Option::is_some);
    ui.horizontal(|ui| {
        let buttons = [
            (
                Button::new("Choose a folder…").primary(),
                EverythingDocument::Folder,
            ),
            (Button::new("Save as .zip…"), EverythingDocument::Archive),
        ];
        for (button, document) in buttons {
            let button = ui.add_enabled(has_text, button);
            let button = button.on_disabled_hover_text("Choose at least one pane");
            if button.clicked() {
                commands.push(Command::ShowExport(false));
                commands.push(Command::save(document));
            }
        }
        if ui.add(Button::new("Cancel")).clicked() {
            commands.push(Command::ShowExport(false));
        }
    });
}

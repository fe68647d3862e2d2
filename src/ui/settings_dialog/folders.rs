//! Where files are kept, with a button that opens each folder.

use egui::{Label, Ui};

use super::{note_ui, row_ui};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::state::{Command, Folders};

/// Draws the folders.
pub(in crate::ui) fn folders_ui(ui: &mut Ui, folders: &Folders, commands: &mut Vec<Command>) {
    for (name, folder, note) in [
        (
            "Settings and runs",
            &folders.data,
            "Settings, presets, kept runs and what is on screen. XDG_DATA_HOME moves it on Linux, \
             from the next start",
        ),
        (
            "Models",
            &folders.models,
            "Downloaded models, shared with other Hugging Face tools. HF_HOME moves it, from the next \
             start",
        ),
    ] {
        row_ui(ui, name, |ui| {
            let Some(folder) = folder else {
                ui.label(Face::Body.text("This system names no folder"));
                return;
            };
            if ui.add(Button::new("Open folder")).clicked() {
                commands.push(Command::OpenFolder(folder.clone()));
            }
            let path = Face::Code.text(folder.display().to_string());
            let path = path.color(Theme::of(ui).text_1);
            ui.add(Label::new(path).truncate().selectable(true));
        });
        note_ui(ui, note);
    }
}

//! Where files are kept: each folder can be opened, and those of runs and models can be changed.

use std::path::Path;

use egui::{Label, Ui};

use super::{NAMES, note_ui, row_ui};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::generation::ByteSize;
use crate::state::{
    AppState, AsideTexts, Command, FolderCommand, FolderKind, PathPurpose, RunCommand,
    unix_time_secs,
};
use crate::ui::history::phrase;

/// Draws the folders.
pub(in crate::ui) fn folders_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    folder_ui(ui, "Settings", state.folders.system.data.as_deref(), |ui| {
        open_ui(
            ui,
            "Settings",
            state.folders.system.data.as_deref(),
            commands,
        );
    });
    note_ui(
        ui,
        "Settings, presets and what is on screen. On Linux, set XDG_DATA_HOME and restart to move \
         it",
    );
    for (kind, note) in [
        (
            FolderKind::Runs,
            "Runs that are already kept stay where they are; open them from there, or move their files",
        ),
        (
            FolderKind::Models,
            "Downloaded models, shared with other Hugging Face tools unless you choose another \
             folder. The command line and the default use HF_HOME, if it is set",
        ),
    ] {
        let folder = state.folders.of(kind);
        folder_ui(ui, kind.name(), folder.as_deref(), |ui| {
            choose_ui(ui, state, kind, commands);
            open_ui(ui, kind.name(), folder.as_deref(), commands);
            if state.folders.is_chosen(kind) {
                default_ui(ui, state, kind, commands);
            }
        });
        note_ui(ui, note);
    }
    for texts in &state.folders.aside {
        aside_ui(ui, texts, commands);
    }
    if !state.folders.aside.is_empty() {
        note_ui(
            ui,
            "What was on screen when a window crashed and could not be restored. The newest five \
             are kept, for 90 days",
        );
    }
}

/// Draws texts that were set aside after a crash, and the buttons that open and remove them.
fn aside_ui(ui: &mut Ui, texts: &AsideTexts, commands: &mut Vec<Command>) {
    let date = phrase(texts.written_at, unix_time_secs());
    let words = format!("{date}, {}", ByteSize(texts.n_bytes));
    row_ui(ui, "Set aside", |ui| {
        ui.label(Face::Body.text(words).color(Theme::of(ui).text_1));
        let name = format!("Open the texts of {date}");
        if ui.add(Button::new("Open").name(&name)).clicked() {
            commands.push(Command::ShowSettings(None));
            let open = RunCommand::Open(texts.path.clone());
            commands.push(Command::Run(open));
        }
        let name = format!("Remove the texts of {date}");
        if ui.add(Button::new("Remove").name(&name)).clicked() {
            let remove = FolderCommand::RemoveAside(texts.path.clone());
            commands.push(Command::Folder(remove));
        }
    });
}

/// Draws the name and the path of a folder, and its buttons below.
fn folder_ui(ui: &mut Ui, name: &str, folder: Option<&Path>, buttons: impl FnOnce(&mut Ui)) {
    row_ui(ui, name, |ui| match folder {
        Some(folder) => {
            let path = Face::Code.text(folder.display().to_string());
            let path = path.color(Theme::of(ui).text_1);
            ui.add(Label::new(path).truncate().selectable(true));
        }
        None => {
            ui.label(Face::Body.text("No folder is available on this system"));
        }
    });
    ui.horizontal(|ui| {
        ui.add_space(NAMES + ui.spacing().item_spacing.x);
        buttons(ui);
    });
}

fn open_ui(ui: &mut Ui, name: &str, folder: Option<&Path>, commands: &mut Vec<Command>) {
    let Some(folder) = folder else {
        return;
    };
    let full_name = format!("Open the {} folder", name.to_lowercase());
    if ui
        .add(Button::new("Open folder").name(&full_name))
        .clicked()
    {
        commands.push(Command::OpenFolder(folder.to_owned()));
    }
}

fn choose_ui(ui: &mut Ui, state: &AppState, kind: FolderKind, commands: &mut Vec<Command>) {
    let fixed = state.why_folder_is_fixed(kind);
    let full_name = format!("Choose the {} folder", kind.name().to_lowercase());
    let button = Button::new("Choose…").name(&full_name);
    let button = ui.add_enabled(fixed.is_none(), button);
    if button.clicked() {
        commands.push(Command::AskPath(PathPurpose::Folder(kind)));
    }
    button.on_disabled_hover_text(fixed.unwrap_or_default());
}

fn default_ui(ui: &mut Ui, state: &AppState, kind: FolderKind, commands: &mut Vec<Command>) {
    let fixed = state.why_folder_is_fixed(kind);
    let full_name = format!("Use the default {} folder", kind.name().to_lowercase());
    let button = Button::new("Use default").name(&full_name);
    let button = ui.add_enabled(fixed.is_none(), button);
    if button.clicked() {
        let command = FolderCommand::UseDefault(kind);
        commands.push(Command::Folder(command));
    }
    button.on_disabled_hover_text(fixed.unwrap_or_default());
}

//! Asks for a path where the system has no dialog for it.

use std::path::PathBuf;

use egui::{Id, Modal, TextEdit, Ui};

use super::fonts::Face;
use super::keys::entered;
use super::theme::Theme;
use super::widgets::{Button, Notice, NoticeKind, field_frame};
use crate::state::{AppState, Command, PathPurpose};

/// Draws the dialog, if a path is to be typed.
pub(super) fn path_dialog_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some((purpose, path)) = &mut state.path_field else {
        // What was told holds for one dialog: the file may be gone by the next.
        ui.data_mut(|data| data.remove::<PathBuf>(told_id()));
        return;
    };
    let purpose = *purpose;
    let frame = egui::Frame::window(ui.style()).inner_margin(22);
    let modal = Modal::new(Id::unique("path dialog")).frame(frame);
    let response = modal.show(ui, |ui| {
        ui.set_width(480.0);
        let theme = Theme::of(ui);
        ui.label(Face::Title.text(purpose.title()).color(theme.text_1));
        ui.add_space(6.0);
        let words = "This system offers no file dialog. Write the whole path.";
        let label = ui.label(Face::Small.text(words).color(theme.text_2));
        ui.add_space(6.0);
        let edit = TextEdit::singleline(path)
            .font(Face::Code.font())
            .frame(field_frame(ui))
            .desired_width(f32::INFINITY);
        let field = ui.add(edit).labelled_by(label.id);
        if !ui.memory(|memory| memory.has_focus(field.id)) && !field.lost_focus() {
            field.request_focus();
        }
        let is_entered = entered(ui, &field);
        ui.add_space(12.0);
        let path = whole(path.trim());
        buttons_ui(ui, purpose, path, is_entered, commands);
    });
    if response.should_close() {
        commands.push(Command::ClosePathField);
    }
}

/// A path in which `~` stands for the home folder, as in a shell.
fn whole(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Takes the path, and asks first where a file would be replaced, as the system's own dialogs do.
fn buttons_ui(
    ui: &mut Ui,
    purpose: PathPurpose,
    path: PathBuf,
    is_entered: bool,
    commands: &mut Vec<Command>,
) {
    let told: Option<PathBuf> = ui.data(|data| data.get_temp(told_id()));
    let replaces = told.as_ref() == Some(&path);
    if replaces {
        let words = "There is a file of this name already. What is in it would be lost.";
        Notice::new(NoticeKind::Warning, words).show(ui);
        ui.add_space(12.0);
    }
    ui.horizontal(|ui| {
        let possible = !path.as_os_str().is_empty();
        let name = if replaces { "Replace" } else { verb(purpose) };
        let button = Button::new(name).primary();
        let pressed = ui.add_enabled(possible, button).clicked();
        // A second press of the same key is no answer to what was just told.
        if (pressed || is_entered && !replaces) && possible {
            let saves = matches!(purpose, PathPurpose::Save(_));
            if saves && !replaces && path.is_file() {
                ui.data_mut(|data| data.insert_temp(told_id(), path));
            } else {
                commands.push(Command::PathGiven(purpose, path));
            }
        }
        if ui.add(Button::new("Cancel")).clicked() {
            commands.push(Command::ClosePathField);
        }
    });
}

/// Where it is kept at which path the user was told that there is a file.
fn told_id() -> Id {
    Id::unique("file that would be replaced")
}

const fn verb(purpose: PathPurpose) -> &'static str {
    match purpose {
        PathPurpose::ModelFile | PathPurpose::ModelFolder => "Open",
        PathPurpose::Presets => "Import",
        PathPurpose::Save(_) => "Save",
    }
}

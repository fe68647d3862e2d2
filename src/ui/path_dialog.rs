//! The path dialog, a fallback for systems without a native file dialog.

use std::path::PathBuf;

use egui::{Id, Modal, TextEdit, Ui};

use super::keys::entered;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Notice, NoticeKind, field_frame};
use crate::state::{AppState, Command, PathPurpose};

/// Draws the dialog, if it is open.
pub(super) fn path_dialog_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some((purpose, path)) = &mut state.dialogs.path_field else {
        ui.data_mut(|data| {
            // A warning holds for one dialog only: the file may be gone by the next.
            data.remove::<PathBuf>(warned_id());
            data.remove::<bool>(drawn_id());
        });
        return;
    };
    let purpose = purpose.clone();
    let frame = egui::Frame::window(ui.style()).inner_margin(22);
    let modal = Modal::new(Id::unique("path dialog")).frame(frame);
    let response = modal.show(ui, |ui| {
        ui.set_width(480.0);
        let theme = Theme::of(ui);
        ui.label(Face::Title.text(purpose.title()).color(theme.text_1));
        ui.add_space(6.0);
        let hint = "No file dialog is available on this system. Type the full path.";
        let label = ui.label(Face::Small.text(hint).color(theme.text_2));
        ui.add_space(6.0);
        let edit = TextEdit::singleline(path)
            .font(Face::Code.font())
            .frame(field_frame(ui))
            .desired_width(f32::INFINITY);
        let field = ui.add(edit).labelled_by(label.id);
        let is_entered = entered(ui, &field);
        let was_drawn = ui.data_mut(|data| data.get_temp::<bool>(drawn_id()).is_some());
        if !was_drawn || is_entered {
            // Enter may lead to a warning, after which the path is typed differently.
            field.request_focus();
            ui.data_mut(|data| data.insert_temp(drawn_id(), true));
        }
        ui.add_space(12.0);
        let path = expand_home(path.trim());
        buttons_ui(ui, purpose, path, is_entered, commands);
    });
    if response.should_close() {
        commands.push(Command::ClosePathField);
    }
}

/// Expands a leading `~` to the home folder, as a shell does.
fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Draws the buttons. Asks for confirmation before replacing a file, as native dialogs do.
fn buttons_ui(
    ui: &mut Ui,
    purpose: PathPurpose,
    path: PathBuf,
    is_entered: bool,
    commands: &mut Vec<Command>,
) {
    let warned: Option<PathBuf> = ui.data(|data| data.get_temp(warned_id()));
    let confirming = warned.as_ref() == Some(&path);
    if confirming {
        let warning = "A file with this name already exists. Its contents will be lost.";
        Notice::new(NoticeKind::Warning, warning).show(ui);
        ui.add_space(12.0);
    }
    ui.horizontal(|ui| {
        let has_path = !path.as_os_str().is_empty();
        let name = if confirming {
            "Replace"
        } else {
            verb(&purpose)
        };
        let button = Button::new(name).primary();
        let clicked = ui.add_enabled(has_path, button).clicked();
        // Pressing Enter again does not confirm the warning.
        if (clicked || is_entered && !confirming) && has_path {
            let saves = purpose.suggested_name().is_some();
            if saves && !confirming && path.is_file() {
                ui.data_mut(|data| data.insert_temp(warned_id(), path));
            } else {
                commands.push(Command::PathGiven(purpose, path));
            }
        }
        if ui.add(Button::new("Cancel")).clicked() {
            commands.push(Command::ClosePathField);
        }
    });
}

/// The id under which the path of the last warning is stored.
fn warned_id() -> Id {
    Id::unique("file that would be replaced")
}

/// The id under which it is stored that the dialog was drawn before, so that it took the focus.
fn drawn_id() -> Id {
    Id::unique("path dialog was drawn")
}

const fn verb(purpose: &PathPurpose) -> &'static str {
    match purpose {
        PathPurpose::ModelFile
        | PathPurpose::ModelFolder
        | PathPurpose::SecondModel
        | PathPurpose::Lab(_)
        | PathPurpose::SecondModelToVerify
        | PathPurpose::PaneModel(_)
        | PathPurpose::PaneModelFolder(_)
        | PathPurpose::Run
        | PathPurpose::Text
        | PathPurpose::Grammar(_)
        | PathPurpose::Lesson => "Open",
        PathPurpose::Presets => "Import",
        PathPurpose::Folder(_) => "Use",
        PathPurpose::ExportRun | PathPurpose::Save(_) => "Save",
    }
}

#[cfg(test)]
mod tests {
    use egui::accesskit::Role;
    use egui::{Key, Modifiers, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::state::PathPurpose;
    use crate::state::tests::written;
    use crate::ui::testing::{Window, key, window_of};

    #[test]
    fn the_buttons_are_reached_by_the_tab_key() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").to_owned();
        let mut state = written();
        state.dialogs.path_field = Some((PathPurpose::ExportRun, path));
        let mut window = window_of(vec2(1280.0, 800.0), state);
        window.run_steps(3);
        let has_focus = |window: &Window| {
            let hint = "No file dialog is available on this system. Type the full path.";
            let field = window.get_by_role_and_label(Role::TextInput, hint);
            field.is_focused()
        };
        assert!(has_focus(&window));
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(2);
        window.get_by_label_contains("already exists");
        assert!(has_focus(&window), "the path can be changed");
        key(&mut window, Modifiers::NONE, Key::Tab);
        window.run_steps(4);
        assert!(window.get_by_label("Replace").is_focused());
        key(&mut window, Modifiers::NONE, Key::Tab);
        window.run_steps(4);
        assert!(window.get_by_label("Cancel").is_focused());
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.run_steps(2);
        assert_eq!(window.state().dialogs.path_field, None);
    }
}

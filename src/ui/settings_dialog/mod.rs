//! The settings dialog. Each setting takes effect at once, or says when. To add one, add its entry to
//! the list.

mod controls;
mod folders;
mod list;

use egui::{Align, Layout, Ui, vec2};

pub(super) use self::folders::folders_ui;
use self::list::{SETTINGS, Setting};
use super::models::choices_ui;
use super::tabbed_dialog::TabbedDialog;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::hint_ui;
use crate::state::{AppState, Command, SettingsTab};

const SIZE: egui::Vec2 = vec2(640.0, 480.0);

/// The width of the column with the names, in points.
const NAMES: f32 = 148.0;

/// Draws the dialog, if it is open.
pub(super) fn settings_dialog_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some(open) = state.dialogs.settings else {
        return;
    };
    let dialog = TabbedDialog {
        title: "Settings",
        size: SIZE,
        tabs: &SettingsTab::ALL.map(SettingsTab::name),
        selected: SettingsTab::ALL
            .iter()
            .position(|tab| *tab == open)
            .unwrap_or_default(),
        scrolls: true,
    };
    let response = dialog.show(ui, |ui| {
        for setting in SETTINGS.iter().filter(|setting| setting.tab == open) {
            setting_ui(ui, setting, state, commands);
        }
        match open {
            SettingsTab::Computing => computing_ui(ui, state, commands),
            SettingsTab::Storage => folders_ui(ui, state, commands),
            SettingsTab::Appearance | SettingsTab::Panes => {}
        }
    });
    state.dialogs.settings = SettingsTab::ALL.get(response.selected).copied();
    if response.closed {
        commands.push(Command::ShowSettings(None));
    }
}

fn setting_ui(ui: &mut Ui, setting: &Setting, state: &mut AppState, commands: &mut Vec<Command>) {
    row_ui(ui, setting.name, |ui| {
        (setting.control)(ui, state, commands);
    });
    if let Some(note) = setting.note {
        note_ui(ui, &note(state));
    }
}

/// Draws the name of a setting, and beside it its control.
fn row_ui(ui: &mut Ui, name: &str, control: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.set_min_height(32.0);
        let size = vec2(NAMES, 20.0);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_size(size);
            ui.label(Face::Body.text(name).color(Theme::of(ui).text_2));
        });
        control(ui);
    });
}

/// Draws a sentence below the control of a setting.
fn note_ui(ui: &mut Ui, sentence: &str) {
    ui.horizontal_top(|ui| {
        ui.add_space(NAMES + ui.spacing().item_spacing.x);
        ui.vertical(|ui| hint_ui(ui, sentence));
    });
    ui.add_space(6.0);
}

fn computing_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.y = 8.0;
        choices_ui(ui, state, commands);
    });
    ui.add_space(10.0);
    hint_ui(ui, &state.models.device_words());
    hint_ui(
        ui,
        "Each choice applies to the next model that you open; open the current one again to change \
         how it computes",
    );
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers, Role, vec2};
    use egui_kittest::kittest::Queryable as _;

    use crate::state::tests::ready;
    use crate::state::{AppState, ReadingFont, SettingsTab, SystemFolders, ThemeChoice, Tint};
    use crate::ui::testing::{Window, key, press, window_of};

    fn dialog(tab: SettingsTab) -> Window {
        let mut state: AppState = ready();
        state.dialogs.settings = Some(tab);
        state.folders.system = SystemFolders {
            data: Some("/home/ada/.local/share/quartet".into()),
            models: Some("/home/ada/.cache/huggingface/hub".into()),
        };
        let mut window = window_of(vec2(900.0, 600.0), state);
        window.run_steps(3);
        window
    }

    #[test]
    fn the_appearance_changes_at_once() {
        let mut window = dialog(SettingsTab::Appearance);
        press(&mut window, "Light");
        press(&mut window, "JetBrains Mono");
        press(&mut window, "Reduce motion");
        press(&mut window, "Tint of tokens");
        press(&mut window, "Entropy");
        let view = window.state().view;
        assert_eq!(view.theme, ThemeChoice::Light);
        assert_eq!(view.reading_font, ReadingFont::Mono);
        assert!(view.reduce_motion && window.ctx.global_style().animation_time <= 0.0);
        assert_eq!(view.tint, Tint::Entropy);
        window
            .get_by_role_and_label(Role::Button, "Text size")
            .click();
        window.run_steps(4);
        press(&mut window, "110 %");
        assert!((window.ctx.zoom_factor() - 1.1).abs() < 1e-6);
    }

    #[test]
    fn every_tab_is_reached_and_closed_with_the_keyboard() {
        let mut window = dialog(SettingsTab::Appearance);
        for tab in SettingsTab::ALL {
            window.get_by_label(tab.name()).focus();
            window.run_steps(2);
            key(&mut window, Modifiers::NONE, Key::Enter);
            assert_eq!(window.state().dialogs.settings, Some(tab));
        }
        key(&mut window, Modifiers::NONE, Key::Escape);
        assert_eq!(window.state().dialogs.settings, None);
    }

    #[test]
    fn the_number_of_panes_can_be_set() {
        let mut window = dialog(SettingsTab::Panes);
        window.get_by_role_and_label(Role::RadioButton, "5").focus();
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        assert_eq!(window.state().panes.len(), 5);
    }

    #[test]
    fn the_folders_are_named_and_can_be_chosen() {
        let mut window = dialog(SettingsTab::Storage);
        for folder in [
            "/home/ada/.local/share/quartet",
            "/home/ada/.local/share/quartet/runs",
            "/home/ada/.cache/huggingface/hub",
        ] {
            window.get_by_label(folder);
        }
        for kept in ["settings", "runs", "models"] {
            window.get_by_label(&format!("Open the {kept} folder"));
        }
        let defaults = window.query_all_by_label_contains("Use the default");
        assert_eq!(defaults.count(), 0);
        for kept in ["runs", "models"] {
            window.get_by_label(&format!("Choose the {kept} folder"));
        }
        window.state_mut().folders.chosen.models = Some("/mnt/models".into());
        window.run_steps(3);
        window.get_by_label("/mnt/models");
        let name = "Use the default models folder";
        window.get_by_role_and_label(Role::Button, name).focus();
        window.run_steps(2);
        key(&mut window, Modifiers::NONE, Key::Enter);
        window.get_by_label("/home/ada/.cache/huggingface/hub");
    }
}

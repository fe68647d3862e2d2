//! The settings dialog. Each setting takes effect at once, or says when.

mod folders;

use egui::{Align, DragValue, Layout, Popup, Ui, vec2};

use super::models::choices_ui;
use super::tabbed_dialog::TabbedDialog;
use super::text_measures::prices_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, checkbox, hint_ui, menu_item, switch_part};
use crate::state::{
    AppState, BranchCommand, Command, MAX_PANES, ReadingFont, SettingsTab, TextSize, ThemeChoice,
    Tint, ViewChoices,
};

pub(super) use self::folders::folders_ui;

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
    let response = dialog.show(ui, |ui| match open {
        SettingsTab::Appearance => appearance_ui(ui, &mut state.view),
        SettingsTab::Panes => panes_ui(ui, state, commands),
        SettingsTab::Computing => computing_ui(ui, state, commands),
        SettingsTab::Storage => storage_ui(ui, state, commands),
    });
    state.dialogs.settings = SettingsTab::ALL.get(response.selected).copied();
    if response.closed {
        commands.push(Command::ShowSettings(None));
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

fn appearance_ui(ui: &mut Ui, view: &mut ViewChoices) {
    row_ui(ui, "Theme", |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for theme in ThemeChoice::ALL {
            if switch_part(ui, theme.name(), theme == view.theme).clicked() {
                view.theme = theme;
            }
        }
    });
    row_ui(ui, "Text size", |ui| text_size_ui(ui, &mut view.text_size));
    note_ui(ui, "All text, and everything around it");
    row_ui(ui, "Typeface of texts", |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for font in ReadingFont::ALL {
            if switch_part(ui, font.name(), font == view.reading_font).clicked() {
                view.reading_font = font;
            }
        }
    });
    note_ui(
        ui,
        "The prompt and what the panes generate; exported pictures keep Literata",
    );
    row_ui(ui, "Tint", |ui| tint_ui(ui, &mut view.tint));
    row_ui(ui, "Spaces", |ui| {
        let label = Face::Body.text("Show spaces and line breaks");
        checkbox(ui, &mut view.show_marks, label);
    });
    row_ui(ui, "Motion", |ui| {
        let label = Face::Body.text("Reduce motion");
        checkbox(ui, &mut view.reduce_motion, label);
    });
    note_ui(ui, "Popups, bars and scrolling change without a transition");
}

fn text_size_ui(ui: &mut Ui, size: &mut TextSize) {
    let words = format!("{} %", size.percent());
    let chip = ui.add(Chip::new(&words).name("Text size").chevron());
    Popup::menu(&chip)
        .width(120.0)
        .gap(4.0)
        .accessible_name("Text size")
        .show(|ui| {
            for choice in TextSize::ALL {
                let words = format!("{} %", choice.percent());
                if menu_item(ui, &words, "", choice == *size).clicked() {
                    *size = choice;
                }
            }
        });
}

fn tint_ui(ui: &mut Ui, tint: &mut Tint) {
    let chip = ui.add(Chip::new(tint.name()).name("Tint of tokens").chevron());
    Popup::menu(&chip)
        .width(180.0)
        .gap(4.0)
        .accessible_name("Tint of tokens")
        .show(|ui| {
            for choice in Tint::ALL {
                if menu_item(ui, choice.name(), "", choice == *tint).clicked() {
                    *tint = choice;
                }
            }
        });
}

fn panes_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    row_ui(ui, "Panes", |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for n_panes in 1..=MAX_PANES {
            let selected = n_panes == state.panes.len();
            if switch_part(ui, &n_panes.to_string(), selected).clicked() {
                commands.push(Command::SetPaneCount(n_panes));
            }
        }
    });
    note_ui(
        ui,
        "New panes open on the right with a preset that no other pane has; undo brings back those \
         that were removed",
    );
    row_ui(ui, "Prices", |ui| prices_ui(ui, &mut state.view.prices));
    note_ui(ui, "For the cost of each text in Compare and Numbers");
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

fn storage_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    row_ui(ui, "Kept runs", |ui| {
        let limits = &mut state.runs.limits;
        let field = DragValue::new(&mut limits.n_runs).range(1..=100_000);
        ui.add(field).accessible_name("Maximum runs to keep");
        ui.label("runs or");
        megabytes_ui(ui, "Maximum megabytes to keep", &mut limits.megabytes, 1);
    });
    note_ui(
        ui,
        "Applies when the next run is kept; the oldest unpinned runs are deleted first",
    );
    row_ui(ui, "Record", |ui| {
        megabytes_ui(
            ui,
            "Memory for the record",
            &mut state.memory.record_megabytes,
            0,
        );
    });
    note_ui(
        ui,
        &format!("Applies to the next run. {}", state.recording_words()),
    );
    row_ui(ui, "Earlier texts", |ui| {
        let megabytes = &mut state.memory.kept_megabytes;
        megabytes_ui(ui, "Memory for earlier texts", megabytes, 0);
    });
    row_ui(ui, "KV cache", |ui| {
        let name = "Memory for the KV cache of texts";
        if megabytes_ui(ui, name, &mut state.memory.cache_megabytes, 0) {
            commands.push(Command::Branch(BranchCommand::LimitCache));
        }
    });
    note_ui(
        ui,
        "Beyond these limits, the least recently shown texts are dropped, and branching from a \
         text that left the cache starts with a prefill",
    );
    folders_ui(ui, state, commands);
}

/// Draws the field for a memory limit. Returns whether it changed.
fn megabytes_ui(ui: &mut Ui, name: &str, megabytes: &mut u32, min: u32) -> bool {
    let field = DragValue::new(megabytes).range(min..=100_000).speed(1.0);
    let field = ui.add(field).accessible_name(name);
    ui.label("MB");
    field.changed()
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

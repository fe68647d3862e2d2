//! The settings of the dialog, from top to bottom.

use egui::{DragValue, Ui};

use super::controls::{Menu, checkbox_ui, megabytes_ui, switch_ui};
use crate::state::{
    AppState, BranchCommand, Command, MAX_PANES, ReadingFont, SettingsTab, TextSize, ThemeChoice,
    Tint,
};
use crate::ui::text_measures::prices_ui;

/// A row of the dialog.
pub(super) struct Setting {
    pub tab: SettingsTab,
    pub name: &'static str,
    pub control: fn(&mut Ui, &mut AppState, &mut Vec<Command>),
    /// Says what it does, or when it takes effect.
    pub note: Option<fn(&AppState) -> String>,
}

/// All settings, in the order in which they are shown.
pub(super) const SETTINGS: [Setting; 12] = [
    Setting {
        tab: SettingsTab::Appearance,
        name: "Theme",
        control: |ui, state, _| {
            switch_ui(ui, &ThemeChoice::ALL, &mut state.view.theme, |theme| {
                theme.name().to_owned()
            });
        },
        note: None,
    },
    Setting {
        tab: SettingsTab::Appearance,
        name: "Text size",
        control: |ui, state, _| {
            let menu = Menu {
                name: "Text size",
                width: 120.0,
                choices: &TextSize::ALL,
                words: |size| format!("{} %", size.percent()),
            };
            menu.show(ui, &mut state.view.text_size);
        },
        note: Some(|_| "All text, and everything around it".to_owned()),
    },
    Setting {
        tab: SettingsTab::Appearance,
        name: "Typeface of texts",
        control: |ui, state, _| {
            let font = &mut state.view.reading_font;
            switch_ui(ui, &ReadingFont::ALL, font, |font| font.name().to_owned());
        },
        note: Some(|_| {
            "The prompt and what the panes generate; exported pictures keep Literata".to_owned()
        }),
    },
    Setting {
        tab: SettingsTab::Appearance,
        name: "Tint",
        control: |ui, state, _| {
            let menu = Menu {
                name: "Tint of tokens",
                width: 180.0,
                choices: &Tint::ALL,
                words: |tint| tint.name().to_owned(),
            };
            menu.show(ui, &mut state.view.tint);
        },
        note: None,
    },
    Setting {
        tab: SettingsTab::Appearance,
        name: "Spaces",
        control: |ui, state, _| {
            checkbox_ui(
                ui,
                "Show spaces and line breaks",
                &mut state.view.show_marks,
            );
        },
        note: None,
    },
    Setting {
        tab: SettingsTab::Appearance,
        name: "Motion",
        control: |ui, state, _| {
            checkbox_ui(ui, "Reduce motion", &mut state.view.reduce_motion);
        },
        note: Some(|_| "Popups, bars and scrolling change without a transition".to_owned()),
    },
    Setting {
        tab: SettingsTab::Panes,
        name: "Panes",
        control: |ui, state, commands| {
            let mut n_panes = state.panes.len();
            let counts: [usize; MAX_PANES] = std::array::from_fn(|index| index + 1);
            switch_ui(ui, &counts, &mut n_panes, |n_panes| n_panes.to_string());
            if n_panes != state.panes.len() {
                commands.push(Command::SetPaneCount(n_panes));
            }
        },
        note: Some(|_| {
            "New panes open on the right with a preset that no other pane has; undo brings back \
             those that were removed"
                .to_owned()
        }),
    },
    Setting {
        tab: SettingsTab::Panes,
        name: "Prices",
        control: |ui, state, _| prices_ui(ui, &mut state.view.prices),
        note: Some(|_| "For the cost of each text in Compare and Numbers".to_owned()),
    },
    Setting {
        tab: SettingsTab::Storage,
        name: "Kept runs",
        control: |ui, state, _| {
            let limits = &mut state.runs.limits;
            let field = DragValue::new(&mut limits.n_runs).range(1..=100_000);
            ui.add(field).accessible_name("Maximum runs to keep");
            ui.label("runs or");
            megabytes_ui(ui, "Maximum megabytes to keep", &mut limits.megabytes, 1);
        },
        note: Some(|_| {
            "Applies when the next run is kept; the oldest unpinned runs are deleted first"
                .to_owned()
        }),
    },
    Setting {
        tab: SettingsTab::Storage,
        name: "Record",
        control: |ui, state, _| {
            megabytes_ui(
                ui,
                "Memory for the record",
                &mut state.memory.record_megabytes,
                0,
            );
        },
        note: Some(|state| format!("Applies to the next run. {}", state.recording_words())),
    },
    Setting {
        tab: SettingsTab::Storage,
        name: "Earlier texts",
        control: |ui, state, _| {
            megabytes_ui(
                ui,
                "Memory for earlier texts",
                &mut state.memory.kept_megabytes,
                0,
            );
        },
        note: None,
    },
    Setting {
        tab: SettingsTab::Storage,
        name: "KV cache",
        control: |ui, state, commands| {
            let name = "Memory for the KV cache of texts";
            if megabytes_ui(ui, name, &mut state.memory.cache_megabytes, 0) {
                commands.push(Command::Branch(BranchCommand::LimitCache));
            }
        },
        note: Some(|_| {
            "Beyond these limits, the least recently shown texts are dropped, and branching from a \
             text that left the cache starts with a prefill"
                .to_owned()
        }),
    },
];

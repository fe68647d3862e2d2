//! The row of tabs, with the selected tab's summary, its choices and its export menu.

use egui::{Align, Label, Layout, Popup, Sense, Ui, vec2};

use super::results::results_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, menu_item};
use crate::lab::{Group, LabTab};
use crate::state::{AppState, Command, DocumentKind};
use crate::ui::dock::tab_ui;

/// The least width of the row for all tabs, in points.
const ALL_TABS: f32 = 1080.0;

/// Draws the row.
pub(super) fn bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let is_narrow = ui.available_width() < ALL_TABS;
        for (index, tab) in LabTab::ALL.into_iter().enumerate() {
            if is_narrow && tab.group() == Group::HowItWorks {
                continue;
            }
            let before = index
                .checked_sub(1)
                .and_then(|index| LabTab::ALL.get(index));
            if before.is_some_and(|before| before.group() != tab.group()) {
                line_ui(ui);
            }
            if tab_ui(ui, tab.name(), tab == state.lab.tab) {
                state.lab.tab = tab;
            }
        }
        if is_narrow {
            line_ui(ui);
            more_ui(ui, state);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            results_ui(ui, state, commands);
            (state.lab.tab.page().bar)(ui, state, commands);
        });
    });
}

/// Draws the line between two groups of tabs.
fn line_ui(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(13.0, 16.0), Sense::hover());
    let stroke = (1.0, Theme::of(ui).stroke_2);
    ui.painter().vline(rect.center().x, rect.y_range(), stroke);
}

/// Draws the menu of the last group of tabs, which is named after the tab on screen if that is one of
/// them.
fn more_ui(ui: &mut Ui, state: &mut AppState) {
    let is_here = state.lab.tab.group() == Group::HowItWorks;
    let label = if is_here {
        state.lab.tab.name()
    } else {
        "More"
    };
    let name = format!("More tabs: {label}");
    let response = ui.add(Button::new(label).icon(Icon::Down).name(&name).quiet());
    Popup::menu(&response)
        .width(180.0)
        .gap(4.0)
        .accessible_name("More tabs")
        .show(|ui| {
            for tab in LabTab::ALL {
                if tab.group() != Group::HowItWorks {
                    continue;
                }
                if menu_item(ui, tab.name(), "", tab == state.lab.tab).clicked() {
                    state.lab.tab = tab;
                    ui.close();
                }
            }
        });
}

/// The minimum room to the right of the tabs for a summary, and for all the words of a tab's controls.
const MIN_NOTE: f32 = 60.0;
const MIN_WORDS: f32 = 480.0;

/// Returns whether the controls must be short to fit to the right of the tabs.
pub(in crate::lab) fn is_tight(ui: &Ui) -> bool {
    ui.available_width() < MIN_WORDS
}

/// Draws a summary, as much of it as fits to the right of the tabs.
pub(in crate::lab) fn note_ui(ui: &mut Ui, words: &str) {
    if ui.available_width() >= MIN_NOTE {
        let words = Face::Small.text(words).color(Theme::of(ui).text_2);
        ui.add(Label::new(words).truncate());
    }
}

/// Draws the button that switches between the picture and its table.
pub(in crate::lab) fn table_choice_ui(ui: &mut Ui, is_tight: bool, is_table: &mut bool) {
    let (name, short) = if *is_table {
        ("Show the picture", "Picture")
    } else {
        ("Show as a table", "Table")
    };
    let words = if is_tight { short } else { name };
    if ui.add(Button::new(words).name(name).quiet()).clicked() {
        *is_table = !*is_table;
    }
}

/// Draws the menu that exports a result, with an item for each label and its document.
pub(in crate::lab) fn export_files_ui<D: DocumentKind>(
    ui: &mut Ui,
    name: &str,
    is_there: bool,
    items: impl IntoIterator<Item = (String, D)>,
    commands: &mut Vec<Command>,
) {
    let response = ui
        .add_enabled_ui(is_there, |ui| icon_button(ui, Icon::Export, name))
        .inner;
    Popup::menu(&response)
        .width(200.0)
        .gap(4.0)
        .accessible_name(name)
        .show(|ui| {
            for (label, document) in items {
                if menu_item(ui, &label, "", false).clicked() {
                    commands.push(Command::save(document));
                }
            }
        });
}

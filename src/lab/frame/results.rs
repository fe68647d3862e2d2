//! The menu of a tab's kept results.

use egui::{Popup, Ui};

use super::bar::is_tight;
use crate::design::icons::{Icon, icon_button};
use crate::design::widgets::{Button, menu_item, scrolled};
use crate::state::{AppState, Command, KeptRun, Page, RunCommand, unix_time_secs};
use crate::ui::history::phrase;

/// The width of the menu, in points.
const WIDTH: f32 = 380.0;

/// How many results the menu lists.
const N_LISTED: usize = 20;

/// Draws the button and its menu, if the history keeps the results of this tab.
pub(super) fn results_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let tab = state.lab.tab;
    if !tab.keeps_results() {
        return;
    }
    let name = "Earlier results";
    let response = if is_tight(ui) {
        icon_button(ui, Icon::Again, name)
    } else {
        ui.add(Button::new("Results").icon(Icon::Down).name(name).quiet())
    };
    if response.clicked() {
        commands.push(Command::Run(RunCommand::List));
    }
    Popup::menu(&response)
        .width(WIDTH)
        .gap(4.0)
        .accessible_name(name)
        .show(|ui| {
            let history = &state.runs.history;
            let kept = history.results_of(tab.key());
            let sentence = if history.runs.is_none() {
                Some("Reading the history…")
            } else if kept.is_empty() {
                Some("Nothing is kept yet")
            } else {
                None
            };
            if let Some(sentence) = sentence {
                ui.add_enabled_ui(false, |ui| menu_item(ui, sentence, "", false));
                return;
            }
            scrolled(ui, |ui| {
                for result in kept.into_iter().take(N_LISTED) {
                    if result_ui(ui, result) {
                        commands.push(Command::Run(RunCommand::OpenKept(result.file.clone())));
                        ui.close();
                    }
                }
            });
            ui.separator();
            if menu_item(ui, "All in History", "", false).clicked() {
                commands.push(Command::Run(RunCommand::ShowPage(Page::History)));
                ui.close();
            }
        });
}

/// Draws a result: its name and its date. Returns whether it was chosen.
fn result_ui(ui: &mut Ui, result: &KeptRun) -> bool {
    let date = phrase(result.finished_at(), unix_time_secs());
    menu_item(ui, &result.name(), &date, false).clicked()
}

//! The keys of the Lab page.

use egui::{Key, Modifiers, Popup, Ui};

use crate::state::{AppState, Command, LabCommand, LabTab};
use crate::ui::keys::DIGITS;

/// How far each arrow key moves the selection: by rows, then by columns.
const ARROWS: [(Key, isize, isize); 4] = [
    (Key::ArrowLeft, 0, -1),
    (Key::ArrowRight, 0, 1),
    (Key::ArrowUp, -1, 0),
    (Key::ArrowDown, 1, 0),
];

/// Returns the command of the generate shortcut, which runs the experiment of the tab.
pub(in crate::ui) fn run_command(state: &AppState) -> Option<Command> {
    let tab = state.lab.tab;
    let run = Command::Lab(LabCommand::Run(tab));
    (!state.lab.is_running(tab)).then_some(run)
}

/// Returns the command with which Esc stops what is running: a sweep, or the experiment of the tab.
fn stop_command(state: &AppState) -> Option<LabCommand> {
    let mut tabs = [LabTab::Sweep, state.lab.tab].into_iter();
    let running = tabs.find(|tab| state.lab.is_running(*tab));
    running.map(LabCommand::Stop)
}

/// Esc stops what is running. Arrow keys select a cell and Enter opens it as a pane, unless a
/// control has the focus.
pub(in crate::ui) fn lab_keys_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    if Popup::is_any_open(ui) {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if let Some(stop) = stop_command(state)
        && pressed(Key::Escape)
    {
        commands.push(Command::Lab(stop));
    }
    if state.lab.tab == LabTab::Blind && state.lab.blind.is_running() {
        blind_keys_ui(ui, commands);
    }
    if matches!(
        state.lab.tab,
        LabTab::Cache | LabTab::Blind | LabTab::ByHand
    ) {
        return;
    }
    if ui.memory(|memory| memory.focused().is_some()) {
        return;
    }
    for (key, rows, columns) in ARROWS {
        if pressed(key) {
            match state.lab.tab {
                LabTab::Sweep => state.lab.move_selection(rows, columns),
                LabTab::Prompts => {
                    if let Some(run) = &mut state.lab.batch {
                        run.move_selection(rows, columns);
                    }
                }
                LabTab::Stability => {
                    if let Some(run) = &mut state.lab.stability {
                        run.move_selection(rows, columns);
                    }
                }
                LabTab::Fit => {
                    if let Some(run) = &mut state.lab.fit {
                        run.move_selection(rows, columns);
                    }
                }
                LabTab::Models => {
                    if let Some(run) = &mut state.lab.models {
                        run.move_selection(rows + columns);
                    }
                }
                LabTab::Cache | LabTab::Blind | LabTab::ByHand => {}
            }
        }
    }
    let open = match state.lab.tab {
        LabTab::Sweep => {
            let cell = state.lab.shown_cell();
            cell.map(|cell| LabCommand::OpenAsPane { cell, text: 0 })
        }
        LabTab::Prompts => {
            let selected = state.lab.batch.as_ref().and_then(|run| run.selected);
            selected.map(|(prompt, pane)| LabCommand::OpenBatchText { prompt, pane })
        }
        LabTab::Stability => {
            let run = state.lab.stability.as_ref();
            run.map(|run| LabCommand::OpenStableCell(run.shown_cell()))
        }
        LabTab::Fit => {
            let run = state.lab.fit.as_ref();
            run.map(|run| LabCommand::OpenFit { cell: run.selected })
        }
        LabTab::Cache | LabTab::Models | LabTab::Blind | LabTab::ByHand => None,
    };
    if let Some(open) = open
        && pressed(Key::Enter)
    {
        commands.push(Command::Lab(open));
    }
}

/// 1 to 4 vote for a text and 0 for none, unless a text field has the focus.
fn blind_keys_ui(ui: &Ui, commands: &mut Vec<Command>) {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if ui.text_edit_focused() {
        return;
    }
    if pressed(Key::Num0) {
        commands.push(Command::Lab(LabCommand::Vote(None)));
    }
    for (place, key) in DIGITS.into_iter().take(4).enumerate() {
        if pressed(key) {
            commands.push(Command::Lab(LabCommand::Vote(Some(place))));
        }
    }
}

//! The keys of the Lab page.

use egui::{Key, Modifiers, Popup, Ui};

use crate::lab::{LabCommand, LabTab};
use crate::state::{AppState, Command};

/// How far each arrow key moves the selection: by rows, then by columns.
const ARROWS: [(Key, isize, isize); 4] = [
    (Key::ArrowLeft, 0, -1),
    (Key::ArrowRight, 0, 1),
    (Key::ArrowUp, -1, 0),
    (Key::ArrowDown, 1, 0),
];

/// Returns the command of the generate shortcut, which runs the experiment of the tab.
pub(crate) fn run_command(state: &AppState) -> Option<Command> {
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
pub(crate) fn lab_keys_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    if Popup::is_any_open(ui) {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if let Some(stop) = stop_command(state)
        && pressed(Key::Escape)
    {
        commands.push(Command::Lab(stop));
    }
    let tab = state.lab.tab.page();
    if let Some(keys) = tab.keys {
        keys(ui, state, commands);
    }
    let Some(selection) = tab.selection else {
        return;
    };
    if ui.memory(|memory| memory.focused().is_some()) {
        return;
    }
    for (key, rows, columns) in ARROWS {
        if pressed(key) {
            (selection.step)(&mut state.lab, rows, columns);
        }
    }
    if let Some(open) = (selection.open)(&state.lab)
        && pressed(Key::Enter)
    {
        commands.push(Command::Lab(open));
    }
}

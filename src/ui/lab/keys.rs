//! The keys of the Lab page.

use egui::{Key, Modifiers, Popup, Ui};

use crate::state::{AppState, BatchRun, Command, LabCommand, LabTab};

/// How far each arrow key moves the selection: by rows, then by columns.
const ARROWS: [(Key, isize, isize); 4] = [
    (Key::ArrowLeft, 0, -1),
    (Key::ArrowRight, 0, 1),
    (Key::ArrowUp, -1, 0),
    (Key::ArrowDown, 1, 0),
];

/// The command of the shortcut that starts everything: on this page, the sweep or the fit.
pub(in crate::ui) fn run_command(state: &AppState) -> Option<Command> {
    let command = match state.lab.tab {
        LabTab::Sweep if !state.lab.is_sweeping() => LabCommand::RunSweep,
        LabTab::Prompts => LabCommand::RunBatch,
        LabTab::Fit if !state.lab.is_fitting() => LabCommand::RunFit,
        _ => return None,
    };
    Some(Command::Lab(command))
}

/// Esc stops the sweep or the fit. Arrow keys select a cell and Enter opens it as a pane, unless a control has
/// the focus.
pub(in crate::ui) fn lab_keys_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    if Popup::is_any_open(ui) {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if state.lab.is_sweeping() && pressed(Key::Escape) {
        commands.push(Command::Lab(LabCommand::StopSweep));
    }
    let is_running = state.lab.batch.as_ref().is_some_and(BatchRun::is_running);
    if state.lab.tab == LabTab::Prompts && is_running && pressed(Key::Escape) {
        commands.push(Command::Lab(LabCommand::StopBatch));
    }
    if state.lab.tab == LabTab::Fit && state.lab.is_fitting() && pressed(Key::Escape) {
        commands.push(Command::Lab(LabCommand::StopFit));
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
    };
    if let Some(open) = open
        && pressed(Key::Enter)
    {
        commands.push(Command::Lab(open));
    }
}

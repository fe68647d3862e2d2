//! The Prompts tab: the tasks and what a right answer is on the left, the table or the sweep in the
//! middle, the selected cell or prompt on the right.

mod answers;
mod any_setting;
mod cell;
mod cell_tasks;
mod choice;
mod empty;
mod overview;
mod setup;
mod sorting;
mod spellings;
mod table;
#[cfg(test)]
mod tests;

use egui::{Event, Label, Popup, Rect, Ui, vec2};

use self::setup::{foot, form_ui};
use super::document::PromptsDocument;
use super::state::{PromptsCommand, PromptsTab, SweepRun, TaskSource, TaskView, TasksRun};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::switch_part;
use crate::lab::LabCommand;
use crate::lab::frame::bar::{export_files_ui, note_ui};
use crate::lab::frame::{Columns, Selection, Tab, empty as frame_empty};
use crate::state::{AppState, Command, RunStatus, capitalize};

pub(in crate::lab) const TAB: Tab = Tab {
    bar: bar_ui,
    form: form_ui,
    foot,
    results: results_ui,
    selection: Some(Selection {
        step: |lab, rows, columns| {
            let PromptsTab { view, runs, .. } = &mut lab.prompts;
            match view {
                TaskView::Table => {
                    if let Some(run) = &mut runs.table {
                        run.move_selection(rows, columns);
                    }
                }
                TaskView::AnySetting => {
                    if let Some(run) = &mut runs.sweep {
                        run.move_selection(rows, columns);
                    }
                }
            }
        },
        open: |lab| open_command(&lab.prompts).map(LabCommand::Prompts),
    }),
    keys: Some(setup::keys_ui),
};

/// Returns the command that opens what is selected as a pane.
fn open_command(prompts: &PromptsTab) -> Option<PromptsCommand> {
    match prompts.view {
        TaskView::Table => {
            let run = prompts.runs.table.as_ref()?;
            let (task, pane) = run.selected?;
            Some(PromptsCommand::Open {
                view: TaskView::Table,
                task,
                pane,
                answer: run.shown_answer(),
            })
        }
        TaskView::AnySetting => {
            let run = prompts.runs.sweep.as_ref()?;
            let (task, pane) = (run.shown_task()?, run.shown_settings());
            let has_answers = !run.results.answers(task, pane).is_empty();
            has_answers.then(|| PromptsCommand::Open {
                view: TaskView::AnySetting,
                task,
                pane,
                answer: run.shown_answer(),
            })
        }
    }
}

/// Draws the summary, the switch between the views, and the export menu.
fn bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let PromptsTab { view, runs, .. } = &mut state.lab.prompts;
    let (is_there, summary) = match view {
        TaskView::Table => (
            runs.table.as_ref().map(|run| run.results.n_done().0 > 0),
            runs.table.as_ref().map(TasksRun::summary),
        ),
        TaskView::AnySetting => (
            runs.sweep.as_ref().map(|run| !run.reading.is_empty()),
            runs.sweep.as_ref().map(SweepRun::summary),
        ),
    };
    export_ui(ui, is_there.unwrap_or(false), commands);
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        // From right to left.
        for (choice, name) in [
            (TaskView::AnySetting, "Any setting"),
            (TaskView::Table, "Table"),
        ] {
            if switch_part(ui, name, *view == choice).clicked() {
                *view = choice;
            }
        }
    });
    if let Some(summary) = summary {
        note_ui(ui, &summary);
    }
}

/// Draws the menu of files.
fn export_ui(ui: &mut Ui, is_there: bool, commands: &mut Vec<Command>) {
    let items = PromptsDocument::ALL.map(|document| {
        let extension = document.extension().to_uppercase();
        (format!("Answers as {extension}…"), document)
    });
    export_files_ui(ui, "Export the answers", is_there, items, commands);
}

/// Draws the table or the curve, and what is selected in it.
fn results_ui(ui: &mut Ui, columns: Columns, state: &mut AppState, commands: &mut Vec<Command>) {
    match state.lab.prompts.view {
        TaskView::Table => table_ui(ui, columns, state, commands),
        TaskView::AnySetting => any_setting::show(ui, columns, state, commands),
    }
}

fn table_ui(ui: &mut Ui, columns: Columns, state: &mut AppState, commands: &mut Vec<Command>) {
    let places: Vec<usize> = state.panes.places().collect();
    let prompts = &mut state.lab.prompts;
    let fork = prompts.runs.fork.as_ref();
    let Some(run) = &mut prompts.runs.table else {
        empty::table_ui(ui, columns.middle, &places);
        frame_empty::texts_ui(ui, columns.right, "The answers of the cell you select");
        return;
    };
    if let RunStatus::Failed { error } = &run.status
        && run.results.n_done().0 == 0
    {
        sentence_ui(ui, columns.middle, &capitalize(error));
        return;
    }
    table::show(&mut child_ui(ui, columns.middle, "table"), run, commands);
    let mut right = child_ui(ui, columns.right, "cell");
    cell::show(&mut right, run, fork, commands);
}

/// Draws a sentence in the middle of an area.
fn sentence_ui(ui: &mut Ui, area: Rect, words: &str) {
    let height = 2.0 * Face::Body.row();
    let lines = Rect::from_center_size(area.center(), vec2(area.width(), height));
    let words = Face::Body.text(words).color(Theme::of(ui).text_2);
    child_ui(ui, lines, "sentence").vertical_centered(|ui| ui.add(Label::new(words).wrap()));
}

/// Uses a pasted list if there is none yet, unless a field takes it.
pub(super) fn take_pasted(ui: &Ui, prompts: &mut PromptsTab) {
    let form = &prompts.form;
    let is_empty = form.source == TaskSource::Typed && form.typed.trim().is_empty();
    if !is_empty || ui.text_edit_focused() || Popup::is_any_open(ui) {
        return;
    }
    let pasted = ui.input(|input| {
        input.events.iter().find_map(|event| match event {
            Event::Paste(text) if !text.trim().is_empty() => Some(text.clone()),
            _ => None,
        })
    });
    if let Some(text) = pasted {
        prompts.form.typed = text;
    }
}

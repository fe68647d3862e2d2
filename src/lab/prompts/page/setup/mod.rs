//! The left column: the tasks, what a right answer is, and how many answers to draw.

mod checks;
mod foot;
mod tasks;

use egui::{Id, Key, Label, Modifiers, Popup, ScrollArea, Ui};

use self::checks::checks_ui;
pub(super) use self::foot::foot;
use self::tasks::tasks_ui;
use super::{empty, take_pasted};
use crate::analysis::sweep::Parameter;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, cut_note, field_frame, long_text, menu_item};
use crate::generation::formatting::{counted, grouped};
use crate::lab::LabTab;
use crate::lab::frame::setup::{axis_ui, number_ui, row_ui};
use crate::lab::prompts::figures::tasks::TaskFile;
use crate::lab::prompts::state::{N_MAX_ANSWERS, N_MAX_TOKENS, StopAt, TaskSource, TaskView};
use crate::lab::prompts::{PromptsTab, TasksForm};
use crate::state::{AppState, Command, PathPurpose};

/// Draws the form, or where to get tasks from.
pub(super) fn form_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    take_pasted(ui, &mut state.lab.prompts);
    state.lab.prompts.form.prepare();
    let form = &state.lab.prompts.form;
    let is_empty = form.source == TaskSource::Typed && form.typed.trim().is_empty();
    if is_empty {
        empty::sources_ui(ui, &mut state.lab.prompts, commands);
    } else {
        tasks_form_ui(ui, state, commands);
    }
}

/// The shortcut of a file opens a list of tasks here.
pub(super) fn keys_ui(ui: &Ui, _state: &AppState, commands: &mut Vec<Command>) {
    if ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::O)) {
        commands.push(ask_file());
    }
}

/// Returns the command that asks for a file of tasks.
pub(super) fn ask_file() -> Command {
    Command::AskPath(PathPurpose::Lab(LabTab::Prompts))
}

fn tasks_form_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    tasks_ui(ui, &state.lab.prompts, commands);
    typed_ui(ui, &mut state.lab.prompts.form);
    template_ui(ui, &mut state.lab.prompts.form);
    ui.add_space(2.0);
    checks_ui(ui, &mut state.lab.prompts.form);
    ui.add_space(2.0);
    let PromptsTab { view, form, .. } = &mut state.lab.prompts;
    match view {
        TaskView::Table => {
            number_ui(
                ui,
                "Answers to each",
                &mut form.n_answers,
                1..=N_MAX_ANSWERS,
            );
        }
        TaskView::AnySetting => {
            ui.label(heading(ui, "What to vary"));
            axis_ui(ui, "Number", &Parameter::all(), &mut form.axis);
        }
    }
    number_ui(ui, "Tokens, at most", &mut form.n_tokens, 1..=N_MAX_TOKENS);
    stop_ui(ui, &mut form.stop);
    if let Some(words) = cost_words(state) {
        let words = Face::Small.text(words).color(Theme::of(ui).text_2);
        ui.add(Label::new(words).wrap());
    }
}

/// Returns the title of a part of the form.
fn heading(ui: &Ui, words: &str) -> egui::RichText {
    Face::SmallMedium.text(words).color(Theme::of(ui).text_1)
}

/// Draws the field of the typed list, if it is the source.
fn typed_ui(ui: &mut Ui, form: &mut TasksForm) {
    if form.source == TaskSource::Typed {
        ScrollArea::vertical()
            .id_salt("typed")
            .max_height(150.0)
            .show(ui, |ui| list_field_ui(ui, &mut form.typed));
    }
}

/// Draws the field of a list. It keeps the focus when the first character makes room for the form.
pub(super) fn list_field_ui(ui: &mut Ui, typed: &mut String) {
    let edit = long_text(typed)
        .id(Id::unique("list of tasks"))
        .hint_text("One task per line, or CSV or JSON Lines")
        .frame(field_frame(ui))
        .desired_rows(4)
        .desired_width(f32::INFINITY);
    ui.add(edit).accessible_name("List of tasks");
    cut_note(ui, typed);
}

/// Draws the field of the template.
fn template_ui(ui: &mut Ui, form: &mut TasksForm) {
    ui.label(heading(ui, "Prompt"));
    let has_prompts = form
        .file()
        .and_then(Result::ok)
        .is_some_and(TaskFile::has_prompts);
    let hint = if has_prompts {
        "The file’s own prompts"
    } else {
        "A template, such as {question}"
    };
    let edit = long_text(&mut form.template)
        .font(Face::Code.font())
        .hint_text(hint)
        .frame(field_frame(ui))
        .desired_rows(1)
        .desired_width(f32::INFINITY);
    ScrollArea::vertical()
        .id_salt("template")
        .max_height(96.0)
        .show(ui, |ui| ui.add(edit).accessible_name("Prompt"));
}

/// Draws the menu of where an answer ends.
fn stop_ui(ui: &mut Ui, stop: &mut StopAt) {
    row_ui(ui, "Stop", |ui| {
        let name = format!("Stop: {}", stop.name());
        let response = ui.add(Chip::new(stop.name()).name(&name).chevron());
        Popup::menu(&response)
            .width(180.0)
            .gap(4.0)
            .accessible_name("Stop")
            .show(|ui| {
                for choice in StopAt::ALL {
                    if menu_item(ui, choice.name(), "", choice == *stop).clicked() {
                        *stop = choice;
                    }
                }
            });
    });
}

/// Says what a run would do: "40 tasks × 16 answers of at most 12 tokens."
fn cost_words(state: &AppState) -> Option<String> {
    let PromptsTab { view, form, .. } = &state.lab.prompts;
    let n_tasks = form.tasks().ok()?.tasks.len();
    if n_tasks == 0 {
        return None;
    }
    let tasks = counted(n_tasks, "task");
    if *view == TaskView::AnySetting {
        let n_values = form.axis.axis().ok()?.values().len();
        let values = counted(n_values, "value");
        return Some(format!(
            "{tasks} at {values}, exactly: each prompt is read once, and no text is drawn."
        ));
    }
    let panes = state.panes.iter();
    let n_each = panes.map(|pane| {
        if pane.settings.chain.is_greedy() {
            1
        } else {
            form.n_answers
        }
    });
    let answers = counted(n_each.sum(), "answer");
    let tokens = grouped(form.n_tokens as f64);
    Some(format!("{tasks} × {answers} of at most {tokens} tokens."))
}

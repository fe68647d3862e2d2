//! The left column: the tasks, what a right answer is, and how many answers to draw.

mod checks;
mod foot;
mod tasks;

use egui::{Id, Key, Label, Modifiers, ScrollArea, Ui};

use self::checks::checks_ui;
pub(super) use self::foot::foot;
use self::tasks::tasks_ui;
use super::{empty, take_pasted};
use crate::analysis::sweep::{Axis, Parameter};
use crate::decoding::FilterKind;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, cut_note, field_frame, long_text, switch_part};
use crate::generation::formatting::{counted, grouped};
use crate::lab::LabTab;
use crate::lab::frame::setup::{axes_ui, menu_choices_ui, menu_row_ui, number_ui, row_ui};
use crate::lab::prompts::figures::tasks::TaskFile;
use crate::lab::prompts::state::{N_MAX_ANSWERS, N_MAX_TOKENS, StopAt, TaskSource, TaskView};
use crate::lab::prompts::{PromptsTab, TasksForm, TasksPlan};
use crate::state::{AppState, Command, PathPurpose};

/// Draws the form, or where to get tasks from.
pub(super) fn form_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    take_pasted(ui, &mut state.lab.prompts);
    state.lab.prompts.form.prepare();
    if state.lab.prompts.form.is_preparing() {
        ui.request_repaint();
    }
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
    if *view == TaskView::AnySetting {
        ui.label(heading(ui, "What to vary"));
        axes_ui(ui, &Parameter::all(), &mut form.axis, &mut form.columns);
        draws_ui(ui, form);
    }
    if *view == TaskView::Table || form.n_swept_answers() > 0 {
        let answers = &mut form.n_answers;
        number_ui(ui, "Answers to each", answers, 1..=N_MAX_ANSWERS);
    }
    number_ui(ui, "Tokens, at most", &mut form.n_tokens, 1..=N_MAX_TOKENS);
    stop_ui(ui, &mut form.stop);
    if let Some(words) = cost_words(state) {
        let words = Face::Small.text(words).color(Theme::of(ui).text_2);
        ui.add(Label::new(words).wrap());
    }
}

/// Draws the switch between probabilities and drawn answers. Without it, answers are drawn.
fn draws_ui(ui: &mut Ui, form: &mut TasksForm) {
    if !form.tasks().is_ok_and(|prepared| prepared.is_exact) {
        return;
    }
    row_ui(ui, "Right answers", |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        // From right to left.
        for (choice, name) in [(true, "Drawn"), (false, "Exact")] {
            if switch_part(ui, name, form.draws_values == choice).clicked() {
                form.draws_values = choice;
            }
        }
    });
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
    let label = format!("Stop: {}", stop.name());
    let chip = Chip::new(stop.name()).name(&label);
    menu_row_ui(ui, "Stop", chip, ("Stop", 180.0), |ui| {
        let choices = StopAt::ALL.map(|choice| (choice, choice.name()));
        menu_choices_ui(ui, choices, stop);
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
        return sweep_words(form, &tasks, state.panes.len());
    }
    let panes = state.panes.iter();
    let n_each = panes.map(|pane| TasksPlan::n_answers_of(form.n_answers, &pane.settings.chain));
    let answers = counted(n_each.sum(), "answer");
    let tokens = grouped(form.n_tokens as f64);
    Some(format!("{tasks} × {answers} of at most {tokens} tokens."))
}

/// Says what a sweep would do, and whether its answers may end within a thought.
fn sweep_words(form: &TasksForm, tasks: &str, n_panes: usize) -> Option<String> {
    let (axis, columns) = form.axes().ok()?;
    let n_columns = columns.as_ref().map_or(1, |axis| axis.values().len());
    let n_values = axis.values().len() * n_columns;
    let values = counted(n_values, if columns.is_some() { "cell" } else { "value" });
    let n_answers = form.n_swept_answers();
    if n_answers == 0 {
        return Some(format!(
            "{tasks} at {values}, exactly: each prompt is read once, and no text is drawn."
        ));
    }
    let n_all = (n_values + n_panes) * n_answers;
    let (answers, tokens) = (counted(n_all, "answer"), grouped(form.n_tokens as f64));
    let panes = counted(n_panes, "pane");
    let words = format!(
        "{tasks} × {answers} of at most {tokens} tokens, at {values} and under {panes}, all with \
         the same coins."
    );
    let budget = Parameter::Filter(FilterKind::ThinkingBudget, 0);
    let axes = std::iter::once(&axis).chain(&columns);
    let budgets = axes.filter(|axis| axis.parameter == budget);
    let largest = budgets.flat_map(Axis::values).copied().fold(0.0, f64::max);
    if largest >= form.n_tokens as f64 {
        let largest = grouped(largest);
        return Some(format!(
            "{words} A budget of {largest} leaves no room for the answer: allow more tokens."
        ));
    }
    Some(words)
}

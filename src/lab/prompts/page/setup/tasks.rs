//! Where the tasks come from: a file, one of our lists, or the field.

use egui::{Align, Frame, Label, Layout, Margin, Popup, Ui};

use super::{ask_file, heading};
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, menu_item};
use crate::generation::formatting::counted;
use crate::lab::LabCommand;
use crate::lab::prompts::state::{EXAMPLES, TaskSource};
use crate::lab::prompts::{PromptsCommand, PromptsTab, TasksForm};
use crate::state::{Command, capitalize};

/// The maximum number of notes that are shown, and of columns that are named.
const N_NOTES: usize = 4;
const N_COLUMNS: usize = 6;

/// Draws the card of the list, with mistakes and notes below it.
pub(super) fn tasks_ui(ui: &mut Ui, prompts: &PromptsTab, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.label(heading(ui, "Tasks"));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let open = Button::new("Open a file…").icon(Icon::File).quiet();
            if ui.add(open).clicked() {
                commands.push(ask_file());
            }
        });
    });
    let form = &prompts.form;
    Frame::new()
        .fill(theme.surface_2)
        .corner_radius(8)
        .inner_margin(Margin::symmetric(2, 6))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 2.0;
            source_ui(ui, form, commands);
            if let Some(words) = list_words(form) {
                // Aligned with the words of the chip.
                let inside = Margin::symmetric(8, 0);
                Frame::new().inner_margin(inside).show(ui, |ui| {
                    let words = Face::Small.text(words).color(theme.text_3);
                    ui.add(Label::new(words).wrap());
                });
            }
        });
    notes_ui(ui, form);
}

/// Draws what is wrong with the list, or what should be known about it.
fn notes_ui(ui: &mut Ui, form: &TasksForm) {
    let theme = Theme::of(ui);
    match form.tasks() {
        Err(error) => {
            let color = if form.is_preparing() {
                theme.text_2
            } else {
                theme.error
            };
            let words = Face::Small.text(capitalize(error)).color(color);
            ui.add(Label::new(words).wrap());
        }
        Ok(prepared) => {
            for note in prepared.notes.iter().take(N_NOTES) {
                let words = Face::Small.text(note).color(theme.text_2);
                ui.add(Label::new(words).wrap());
            }
        }
    }
}

/// Draws the menu of lists.
fn source_ui(ui: &mut Ui, form: &TasksForm, commands: &mut Vec<Command>) {
    let current = source_name(&form.source);
    let name = format!("Tasks: {current}");
    let width = ui.available_width();
    let chip = Chip::new(&current).name(&name).quiet().chevron();
    let response = ui.add(chip.max_width(width));
    let mut send = |command| commands.push(Command::Lab(LabCommand::Prompts(command)));
    let mut is_asked = false;
    Popup::menu(&response)
        .width(260.0)
        .gap(4.0)
        .accessible_name("Tasks")
        .show(|ui| {
            let is_typed = form.source == TaskSource::Typed;
            if menu_item(ui, TYPED, "", is_typed).clicked() {
                send(PromptsCommand::UseTyped);
            }
            for (index, example) in EXAMPLES.iter().enumerate() {
                let selected = form.source == TaskSource::Example(index);
                if menu_item(ui, example.name, example.suits, selected).clicked() {
                    send(PromptsCommand::UseExample(index));
                }
            }
            is_asked = menu_item(ui, "Open a file…", "", false).clicked();
        });
    if is_asked {
        commands.push(ask_file());
    }
}

const TYPED: &str = "Typed or pasted";

fn source_name(source: &TaskSource) -> String {
    match source {
        TaskSource::Typed => TYPED.to_owned(),
        TaskSource::File(path) => {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        }
        TaskSource::Example(index) => {
            let example = EXAMPLES.get(*index);
            example.map_or("", |example| example.name).to_owned()
        }
    }
}

/// "40 tasks · columns question, answer".
fn list_words(form: &TasksForm) -> Option<String> {
    let file = form.file()?.ok()?;
    let tasks = counted(file.n_tasks(), "task");
    let shown = file.columns.iter().take(N_COLUMNS).cloned();
    let mut columns = shown.collect::<Vec<String>>().join(", ");
    if file.columns.len() > N_COLUMNS {
        columns.push_str(", …");
    }
    Some(match file.columns.len() {
        0 => tasks,
        1 => format!("{tasks} · column {columns}"),
        _ => format!("{tasks} · columns {columns}"),
    })
}

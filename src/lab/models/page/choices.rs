//! What to compare: the other model, how it computes, and the text that both read.

use egui::{Label, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, cut_note, field_frame, long_text, menu_item};
use crate::lab::LabTab;
use crate::lab::frame::setup::{menu_choices_ui, menu_row_ui};
use crate::lab::models::ModelsForm;
use crate::lab::models::state::{compared_pane, other_model_memory, other_models};
use crate::state::{AppState, Command, PathPurpose};

const TYPED: &str = "a typed text";

/// Draws a row for each choice.
pub(super) fn choices_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.y = 6.0;
    let heading = Face::SmallMedium.text("A is the loaded model. B is");
    ui.label(heading.color(Theme::of(ui).text_1));
    model_ui(ui, state, commands);
    way_ui(ui, state);
    text_ui(ui, state);
    if let Some(words) = other_model_memory(state) {
        let words = Face::Small.text(words).color(Theme::of(ui).text_2);
        ui.add(Label::new(words).wrap());
    }
}

fn model_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let others = other_models(state);
    let chosen = state.lab.models.form.source.clone();
    let current = others.iter().find(|(source, _)| *source == chosen);
    let name = current.map_or("The loaded model", |(_, name)| name.as_str());
    let label = format!("Other model: {name}");
    let chip = Chip::new(name).name(&label).max_width(210.0);
    menu_row_ui(ui, "Model", chip, ("Other model", 280.0), |ui| {
        for (source, name) in &others {
            if menu_item(ui, name, "", *source == chosen).clicked() {
                state.lab.models.form.source.clone_from(source);
            }
        }
        ui.separator();
        if menu_item(ui, "Open a model file…", "", false).clicked() {
            commands.push(Command::AskPath(PathPurpose::Lab(LabTab::Models)));
        }
    });
}

fn way_ui(ui: &mut Ui, state: &mut AppState) {
    let way = &mut state.lab.models.form.way;
    let name = ModelsForm::name_of_way(*way);
    let label = format!("Computed {name}");
    let chip = Chip::new(name).name(&label);
    menu_row_ui(ui, "Computed", chip, ("Computed", 220.0), |ui| {
        menu_choices_ui(ui, ModelsForm::WAYS, way);
    });
}

fn text_ui(ui: &mut Ui, state: &mut AppState) {
    let panes = state.panes.with_text();
    let shown = compared_pane(state).map(|pane| pane.id);
    let form = &mut state.lab.models.form;
    let name = panes.iter().find(|(id, _)| Some(*id) == shown);
    let name = match name {
        Some((_, name)) if !form.is_typed => name.as_str(),
        None if !form.is_typed => "none yet",
        _ => TYPED,
    };
    let label = format!("Text of {name}");
    let chip = Chip::new(name).name(&label).max_width(210.0);
    menu_row_ui(ui, "Text of", chip, ("Text of", 220.0), |ui| {
        for (id, name) in &panes {
            let selected = !form.is_typed && shown == Some(*id);
            if menu_item(ui, name, "", selected).clicked() {
                (form.pane, form.is_typed) = (Some(*id), false);
            }
        }
        if menu_item(ui, "A typed text", "", form.is_typed).clicked() {
            form.is_typed = true;
        }
    });
    if form.is_typed {
        let edit = long_text(&mut form.typed)
            .hint_text("The text that both models read")
            .frame(field_frame(ui))
            .desired_rows(4)
            .desired_width(f32::INFINITY);
        ui.add(edit).accessible_name("Text to compare");
        cut_note(ui, &form.typed);
    }
}

//! A row of the models dialog for a model on this computer: its name, facts and actions.

use egui::{Color32, Label, Sense, Ui, vec2};

use super::row_frame::{row_frame_ui, sentence_ui};
use super::words::facts;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, progress_bar};
use crate::state::{Command, ModelRow, ModelRowStatus, ModelsCommand, capitalize, unix_time_secs};

/// Draws a row.
pub(super) fn row_ui(ui: &mut Ui, row: &ModelRow, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let actions_ui = |ui: &mut Ui| actions_ui(ui, row, commands);
    row_frame_ui(ui, 0.0, actions_ui, |ui| words_ui(ui, row));
    match &row.status {
        ModelRowStatus::Loading { fraction } => loading_ui(ui, *fraction),
        ModelRowStatus::Refused { reason } => sentence_ui(ui, &capitalize(reason), theme.error),
        ModelRowStatus::Missing { reason } => sentence_ui(ui, &capitalize(reason), theme.text_3),
        ModelRowStatus::NeedsConfirmation { warning } => {
            sentence_ui(ui, &capitalize(warning), theme.warning);
        }
        ModelRowStatus::Closed | ModelRowStatus::Inspecting | ModelRowStatus::InUse => {}
    }
    if let Some(limits) = row.limits {
        sentence_ui(ui, limits, theme.text_2);
    }
    for warning in row.load_warning.iter().flat_map(|warning| warning.lines()) {
        sentence_ui(ui, &capitalize(warning), theme.warning);
    }
}

fn words_ui(ui: &mut Ui, row: &ModelRow) {
    let theme = Theme::of(ui);
    let (name_color, facts_color): (Color32, Color32) = match row.status {
        ModelRowStatus::Missing { .. } => (theme.disabled, theme.disabled),
        _ => (theme.text_1, theme.text_2),
    };
    let name = Face::Medium.text(&row.name).color(name_color);
    let name = ui.add(Label::new(name).truncate().sense(Sense::hover()));
    if let Some(path) = &row.path {
        name.on_hover_text(path.display().to_string());
    }
    let facts = facts(row, unix_time_secs());
    let facts = Face::Small.text(facts).color(facts_color);
    ui.add(Label::new(facts).truncate());
}

/// Draws the row's actions from right to left.
fn actions_ui(ui: &mut Ui, row: &ModelRow, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let is_in_use = row.status == ModelRowStatus::InUse;
    let blocked = row.unload_blocked.filter(|_| is_in_use);
    let mut action_ui = |ui: &mut Ui, label: &str, quiet: bool, command: Command| {
        let name = format!("{label} {}", row.name);
        let button = Button::new(label).name(&name);
        let button = if quiet { button.quiet() } else { button };
        let response = ui.add_enabled(blocked.is_none(), button);
        if response.clicked() {
            commands.push(command);
        }
        response.on_disabled_hover_text(blocked.unwrap_or_default());
    };
    let open = match &row.path {
        Some(path) => Command::Models(ModelsCommand::Open(path.clone())),
        None => Command::LoadEmbeddedModel,
    };
    match (&row.status, &row.path) {
        (ModelRowStatus::Closed, _) => action_ui(ui, "Open", false, open),
        (ModelRowStatus::Refused { .. }, path) => {
            action_ui(ui, "Try again", false, open);
            if let Some(path) = path {
                let forget = ModelsCommand::Forget(path.clone());
                action_ui(ui, "Forget", true, Command::Models(forget));
            }
        }
        (ModelRowStatus::Missing { .. }, Some(path)) => {
            let forget = ModelsCommand::Forget(path.clone());
            action_ui(ui, "Forget", true, Command::Models(forget));
        }
        (ModelRowStatus::Missing { .. }, None) => {}
        (ModelRowStatus::Inspecting, _) => {
            let cancel = Command::Models(ModelsCommand::CancelOpening);
            action_ui(ui, "Cancel", false, cancel);
            ui.label(Face::Small.text("Inspecting").color(theme.text_2));
        }
        (ModelRowStatus::NeedsConfirmation { .. }, _) => {
            let cancel = Command::Models(ModelsCommand::CancelOpening);
            action_ui(ui, "Cancel", true, cancel);
            let open = Command::Models(ModelsCommand::OpenAnyway);
            action_ui(ui, "Open anyway", false, open);
        }
        (ModelRowStatus::Loading { .. }, _) => {
            let cancel = Command::Models(ModelsCommand::CancelLoading);
            action_ui(ui, "Cancel", false, cancel);
        }
        (ModelRowStatus::InUse, _) => {
            let unload = Command::Models(ModelsCommand::Unload);
            action_ui(ui, "Unload", true, unload);
            ui.add_space(4.0);
            ui.label(Face::Small.text("In use").color(theme.text_2));
            let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
            Icon::Check.paint(ui.painter(), rect, theme.text_2);
        }
    }
}

fn loading_ui(ui: &mut Ui, fraction: f32) {
    let theme = Theme::of(ui);
    progress_bar(ui, fraction);
    let words = format!("Loading {:.0} %", fraction * 100.0);
    ui.label(Face::Small.text(words).color(theme.text_2));
    ui.add_space(10.0);
}

//! The menu of the model button: the latest models, and whether other programs can ask.

use egui::{Popup, PopupCloseBehavior, Response, Ui};

use super::keys::key_words;
use super::listening::settings_ui;
use super::models::count_words;
use crate::design::widgets::{menu_item, scrolled};
use crate::state::{Action, AppState, Command, ModelRow, ModelRowStatus, Models, ModelsCommand};

/// How many models are listed.
const N_MODELS: usize = 3;

const WIDTH: f32 = 340.0;

/// Draws the menu below the button while it is open.
pub(super) fn model_menu_ui(
    ui: &Ui,
    button: &Response,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let keys = key_words(ui, Action::ShowModels);
    Popup::menu(button)
        .width(WIDTH)
        .gap(4.0)
        // The switch and the choices below it leave the menu open.
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Model")
        .show(|ui| {
            scrolled(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for row in offered(&state.models) {
                    let is_in_use = row.status == ModelRowStatus::InUse;
                    if menu_item(ui, &row.name, &facts(&row), is_in_use).clicked() {
                        commands.extend((!is_in_use).then(|| open(&row)));
                        ui.close();
                    }
                }
                if menu_item(ui, "Models…", &keys, false).clicked() {
                    commands.push(Command::Models(ModelsCommand::ShowDialog));
                    ui.close();
                }
                ui.add_space(4.0);
                ui.separator();
                ui.add_space(4.0);
                let margin = egui::Margin::symmetric(10, 2);
                egui::Frame::new().inner_margin(margin).show(ui, |ui| {
                    settings_ui(ui, &mut state.runs.listening, commands);
                });
            });
        });
}

/// Returns the model in use, the others that were used last, and the built-in one.
fn offered(models: &Models) -> Vec<ModelRow> {
    let is_in_use = |row: &ModelRow| row.status == ModelRowStatus::InUse;
    let (mut in_use, others): (Vec<_>, Vec<_>) = models.rows().into_iter().partition(is_in_use);
    let (built_in, recent): (Vec<_>, Vec<_>) = (others.into_iter())
        .filter(|row| row.path.is_none() || row.opened_at.is_some())
        .partition(|row| row.path.is_none());
    let n_recent = N_MODELS.saturating_sub(in_use.len() + built_in.len());
    in_use.extend(recent.into_iter().take(n_recent));
    in_use.extend(built_in);
    in_use
}

/// "135 M · Q8"
fn facts(row: &ModelRow) -> String {
    let size = row.n_params.map(count_words);
    let format = match row.path {
        Some(_) => row.quantization.clone(),
        None => "built in".to_owned(),
    };
    let facts = size.into_iter().chain([format]);
    facts
        .filter(|fact| !fact.is_empty())
        .collect::<Vec<_>>()
        .join(" · ")
}

fn open(row: &ModelRow) -> Command {
    match &row.path {
        Some(path) => Command::Models(ModelsCommand::Open(path.clone())),
        None => Command::LoadEmbeddedModel,
    }
}

//! The choice of the second model, which drafts tokens for the main model or guides it.

use egui::{Label, Ui};

use super::draw::title_line_ui;
use super::number_line::error_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::state::{AppState, Command, PathPurpose, SecondModelCommand};

/// The maximum width of the name, which leaves room for the buttons.
const NAME: f32 = 170.0;

/// Draws the name of the second model, and buttons to choose another one and to unload it. While
/// one is being loaded, draws the progress and a button to cancel.
pub(super) fn second_model_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let second = &state.models.second;
    title_line_ui(ui, "Model", |ui| {
        let name = match (second.loading(), second.info()) {
            (Some(fraction), _) => format!("Loading {:.0} %", fraction * 100.0),
            (None, Some(info)) => info.name.clone(),
            (None, None) => "None".to_owned(),
        };
        let name = Face::Small.text(name).color(Theme::of(ui).text_1);
        let label = |ui: &mut Ui| {
            ui.set_max_width(NAME);
            ui.add(Label::new(name).truncate());
        };
        ui.scope(label);
        ui.add_space(4.0);
        if second.loading().is_some() {
            let button = ui.add(
                Button::new("Cancel")
                    .name("Cancel the second model")
                    .quiet(),
            );
            if button.clicked() {
                commands.push(Command::SecondModel(SecondModelCommand::Cancel));
            }
            return;
        }
        let tip = "Opens a GGUF file with a smaller model that has the same vocabulary. It stays until \
                   a different main model is opened. The built-in model comes with one.";
        let button = ui.add(Button::new("Choose a file…").quiet());
        if button.on_hover_text(tip).clicked() {
            commands.push(Command::AskPath(PathPurpose::SecondModel));
        }
        if second.is_chosen() {
            let button = ui.add(
                Button::new("Unload")
                    .name("Unload the second model")
                    .quiet(),
            );
            if button
                .on_hover_text(
                    "Frees its memory, and goes back to the one that comes with the main model, if any",
                )
                .clicked()
            {
                commands.push(Command::SecondModel(SecondModelCommand::Unload));
            }
        }
    });
    if let Some(error) = second.error() {
        error_ui(ui, error);
    }
}

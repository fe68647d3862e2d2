//! The choice of the second model, which drafts or guides.

use egui::{Label, Ui};

use super::draw::title_line_ui;
use super::number_line::error_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::state::{AppState, Command, PathPurpose, SecondModel};

/// Draws the name of the second model, and a button to choose another.
pub(super) fn second_model_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let second = &state.second_model;
    title_line_ui(ui, "Model", |ui| {
        let name = match second {
            SecondModel::Ready(info) => info.name.as_str(),
            SecondModel::Loading => "Loading…",
            SecondModel::Absent | SecondModel::Failed(_) => "None",
        };
        let name = Face::Small.text(name).color(Theme::of(ui).text_1);
        ui.add(Label::new(name).truncate());
        let tip = "Opens a GGUF file with a smaller model that has the same vocabulary. It stays until \
                   another first model is opened.";
        let button = ui.add(Button::new("Choose a file…").quiet());
        if button.on_hover_text(tip).clicked() {
            commands.push(Command::AskPath(PathPurpose::SecondModel));
        }
    });
    if let SecondModel::Failed(error) = second {
        error_ui(ui, error);
    }
}

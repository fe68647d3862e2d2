//! The bar of an opened run, in place of the prompt: what is shown, and what can be done with it.

use egui::{Align, Label, Layout, Popup, Rect, Stroke, StrokeKind, Ui, vec2};

use crate::analysis::replay::contradiction_words;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, menu_item};
use crate::state::{Action, AppState, Command, OpenedRun, RunCommand, unix_time_secs};
use crate::ui::history::{phrase, program_name};
use crate::ui::keys::key_words;

/// The height of the bar.
pub(super) const RUN_BAR: f32 = 40.0;

/// Draws the bar.
pub(super) fn run_bar_ui(
    ui: &mut Ui,
    rect: Rect,
    opened: &OpenedRun,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let theme = Theme::of(ui);
    ui.painter().rect_filled(rect, 8, theme.surface_1);
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().rect_stroke(rect, 8, edge, StrokeKind::Inside);
    let mut ui = child_ui(ui, rect.shrink2(vec2(14.0, 6.0)), "run bar");
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let close = Button::new("Close").quiet().icon(Icon::Close).hint("Esc");
        if ui.add(close.name("Close the run")).clicked() {
            commands.push(Command::Run(RunCommand::Close));
        }
        let is_request = opened.header.request.is_some();
        let adopt = if is_request {
            "Continue from here"
        } else {
            "Use these settings"
        };
        let hint = "Keep this run’s prompt and settings, and continue from here";
        if ui
            .add(Button::new(adopt).quiet())
            .on_hover_text(hint)
            .clicked()
        {
            commands.push(Command::Run(RunCommand::UseSettings));
        }
        if !is_request {
            verify_in_ui(ui, state, commands);
        }
        verify_ui(ui, state, commands);
        if is_request {
            write_again_ui(ui, commands);
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let (icon, _) = ui.allocate_exact_size(vec2(16.0, 16.0), egui::Sense::hover());
            let found = state.runs.contradiction();
            let (sign, color) = match (found, &opened.header.request) {
                (Some(_), _) => (Icon::Warning, theme.error),
                (None, Some(_)) => (Icon::Listen, theme.text_2),
                (None, None) => (Icon::File, theme.text_2),
            };
            sign.paint(ui.painter(), icon, color);
            let name = match &opened.header.request {
                Some(request) => format!("Request, {}", phrase(request.asked_at, unix_time_secs())),
                None => opened.name.clone(),
            };
            let name = Face::Strong.text(name).color(theme.text_1);
            ui.add(Label::new(name).truncate());
            if let Some(found) = found {
                let words = format!("contradicts itself, {}", contradiction_words(found));
                let label = Label::new(Face::Small.text(&words).color(theme.text_2)).truncate();
                ui.add(label).on_hover_text(words);
                return;
            }
            let writer = state.opened_model_words();
            let program = opened.header.request.as_ref();
            let program = program.map(|request| program_name(request.program.as_deref()));
            let words = match writer {
                Some(model) if let Some(program) = &program => {
                    format!("asked by {program}, answered by {model}")
                }
                Some(model) => format!("written by {model}; no model needed"),
                None => "shown as it was written; no model needed".to_owned(),
            };
            ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).truncate());
            let words = Face::Small.text(&opened.what_if_words).color(theme.text_3);
            ui.add(Label::new(words).truncate());
        });
    });
}

/// Draws the button that writes the answer to a request again.
fn write_again_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    let keys = key_words(ui, Action::Generate);
    let button = Button::new("Write again in four settings").primary();
    let hint = "Keep this answer, and write three more from the same prompt with the same coins: \
                greedy, the settings that you changed or top-p, and pure sampling";
    let button = button.icon(Icon::Play).hint(&keys);
    if ui.add(button).on_hover_text(hint).clicked() {
        commands.push(Command::Run(RunCommand::WriteAgain));
    }
}

/// Draws the menu of other number formats in which the run can be verified.
fn verify_in_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let formats = state.runs.other_formats(&state.panes, &state.models);
    if formats.is_empty() || state.runs.verifying_words(&state.panes).is_some() {
        return;
    }
    let button = Button::new("Verify in…").quiet();
    let hint = "Regenerate this run in another number format to see where that makes a \
                difference. Reloads the model";
    let response = ui.add(button).on_hover_text(hint);
    Popup::menu(&response)
        .width(220.0)
        .gap(4.0)
        .accessible_name("Verify in another number format")
        .show(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for other in formats {
                if menu_item(ui, &other.name, "", false).clicked() {
                    commands.push(Command::Run(RunCommand::VerifyIn(other)));
                    ui.close();
                }
            }
        });
}

/// Draws the button that verifies the run, or the progress.
fn verify_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if let Some(words) = state.runs.verifying_words(&state.panes) {
        if ui
            .add(Button::new("Cancel").name("Cancel verifying"))
            .clicked()
        {
            commands.push(Command::Run(RunCommand::EndVerification));
        }
        ui.label(Face::Small.text(words).color(Theme::of(ui).text_2));
        return;
    }
    let verify = Button::new("Verify").icon(Icon::Check).hint("V");
    let hint = "Regenerate this run and compare every number";
    if ui.add(verify).on_hover_text(hint).clicked() {
        commands.push(Command::Run(RunCommand::Verify));
    }
}

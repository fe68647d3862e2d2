//! The row above results from the history, which says what they are, runs them again and closes them.

use egui::{Align, Label, Layout, Rect, Ui, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::lab::again::AgainRefusal;
use crate::lab::{KeptResult, LabCommand};
use crate::state::{AppState, Command, unix_time_secs};
use crate::ui::history::phrase;

/// The height of the row.
const ROW: f32 = 40.0;

/// Draws the row at the top of the results, if they are from the history. Returns the rest of the
/// area.
pub(super) fn kept_ui(
    ui: &mut Ui,
    results: Rect,
    state: &AppState,
    commands: &mut Vec<Command>,
) -> Rect {
    let tab = state.lab.tab;
    let Some(kept) = state.lab.kept.as_ref().filter(|kept| kept.tab == tab) else {
        return results;
    };
    let (row, rest) = results.split_top_bottom_at_y(results.top() + ROW);
    let theme = Theme::of(ui);
    ui.painter()
        .rect_filled(row.shrink(1.0), 0, theme.surface_2);
    let mut row = child_ui(ui, row.shrink2(vec2(14.0, 0.0)), "kept result");
    row.with_layout(Layout::right_to_left(Align::Center), |ui| {
        // What runs can be stopped below its form.
        if !state.lab.is_running(tab) {
            buttons_ui(ui, state, commands);
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let words = Face::Small.text(words_of(kept, state)).color(theme.text_1);
            ui.add(Label::new(words).truncate());
        });
    });
    rest
}

/// Says what is shown: "Result of today 14:14, by Quartet Stories".
fn words_of(kept: &KeptResult, state: &AppState) -> String {
    let date = phrase(kept.finished_at, unix_time_secs())
        .replace("Today", "today")
        .replace("Yesterday", "yesterday");
    if state.lab.is_running(kept.tab) {
        return format!("Running the result of {date} again");
    }
    format!("Result of {date}, by {}", kept.model)
}

/// Draws the buttons from right to left, and why the results can't be made again now, or in which
/// other number formats they would be.
fn buttons_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let tab = state.lab.tab;
    let close = Button::new("Close").name("Close the result").quiet();
    let hint = "It stays in the history";
    if ui.add(close).on_hover_text(hint).clicked() {
        commands.push(Command::Lab(LabCommand::Close(tab)));
    }
    let refusal = state.again_refusal(tab);
    let again = Button::new("Run it again").icon(Icon::Again);
    let response = ui
        .add_enabled(refusal.is_none(), again)
        .on_hover_text("Runs again with everything that made this result, whatever the setup says");
    if response.clicked() {
        commands.push(Command::Lab(LabCommand::RunAgain(tab)));
    }
    let words = match refusal {
        None => state.other_formats(tab),
        Some(AgainRefusal { words, load }) => {
            if let Some(load) = load {
                let button = Button::new("Load").name("Load the model of the result");
                if ui.add(button.quiet()).clicked() {
                    commands.push(load);
                }
            }
            Some(words)
        }
    };
    if let Some(words) = words {
        let words = Face::Small.text(words).color(Theme::of(ui).text_2);
        ui.add(Label::new(words).truncate());
    }
}

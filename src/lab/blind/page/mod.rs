//! The Blind test tab: what to compare on the left, anonymous texts in the middle, and on the right
//! what the votes say.

mod empty;
mod results;
#[cfg(test)]
mod tests;
mod texts;

use egui::{Key, Label, Modifiers, Popup, ScrollArea, Ui};

use self::results::results_ui;
use self::texts::texts_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, checkbox, menu_item};
use crate::lab::blind::VotesDocument;
use crate::lab::blind::state::{blind_blocking_reason, blind_contestants};
use crate::lab::blind::{BlindCommand, BlindRun, BlindTest};
use crate::lab::frame::bar::note_ui;
use crate::lab::frame::setup::{menu_choices_ui, menu_row_ui, number_ui};
use crate::lab::frame::{Columns, Foot, Labels, Progress, Tab};
use crate::lab::{LabCommand, LabTab};
use crate::state::{AppState, Command, PictureFormat, RunStatus};
use crate::ui::keys::DIGITS;

const EMPTY: &str = "Two texts from one prompt, without names. Choose the better one; the settings \
                     are named after ten votes.";

pub(in crate::lab) const TAB: Tab = Tab {
    bar: |ui, state, commands| votes_bar_ui(ui, state, commands),
    form: |ui, state, _| form_ui(ui, state),
    foot,
    results: columns_ui,
    selection: None,
    keys: Some(blind_keys_ui),
};

/// Draws the number of votes, and their export menu.
fn votes_bar_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let n = state.lab.blind.votes().len();
    let response = ui
        .add_enabled_ui(n > 0, |ui| {
            icon_button(ui, Icon::Export, "Export the votes")
        })
        .inner;
    Popup::menu(&response)
        .width(220.0)
        .gap(4.0)
        .accessible_name("Export the votes")
        .show(|ui| {
            let is_named = state.lab.blind.results().are_named();
            for format in PictureFormat::ALL.into_iter().filter(|_| is_named) {
                let label = format!("Strengths as {}…", format.extension().to_uppercase());
                if menu_item(ui, &label, "", false).clicked() {
                    commands.push(Command::save(VotesDocument::Picture(format)));
                }
            }
            for (label, hint, document) in [
                ("Votes as CSV…", "one row per text", VotesDocument::Csv),
                ("Votes as JSON…", "with strengths", VotesDocument::Json),
            ] {
                if menu_item(ui, label, hint, false).clicked() {
                    commands.push(Command::save(document));
                }
            }
        });
    match n {
        0 => {}
        1 => note_ui(ui, "1 vote"),
        n => note_ui(ui, &format!("{n} votes")),
    }
}

/// During a test, 1 to 4 vote for a text and 0 for none, unless a text field has the focus.
fn blind_keys_ui(ui: &Ui, state: &AppState, commands: &mut Vec<Command>) {
    if !state.lab.is_running(LabTab::Blind) || ui.text_edit_focused() {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::Num0) {
        commands.push(Command::Lab(LabCommand::Blind(BlindCommand::Vote(None))));
    }
    for (place, key) in DIGITS.into_iter().take(4).enumerate() {
        if pressed(key) {
            commands.push(Command::Lab(LabCommand::Blind(BlindCommand::Vote(Some(
                place,
            )))));
        }
    }
}

/// Draws the texts, and what the votes say.
fn columns_ui(ui: &mut Ui, columns: Columns, state: &mut AppState, commands: &mut Vec<Command>) {
    let Columns { middle, right, .. } = columns;
    let run = state.lab.blind.run();
    if let Some(run) = run.filter(|run| !run.shown().is_empty()) {
        texts_ui(&mut child_ui(ui, middle, "texts"), run, commands);
    } else {
        empty::empty_ui(ui, middle, state, &state_words(run));
    }
    let mut ui = child_ui(ui, right, "votes");
    ui.spacing_mut().item_spacing.y = 8.0;
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut ui, |ui| {
            // Keep the text clear of the scroll bar.
            ui.set_max_width(ui.available_width() - 12.0);
            results_ui(ui, &state.lab.blind, commands);
        });
}

/// Says why no texts are shown.
fn state_words(run: Option<&BlindRun>) -> String {
    match run.map(|run| &run.status) {
        Some(RunStatus::Waiting | RunStatus::Running) => "Writing the texts".to_owned(),
        Some(RunStatus::Complete) => {
            "These settings write identical texts here, so there is nothing to choose.".to_owned()
        }
        Some(RunStatus::Failed { error }) => crate::state::capitalize(error),
        Some(RunStatus::Stopped) | None => EMPTY.to_owned(),
    }
}

/// Draws what to compare.
fn form_ui(ui: &mut Ui, state: &mut AppState) {
    let theme = Theme::of(ui);
    ui.label(
        Face::SmallMedium
            .text("What to compare")
            .color(theme.text_1),
    );
    let n = blind_contestants(state).len();
    let words = match n {
        0 | 1 => "The settings of the panes. Two must differ.".to_owned(),
        2 => "The settings of the panes: two that differ, both unnamed.".to_owned(),
        n => format!("The settings of the panes: {n} that differ, all unnamed."),
    };
    ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
    let is_running = state.lab.blind.is_running();
    let form = &mut state.lab.blind;
    let word = |n: usize| if n == 4 { "four" } else { "two" };
    let current = word(form.n_shown);
    let label = format!("Texts at once: {current}");
    let chip = Chip::new(current).name(&label);
    let menu = ("Texts at once", 120.0);
    menu_row_ui(ui, "Texts at once", chip, menu, |ui| {
        menu_choices_ui(ui, [2, 4].map(|n| (n, word(n))), &mut form.n_shown);
    });
    ui.add_enabled_ui(!is_running, |ui| {
        number_ui(ui, "Tokens", &mut form.n_tokens, 1..=100_000);
    });
    let label = Face::Body.text("With the same coins").color(theme.text_2);
    let hint = "Texts shown together use the same seed, so they differ only because of their \
                settings. If off, they also differ by chance.";
    checkbox(ui, &mut form.same_coins, label).on_hover_text(hint);
}

/// Returns what stands below the form.
fn foot(state: &AppState) -> Foot {
    let labels = Labels {
        run: "Start the test",
        stop: "End the test",
        stop_hint: "Your votes are kept",
    };
    let blind = &state.lab.blind;
    let progress = |blind: &BlindTest| {
        let is_writing = blind.run().is_none_or(|run| run.shown().is_empty());
        let words = if is_writing {
            "Writing the texts"
        } else {
            "Choose the better text"
        };
        Progress::new(None, words.to_owned())
    };
    let run = blind.run().map(|_| blind);
    Foot::new(labels, run, progress, blind_blocking_reason(state))
}

//! A row of the models dialog for a Hub model: its name, facts and download progress.

use egui::{Align, Label, Layout, Ui};

use super::row_frame::{row_frame_ui, sentence_ui};
use super::words::count_words;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, progress_bar};
use crate::generation::formatting::counted;
use crate::state::{Command, HubRow, HubRowStatus};

/// The indentation of a repository's files, in points.
const INDENT: f32 = 20.0;

/// Draws the rows.
pub(super) fn hub_rows_ui(ui: &mut Ui, rows: &[HubRow], commands: &mut Vec<Command>) {
    for row in rows {
        row_ui(ui, row, commands);
    }
}

fn row_ui(ui: &mut Ui, row: &HubRow, commands: &mut Vec<Command>) {
    let indent = if row.indented { INDENT } else { 0.0 };
    let actions_ui = |ui: &mut Ui| commands.extend(actions_ui(ui, row));
    row_frame_ui(ui, indent, actions_ui, |ui| words_ui(ui, row));
    match &row.status {
        HubRowStatus::Downloading {
            fraction,
            words,
            left,
            ..
        } => progress_ui(ui, *fraction, words, left),
        HubRowStatus::Interrupted { words, failed, .. } => {
            let theme = Theme::of(ui);
            let color = if *failed { theme.error } else { theme.text_2 };
            sentence_ui(ui, words, color);
        }
        HubRowStatus::Available { .. }
        | HubRowStatus::Repository { .. }
        | HubRowStatus::Downloaded { .. } => {}
    }
}

fn words_ui(ui: &mut Ui, row: &HubRow) {
    let theme = Theme::of(ui);
    let name = Face::Medium.text(&row.name).color(theme.text_1);
    ui.add(Label::new(name).truncate());
    let downloads = |n: u64| counted(n as usize, "download");
    let facts = [
        row.n_params.map(count_words),
        row.n_downloads.map(downloads),
        Some(row.facts.clone()).filter(|facts| !facts.is_empty()),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let facts = Face::Small.text(facts).color(theme.text_2);
    ui.add(Label::new(facts).truncate());
}

/// Draws the row's actions from right to left. Returns the command of the one that was clicked.
fn actions_ui(ui: &mut Ui, row: &HubRow) -> Option<Command> {
    let mut clicked = None;
    let mut button_ui = |ui: &mut Ui, label: &str, verb: &str, command: &Command| {
        let name = format!("{verb} {}", row.name);
        let button = Button::new(label).name(&name);
        let button = match verb {
            "Download" => button.icon(Icon::Download),
            "Pause" | "Cancel" | "Discard" => button.quiet(),
            _ => button,
        };
        if ui.add(button).clicked() {
            clicked = Some(command.clone());
        }
    };
    match &row.status {
        HubRowStatus::Available { size, download } => {
            let label = if size.is_empty() { "Download" } else { size };
            button_ui(ui, label, "Download", download);
        }
        HubRowStatus::Repository { expanded, toggle } => {
            let label = if *expanded {
                "Hide files"
            } else {
                "Show files"
            };
            button_ui(ui, label, label, toggle);
        }
        HubRowStatus::Downloading { pause, cancel, .. } => {
            button_ui(ui, "Cancel", "Cancel", cancel);
            button_ui(ui, "Pause", "Pause", pause);
        }
        HubRowStatus::Interrupted {
            failed,
            resume,
            discard,
            ..
        } => {
            let label = if *failed { "Try again" } else { "Resume" };
            button_ui(ui, "Discard", "Discard", discard);
            button_ui(ui, label, label, resume);
        }
        HubRowStatus::Downloaded { open } => button_ui(ui, "Open", "Open", open),
    }
    clicked
}

fn progress_ui(ui: &mut Ui, fraction: f32, words: &str, left: &str) {
    let theme = Theme::of(ui);
    progress_bar(ui, fraction);
    ui.horizontal(|ui| {
        ui.label(Face::Small.text(words).color(theme.text_2));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(Face::Small.text(left).color(theme.text_2));
        });
    });
    ui.add_space(10.0);
}

//! A row of the models dialog for a Hub model: its name, facts and download progress.

use egui::{Align, Label, Layout, Sense, Ui, vec2};

use super::row_frame::{row_frame_ui, sentence_ui};
use super::words::count_words;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, progress_bar};
use crate::generation::Openness;
use crate::generation::formatting::counted;
use crate::state::{Command, HubRow, HubRowStatus};

/// The indentation of a repository's files, in points.
const INDENT: f32 = 20.0;

/// The width of the buttons of a search result, in points.
const ACTIONS: f32 = 112.0;

/// The width of a search result's mark, in points.
const MARK: f32 = 132.0;

/// Draws the rows.
pub(super) fn hub_rows_ui(ui: &mut Ui, rows: &[HubRow], commands: &mut Vec<Command>) {
    for row in rows {
        row_ui(ui, row, commands);
    }
}

fn row_ui(ui: &mut Ui, row: &HubRow, commands: &mut Vec<Command>) {
    let indent = if row.indented { INDENT } else { 0.0 };
    let mut shown = None;
    let actions_ui = |ui: &mut Ui| {
        let Some(openness) = &row.openness else {
            commands.extend(actions_ui(ui, row));
            return;
        };
        // The marks of all rows are in one column.
        let size = vec2(ACTIONS, ui.available_height());
        let layout = Layout::right_to_left(Align::Center);
        ui.allocate_ui_with_layout(size, layout, |ui| {
            ui.set_min_width(ACTIONS);
            commands.extend(actions_ui(ui, row));
        });
        mark_ui(ui, openness);
    };
    row_frame_ui(ui, indent, actions_ui, |ui| shown = words_ui(ui, row));
    commands.extend(shown);
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
        | HubRowStatus::Downloaded { .. }
        | HubRowStatus::NotYet { .. } => {}
    }
}

/// Draws whether a search result opens.
fn mark_ui(ui: &mut Ui, openness: &Openness) {
    let theme = Theme::of(ui);
    let (words, opens) = match openness {
        Openness::Opens => ("opens", true),
        Openness::OpensAsTextOnly => ("opens as text only", true),
        Openness::Unknown => ("unknown", false),
        Openness::NotYet { .. } => ("not yet", false),
    };
    let size = vec2(MARK, ui.available_height());
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_width(MARK);
        ui.spacing_mut().item_spacing.x = 6.0;
        let (rect, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
        if opens {
            Icon::Check.paint(ui.painter(), rect, theme.text_1);
        }
        let color = if opens { theme.text_1 } else { theme.text_3 };
        let label = ui.label(Face::Small.text(words).color(color));
        if *openness == Openness::Unknown {
            label.on_hover_text("The Hub does not say what this is. Show its files to check it");
        }
    });
}

/// Draws the row's name and facts. Returns the command of the link that was clicked.
fn words_ui(ui: &mut Ui, row: &HubRow) -> Option<Command> {
    let theme = Theme::of(ui);
    let is_refused = matches!(row.status, HubRowStatus::NotYet { .. });
    let (name_color, facts_color) = if is_refused {
        (theme.text_2, theme.text_3)
    } else {
        (theme.text_1, theme.text_2)
    };
    let name = Face::Medium.text(&row.name).color(name_color);
    ui.add(Label::new(name).truncate());
    let downloads = |n: u64| counted(n as usize, "download");
    let facts = [
        row.n_params.map(count_words),
        row.n_downloads.map(downloads),
        Some(row.facts.clone()).filter(|facts| !facts.is_empty()),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let HubRowStatus::NotYet {
        show_gguf: Some(show),
    } = &row.status
    else {
        let words = Face::Small.text(&facts).color(facts_color);
        let label = ui.add(Label::new(words).truncate().sense(Sense::hover()));
        if is_refused {
            label.on_hover_text(facts);
        }
        return None;
    };
    let link = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let words = format!("{facts}. The same model as GGUF:");
        ui.label(Face::Small.text(words).color(facts_color));
        let link = Face::Small.text("show").color(theme.text_1).underline();
        let name = format!("Show {} as GGUF", row.name);
        ui.link(link).accessible_name(&name).clicked()
    });
    link.inner.then(|| show.clone())
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
        HubRowStatus::NotYet { .. } => {}
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

//! The right of the Table view while no cell is selected: what the answers under each of the settings
//! cost, how varied they are, and what several of them are good for.

use egui::{Align, Grid, Label, Layout, Ui};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, badge};
use crate::generation::formatting::percent;
use crate::lab::prompts::TasksRun;
use crate::lab::prompts::figures::PaneOverview;

/// A column: its name, what it is, and its value for settings.
type Column = (String, &'static str, fn(&PaneOverview) -> Option<String>);

/// Draws the settings, one row each.
pub(super) fn show(ui: &mut Ui, run: &TasksRun) {
    let theme = Theme::of(ui);
    let overview = &run.reading.overview;
    if !overview.is_empty() {
        ui.label(Face::SmallMedium.text("Each setting").color(theme.text_1));
        ui.add_space(4.0);
        table_ui(ui, run);
        ui.add_space(8.0);
    }
    let words = "Select a cell to read its answers.";
    let words = Face::Small.text(words).color(theme.text_3);
    ui.add(Label::new(words).wrap());
}

fn table_ui(ui: &mut Ui, run: &TasksRun) {
    let theme = Theme::of(ui);
    let overview = &run.reading.overview;
    let columns = columns(overview);
    Grid::new("each setting")
        .num_columns(columns.len() + 1)
        .spacing([14.0, 7.0])
        .show(ui, |ui| {
            ui.label("");
            for (name, hint, _) in &columns {
                let words = Face::Micro.text(name).color(theme.text_2);
                right_ui(ui, Label::new(words), hint);
            }
            ui.end_row();
            for (pane, row) in overview.iter().enumerate() {
                badge(ui, run.results.place(pane), SMALL_BADGE);
                for (_, hint, value) in &columns {
                    let value = value(row).unwrap_or_else(|| "–".to_owned());
                    let words = Face::Small.text(value).color(theme.text_1);
                    right_ui(ui, Label::new(words), hint);
                }
                ui.end_row();
            }
        });
}

fn right_ui(ui: &mut Ui, label: Label, hint: &str) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.add(label).on_hover_text(hint);
    });
}

/// Returns the columns in which any of the settings has a value.
fn columns(overview: &[PaneOverview]) -> Vec<Column> {
    let n = overview.iter().map(|row| row.n_answers).max().unwrap_or(0);
    let all: [Column; 5] = [
        (
            format!("vote of {n}"),
            "How often the answer that most of these agree on is right (self-consistency)",
            |row| row.vote.map(percent),
        ),
        (
            format!("any of {n}"),
            "How often at least one of these is right (pass@k)",
            |row| row.any.map(percent),
        ),
        (
            "different".to_owned(),
            "How many different answers a task gets, on average",
            |row| row.n_different.map(|n| format!("{n:.1}")),
        ),
        (
            "tokens".to_owned(),
            "How many tokens an answer takes, on average, with the thought before it",
            |row| row.n_tokens.map(|n| format!("{n:.1}")),
        ),
        (
            "thought".to_owned(),
            "How many tokens of thought come before an answer, on average",
            |row| row.n_thought.map(|n| format!("{n:.0}")),
        ),
    ];
    let is_known = |column: &Column| overview.iter().any(|row| (column.2)(row).is_some());
    all.into_iter().filter(is_known).collect()
}

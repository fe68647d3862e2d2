//! The Sweep tab: what to vary on the left, the pictures in the middle, the texts of a cell on the
//! right.

mod empty;
mod pictures;
mod setup;
#[cfg(test)]
mod tests;
mod texts;

use egui::{Popup, Ui};

use self::pictures::pictures_ui;
use self::setup::{foot, form_ui};
use self::texts::texts_ui;
use crate::analysis::sweep::Metric;
use crate::design::child_ui::child_ui;
use crate::design::icons::{Icon, icon_button};
use crate::design::widgets::{Chip, menu_item, submenu};
use crate::lab::LabCommand;
use crate::lab::frame::bar::note_ui;
use crate::lab::frame::{Columns, Selection, Tab};
use crate::lab::sweep::SweepDocument;
use crate::lab::sweep::{SweepCommand, SweepPicture};
use crate::state::{AppState, Command, PictureFormat};

pub(in crate::lab) const TAB: Tab = Tab {
    bar: bar_ui,
    form: form_ui,
    foot,
    results: results_ui,
    selection: Some(Selection {
        step: |lab, rows, columns| lab.sweep.move_selection(rows, columns),
        open: |lab| {
            let cell = lab.sweep.shown_cell();
            cell.map(|cell| LabCommand::Sweep(SweepCommand::OpenAsPane { cell, text: 0 }))
        },
    }),
    keys: None,
};

fn results_ui(ui: &mut Ui, columns: Columns, state: &mut AppState, commands: &mut Vec<Command>) {
    let Columns {
        middle,
        right,
        is_wide,
    } = columns;
    if state.lab.sweep.run.is_none() {
        return empty::empty_ui(ui, columns, state);
    }
    pictures_ui(&mut child_ui(ui, middle, "pictures"), is_wide, state);
    texts_ui(&mut child_ui(ui, right, "texts"), state, commands);
}

/// Draws the export menu, the menu of figures, and the summary.
fn bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    export_ui(ui, state, commands);
    metric_ui(ui, state);
    if let Some(sweep) = state.lab.sweep.run.as_ref() {
        note_ui(ui, &sweep.summary());
    }
}

/// Draws the menu that chooses the figure to show.
fn metric_ui(ui: &mut Ui, state: &mut AppState) {
    let title = |metric: Metric| match state.lab.sweep.run.as_ref() {
        Some(sweep) => sweep.results.title(metric),
        None => metric.name().to_owned(),
    };
    let current = title(state.lab.sweep.metric);
    let titles = Metric::ALL.map(|metric| (metric, title(metric)));
    let results = state.lab.sweep.run.as_ref().map(|sweep| &sweep.results);
    let has_word = results.is_some_and(|results| results.word().is_some());
    let has_grammar = results.is_some_and(|results| results.setup.base.grammar.is_some());
    let name = format!("Figure: {current}");
    let chip = Chip::new(&current).name(&name).quiet().chevron();
    let response = ui.add(chip.max_width(ui.available_width()));
    Popup::menu(&response)
        .width(360.0)
        .gap(4.0)
        .accessible_name("Figure")
        .show(|ui| {
            for (metric, title) in titles {
                let is_absent = match metric {
                    Metric::Word => !has_word,
                    Metric::Complete => !has_grammar,
                    _ => false,
                };
                if is_absent {
                    continue;
                }
                let selected = state.lab.sweep.metric == metric;
                let explanation = metric.explanation();
                if menu_item(ui, &title, explanation, selected).clicked() {
                    state.lab.sweep.metric = metric;
                }
            }
        });
}

/// Draws the export menu of the sweep.
fn export_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let sweep = state.lab.sweep.run.as_ref();
    let metrics = sweep
        .map(|sweep| sweep.results.metrics())
        .unwrap_or_default();
    let response = ui
        .add_enabled_ui(!metrics.is_empty(), |ui| {
            icon_button(ui, Icon::Export, "Export the sweep")
        })
        .inner;
    Popup::menu(&response)
        .width(240.0)
        .gap(4.0)
        .accessible_name("Export the sweep")
        .show(|ui| {
            let mut save = |document| commands.push(Command::save(document));
            for format in PictureFormat::ALL {
                let extension = format.extension().to_uppercase();
                submenu(ui, &format!("Picture as {extension}"), "", 220.0, |ui| {
                    for metric in &metrics {
                        let label = format!("{} as {extension}…", metric.name());
                        if menu_item(ui, &label, "", false).clicked() {
                            let picture = SweepPicture::Metric(*metric);
                            save(SweepDocument::Picture(picture, format));
                            ui.close();
                        }
                    }
                    let label = format!("Quality and diversity as {extension}…");
                    if menu_item(ui, &label, "", false).clicked() {
                        save(SweepDocument::Picture(SweepPicture::Scatter, format));
                        ui.close();
                    }
                });
            }
            ui.separator();
            for (label, hint, document) in [
                ("Cells as CSV…", "one row per cell", SweepDocument::Cells),
                ("Texts as CSV…", "one row per text", SweepDocument::Texts),
                ("Sweep as JSON…", "everything", SweepDocument::Json),
            ] {
                if menu_item(ui, label, hint, false).clicked() {
                    save(document);
                }
            }
        });
}

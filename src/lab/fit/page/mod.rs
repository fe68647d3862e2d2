//! The Fit tab: the texts and what to vary on the left, the map or the curve in the middle, and
//! what it shows on the right.

mod setup;
mod table;
#[cfg(test)]
mod tests;

use egui::{Label, Rect, ScrollArea, Ui, vec2};

use self::setup::{foot, form_ui};
use self::table::table_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::lab::LabCommand;
use crate::lab::fit::FitDocument;
use crate::lab::fit::plot::{FitPlot, fit_curve_ui, fit_map_ui};
use crate::lab::fit::state::fit_setup;
use crate::lab::fit::{Fit, FitCommand, FitRun, fit_base};
use crate::lab::frame::bar::{export_files_ui, note_ui, table_choice_ui};
use crate::lab::frame::{Columns, Selection, Tab, empty};
use crate::plots::Target;
use crate::state::{AppState, Command, ResultFormat, RunStatus};

pub(in crate::lab) const TAB: Tab = Tab {
    bar: fit_bar_ui,
    form: |ui, state, _| form_ui(ui, state),
    foot,
    results: results_ui,
    selection: Some(Selection {
        step: |lab, rows, columns| {
            if let Some(run) = &mut lab.fit.run {
                run.move_selection(rows, columns);
            }
        },
        open: |lab| {
            let run = lab.fit.run.as_ref();
            run.map(|run| LabCommand::Fit(FitCommand::Open { cell: run.selected }))
        },
    }),
    keys: None,
};

/// Draws the summary of the fit, the button that shows it as a table, and its export menu.
fn fit_bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let run = state.lab.fit.run.as_ref();
    let is_there = run.is_some_and(|run| run.fit.n_done() > 0);
    let summary = run.map(FitRun::summary);
    export_files_ui(
        ui,
        "Export the fit",
        is_there,
        ResultFormat::ALL.map(|format| {
            (
                format!("Fit as {}…", format.extension().to_uppercase()),
                FitDocument(format),
            )
        }),
        commands,
    );
    if is_there {
        table_choice_ui(ui, false, &mut state.lab.fit.is_table);
    }
    if let Some(summary) = summary {
        note_ui(ui, &summary);
    }
}

/// Draws the picture or the table, and what it shows.
fn results_ui(
    ui: &mut Ui,
    Columns { middle, right, .. }: Columns,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let base = fit_base(state).map(|pane| pane.id);
    let place = base.and_then(|id| state.place_of(id));
    let is_table = state.lab.fit.is_table;
    let Some(run) = &mut state.lab.fit.run else {
        empty::texts_ui(ui, right, "What the picture shows, in words");
        return empty_ui(ui, middle, place, state);
    };
    if run.fit.n_done() == 0 {
        let words = match &run.status {
            RunStatus::Failed { error } => crate::state::capitalize(error),
            _ => run.summary(),
        };
        return empty::about_ui(ui, middle, &words);
    }
    if is_table {
        table_ui(&mut child_ui(ui, middle, "table"), run);
    }
    let shown = run.shown_cell();
    let mut read = shown;
    if !is_table {
        let sentence = shown.map(|cell| run.cell_sentence(cell));
        let is_own = place.filter(|_| has_base_cell(run));
        let plot = FitPlot {
            fit: &run.fit,
            best: run.reading.best.as_ref(),
            pane: is_own,
            selected: shown.zip(sentence.as_deref()),
        };
        let area = picture_rect(middle, &run.fit);
        let area_ui = &child_ui(ui, area, "picture");
        let response = if run.fit.setup.columns.is_some() {
            fit_map_ui(area_ui, area, plot, Target::Screen)
        } else {
            fit_curve_ui(area_ui, area, plot, Target::Screen)
        };
        if let Some(cell) = response.clicked {
            run.selected = Some(cell);
        }
        read = response.hovered.or(shown);
    }
    reading_ui(&mut child_ui(ui, right, "reading"), run, read, commands);
}

/// Returns whether the base settings have a value for each varied number, so that they have a cell.
fn has_base_cell(run: &FitRun) -> bool {
    run.fit.setup.base_cell().is_some()
}

/// Returns the part of the column that the picture takes.
fn picture_rect(column: Rect, fit: &Fit) -> Rect {
    let height = if fit.setup.columns.is_some() {
        column.height().min(column.width() * 1.1)
    } else {
        column.height().min(column.width() * 0.75)
    };
    let width = column.width().min(column.height() * 1.2);
    Rect::from_min_size(column.min, vec2(width, height))
}

/// Draws the picture of the settings to be compared, without values.
fn empty_ui(ui: &mut Ui, middle: Rect, place: Option<usize>, state: &AppState) {
    let Ok(setup) = fit_setup(state) else {
        return empty::about_ui(ui, middle, "Choose a text and one or two numbers to vary.");
    };
    let fit = Fit::new(setup);
    let plot = FitPlot {
        fit: &fit,
        best: None,
        pane: place.filter(|_| fit.setup.base_cell().is_some()),
        selected: None,
    };
    let area = picture_rect(middle, &fit);
    // Nothing can be selected yet.
    let words = if fit.setup.columns.is_some() {
        fit_map_ui(ui, area, plot, Target::Picture);
        "How likely the text is under each pair of settings, from reading it once."
    } else {
        fit_curve_ui(ui, area, plot, Target::Picture);
        "How likely the text is at each value, from reading it once."
    };
    // Above the badge of usual settings.
    let upper = area.with_max_y(area.top() + area.height() * 0.6);
    empty::about_ui(ui, upper, words);
}

/// Draws what the fit shows, where the texts become impossible, and what the shown cell means.
fn reading_ui(ui: &mut Ui, run: &FitRun, read: Option<usize>, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Keep the text clear of the scroll bar.
        ui.set_max_width(ui.available_width() - 12.0);
        let heading = |ui: &mut Ui, words: &str| {
            ui.label(Face::SmallMedium.text(words).color(theme.text_1));
        };
        heading(ui, "What this shows");
        for sentence in &run.reading.sentences {
            let words = Face::Why.text(sentence).color(theme.text_1);
            ui.add(Label::new(words).wrap());
        }
        if run.reading.sentences.is_empty() {
            let words = "The best settings are narrowed down once the grid is complete.";
            let words = Face::Why.text(words).color(theme.text_2);
            ui.add(Label::new(words).wrap());
        }
        if run.reading.best.is_some() {
            let open = Button::new("Use in a pane").icon(Icon::Plus).hint("↵");
            let hint = "Write with the most likely settings in a new pane";
            if ui.add(open).on_hover_text(hint).clicked() {
                commands.push(Command::Lab(LabCommand::Fit(FitCommand::Open {
                    cell: None,
                })));
            }
        }
        if !run.reading.limits.is_empty() {
            ui.separator();
            heading(ui, "Where it becomes impossible");
            for (row, words) in &run.reading.limits {
                if !row.is_empty() {
                    ui.label(Face::SmallMedium.text(row).color(theme.text_2));
                }
                let words = Face::Small.text(words).color(theme.text_1);
                ui.add(Label::new(words).wrap());
            }
        }
        if let Some(cell) = read {
            ui.separator();
            cell_ui(ui, run, cell, commands);
        }
        ui.separator();
        for note in &run.reading.notes {
            let words = Face::Small.text(note).color(theme.text_2);
            ui.add(Label::new(words).wrap());
        }
    });
}

fn cell_ui(ui: &mut Ui, run: &FitRun, cell: usize, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let setup = &run.fit.setup;
    let name = setup.words(&setup.values_of(cell));
    ui.label(Face::SmallMedium.text(&name).color(theme.text_1));
    let words = match run.fit.cell(cell) {
        Some(likelihood) => run.fit.likelihood_words(likelihood, &run.vocabulary),
        None => "not computed yet".to_owned(),
    };
    let words = Face::Small.text(crate::state::capitalize(&words));
    ui.add(Label::new(words.color(theme.text_2)).wrap());
    if run.selected.is_some() {
        let open = Button::new("Use these settings").icon(Icon::Plus).quiet();
        let hint = "Write with the selected settings in a new pane";
        if ui.add(open).on_hover_text(hint).clicked() {
            let cell = run.selected;
            commands.push(Command::Lab(LabCommand::Fit(FitCommand::Open { cell })));
        }
    }
}

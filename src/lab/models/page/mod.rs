//! The Two models tab: what to compare on the left, the text with its divergences and their plots in
//! the middle, what was found on the right.

mod choices;
mod empty;
mod reading;
#[cfg(test)]
mod tests;
mod text;

use egui::Ui;

use self::choices::choices_ui;
use self::reading::reading_ui;
use self::text::text_ui;
use crate::design::child_ui::child_ui;
use crate::lab::frame::bar::{export_files_ui, note_ui};
use crate::lab::frame::{Columns, Foot, Labels, Progress, Selection, Tab, empty as frame_empty};
use crate::lab::models::ModelsDocument;
use crate::lab::models::ModelsRun;
use crate::lab::models::plot::model_comparison_ui;
use crate::lab::models::state::models_blocking_reason;
use crate::state::{AppState, Command, ResultFormat, RunStatus};

/// The share of the height that the text takes above its plots.
const TEXT: f32 = 0.34;

pub(in crate::lab) const TAB: Tab = Tab {
    bar: |ui, state, commands| models_bar_ui(ui, state, commands),
    form: choices_ui,
    foot,
    results: |ui, columns, state, _| results_ui(ui, columns, state),
    selection: Some(Selection {
        step: |lab, rows, columns| {
            if let Some(run) = &mut lab.models.run {
                run.move_selection(rows + columns);
            }
        },
        // A token is not a text to open.
        open: |_| None,
    }),
    keys: None,
};

/// Draws the summary of the comparison and its export menu.
fn models_bar_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let run = state.lab.models.run.as_ref();
    let compared = run.and_then(|run| run.compared.as_ref());
    export_files_ui(
        ui,
        "Export the comparison",
        compared.is_some_and(|compared| compared.n_predicted() > 0),
        ResultFormat::ALL.map(|format| {
            (
                format!("Comparison as {}…", format.extension().to_uppercase()),
                ModelsDocument(format),
            )
        }),
        commands,
    );
    // While it runs, the foot of the setup says the same.
    if let Some(run) = run.filter(|run| !run.status.is_running()) {
        note_ui(ui, &run.summary());
    }
}

/// Returns what stands below the form.
fn foot(state: &AppState) -> Foot {
    let labels = Labels {
        run: "Compare",
        stop: "Stop",
        stop_hint: "The results so far are kept",
    };
    let progress = |run: &ModelsRun| Progress::new(fraction_done(run), run.summary());
    let run = state.lab.models.run.as_ref();
    Foot::new(labels, run, progress, models_blocking_reason(state))
}

/// Draws the text and its plots, and what was found.
fn results_ui(ui: &mut Ui, columns: Columns, state: &mut AppState) {
    let Columns { middle, right, .. } = columns;
    let run = state.lab.models.run.as_ref();
    let Some((run, compared)) = run.and_then(|run| Some((run, run.compared.as_ref()?))) else {
        let status = run.map(|run| &run.status);
        return match frame_empty::missing_words(status, "Loading the other model") {
            Some(words) => frame_empty::about_ui(ui, middle, &words),
            None => empty::empty_ui(ui, columns, state),
        };
    };
    let mut side = child_ui(ui, right, "reading");
    let mut selected = run.selected;
    reading_ui(&mut side, run, compared, &mut selected);
    let mut plots = middle;
    if compared.facts.has_same_tokens {
        let (text, below) = middle.split_top_bottom_at_fraction(TEXT);
        text_ui(&mut child_ui(ui, text, "text"), compared, &mut selected);
        plots = below.with_min_y(below.top() + 12.0);
    }
    model_comparison_ui(&child_ui(ui, plots, "plots"), plots, compared);
    if let Some(run) = &mut state.lab.models.run {
        run.selected = selected;
    }
}

/// Returns the share that is done, or `None` if nothing is being compared.
fn fraction_done(run: &ModelsRun) -> Option<f32> {
    let compared = run.compared.as_ref();
    let share = compared.map(|all| all.n_predicted() as f32 / all.n_to_predict().max(1) as f32);
    match &run.status {
        RunStatus::Waiting => Some(run.loaded),
        RunStatus::Running => Some(share.unwrap_or_default()),
        _ => None,
    }
}

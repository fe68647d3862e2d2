//! The Two models tab: the text with its divergences and their plots on the left, what to compare
//! and what was found on the right.

mod choices;
mod reading;
#[cfg(test)]
mod tests;
mod text;

use egui::{Label, Rect, Ui};

use self::choices::choices_ui;
use self::reading::reading_ui;
use self::text::text_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::lab::frame::bar::{export_files_ui, status_ui};
use crate::lab::frame::{Selection, Tab, TabPage};
use crate::lab::models::ModelsDocument;
use crate::lab::models::ModelsRun;
use crate::lab::models::plot::model_comparison_ui;
use crate::lab::models::state::models_blocking_reason;
use crate::lab::{LabCommand, LabTab};
use crate::state::{Action, AppState, Command, ResultFormat, RunStatus, capitalize};
use crate::ui::keys::key_words;

const EMPTY: &str = "Press Compare to let both models read the same text. You will see where their \
    probabilities differ, and whether that changes which tokens are chosen.";

/// The share of the height that the text takes above its plots.
const TEXT: f32 = 0.34;

pub(in crate::lab) const TAB: Tab = Tab {
    bar: |ui, state, commands| models_bar_ui(ui, state, commands),
    page: TabPage::TwoColumns(models_tab_ui),
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

/// Draws the progress of the comparison of two models, its button, and its export menu.
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
    compare_ui(ui, state, commands);
}

/// Draws the text and its plots on the left, and the rest on the right.
fn models_tab_ui(
    ui: &mut Ui,
    [left, right]: [Rect; 2],
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let mut side = child_ui(ui, right, "choices");
    choices_ui(&mut side, state, commands);
    side.separator();
    let run = state.lab.models.run.as_ref();
    let Some((run, compared)) = run.and_then(|run| Some((run, run.compared.as_ref()?))) else {
        let words = match run.map(|run| &run.status) {
            Some(RunStatus::Failed { error }) => capitalize(error),
            Some(RunStatus::Stopped) | None => EMPTY.to_owned(),
            Some(_) => "Loading the other model".to_owned(),
        };
        let color = Theme::of(ui).text_3;
        let label = Label::new(Face::Body.text(words).color(color)).wrap();
        ui.put(left, label.halign(egui::Align::Center));
        return;
    };
    let mut selected = run.selected;
    reading_ui(&mut side, run, compared, &mut selected);
    let mut plots = left;
    if compared.facts.has_same_tokens {
        let (text, below) = left.split_top_bottom_at_fraction(TEXT);
        text_ui(&mut child_ui(ui, text, "text"), compared, &mut selected);
        plots = below.with_min_y(below.top() + 12.0);
    }
    model_comparison_ui(&child_ui(ui, plots, "plots"), plots, compared);
    if let Some(run) = &mut state.lab.models.run {
        run.selected = selected;
    }
}

/// Draws the progress of the comparison, and the button that starts or stops it, from right to
/// left.
fn compare_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.lab.is_running(LabTab::Models) {
        let stop = Button::new("Stop").icon(Icon::Stop).hint("Esc");
        let hint = "The results so far are kept";
        if ui.add(stop).on_hover_text(hint).clicked() {
            commands.push(Command::Lab(LabCommand::Stop(LabTab::Models)));
        }
    } else {
        let reason = models_blocking_reason(state);
        let hint = key_words(ui, Action::Generate);
        let button = Button::new("Compare").icon(Icon::Play).hint(&hint);
        let response = ui
            .add_enabled(reason.is_none(), button)
            .on_disabled_hover_text(reason.unwrap_or_default());
        if response.clicked() {
            commands.push(Command::Lab(LabCommand::Run(LabTab::Models)));
        }
    }
    if let Some(run) = &state.lab.models.run {
        status_ui(ui, &run.summary(), fraction_done(run));
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

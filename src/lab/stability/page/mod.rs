//! The Stability tab: the text and its stable intervals on the left, the map in the middle, and what
//! the selected cell means on the right.

mod choice;
mod empty;
mod intervals;

use egui::{Label, Rect, Ui, vec2};

use self::choice::choices_ui;
use self::intervals::intervals_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::lab::LabCommand;
use crate::lab::frame::bar::export_files_ui;
use crate::lab::frame::{Columns, Foot, Labels, Note, Progress, Selection, Tab};
use crate::lab::stability::StabilityDocument;
use crate::lab::stability::plot::{StabilityPlot, stability_ui};
use crate::lab::stability::state::stability_source;
use crate::lab::stability::{StabilityCommand, StabilityRun};
use crate::plots::Target;
use crate::state::{AppState, Command, JobRun as _, ResultFormat, RunStatus};

/// Explains the map of one token.
const HOW_TO_READ_TOKEN: &str = "The token’s recorded coin is applied to its distribution under other \
    settings, after the same tokens as in the text. Other settings could have changed those too. A \
    gray cell with a dot is unknown: it depends on a part of the distribution that was not recorded. \
    A thin gray line marks values at which the choice may change.";

/// Explains the map of a text.
const HOW_TO_READ: &str = "The recorded coins are applied to each step’s distribution under other \
    settings until a token differs. From there on the texts have different contexts, so the map \
    stops. A dot marks a lower bound: the record lacks part of the distribution, so the fork may \
    come later. Intervals are proven; a thin gray line marks values at which a token may change.";

pub(in crate::lab) const TAB: Tab = Tab {
    bar: stability_bar_ui,
    form: |ui, state, _| form_ui(ui, state),
    foot,
    results: results_ui,
    selection: Some(Selection {
        step: |lab, rows, columns| {
            if let Some(run) = &mut lab.stability.run {
                run.move_selection(rows, columns);
            }
        },
        open: |lab| {
            let run = lab.stability.run.as_ref();
            run.map(|run| {
                LabCommand::Stability(StabilityCommand::Open {
                    cell: run.shown_cell(),
                })
            })
        },
    }),
    keys: None,
};

/// Draws the export menu.
fn stability_bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let is_there = state.lab.stability.run.is_some();
    export_files_ui(
        ui,
        "Export the map",
        is_there,
        ResultFormat::ALL.map(|format| {
            (
                format!("Map as {}…", format.extension().to_uppercase()),
                StabilityDocument(format),
            )
        }),
        commands,
    );
}

/// Draws the choices, and below them how stable the text is.
fn form_ui(ui: &mut Ui, state: &mut AppState) {
    choices_ui(ui, state);
    let run = state.lab.stability.run.as_ref();
    if let Some(run) = run {
        ui.separator();
        intervals_ui(ui, run);
    }
}

/// The button while the text of a map from the history is written again.
const REWRITING: Labels = Labels {
    run: "Write again",
    stop: "Stop",
    stop_hint: "The map from the history stays",
};

/// Returns what stands below the form. The map is computed by itself, while nothing else is.
fn foot(state: &AppState) -> Foot {
    let run = state.lab.stability.run.as_ref();
    if let Some(run) = run.filter(|run| *run.status() != RunStatus::Complete) {
        let progress =
            |run: &StabilityRun| Progress::new(Some(run.rewritten_share()), run.rewriting_words());
        let foot = Foot::new(REWRITING, Some(run), progress, None);
        return Foot {
            labels: run.status().is_running().then_some(REWRITING),
            ..foot
        };
    }
    let words = match (run, stability_source(state)) {
        (None, Err(reason)) => reason,
        _ => "Computed without running the model",
    };
    Foot {
        note: Some(Note::Words(words.to_owned())),
        ..Foot::default()
    }
}

/// Draws the map, and what the selected cell means.
fn results_ui(ui: &mut Ui, columns: Columns, state: &mut AppState, commands: &mut Vec<Command>) {
    let Columns { middle, right, .. } = columns;
    let place = state.lab.stability.run.as_ref().map(|run| run.text.place);
    let Some(run) = &mut state.lab.stability.run else {
        return empty::empty_ui(ui, columns, state);
    };
    let shown = run.shown_cell();
    let sentence = format!("{}: {}", run.cell_words(shown), run.sentence(shown));
    let token = run.held_step().map(|step| run.token_words(step));
    let plot = StabilityPlot {
        map: &run.map,
        n_tokens: run.n_mapped(),
        token: token.as_deref(),
        pane: place,
        selected: Some((shown, &sentence)),
    };
    let area = map_rect(middle);
    let area_ui = &child_ui(ui, area, "map");
    let response = stability_ui(area_ui, area, plot, Target::Screen);
    if let Some(cell) = response.clicked {
        run.selected = Some(cell);
    }
    let read = response.hovered.unwrap_or(shown);
    reading_ui(&mut child_ui(ui, right, "reading"), run, read, commands);
}

/// Returns the part of the column that the map takes.
fn map_rect(column: Rect) -> Rect {
    let side = column.height().min(column.width());
    Rect::from_min_size(column.min, vec2(column.width().min(side * 1.1), side))
}

fn reading_ui(ui: &mut Ui, run: &StabilityRun, cell: usize, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    ui.label(Face::Strong.text(run.cell_words(cell)).color(theme.text_1));
    let sentence = Face::Why.text(run.sentence(cell)).color(theme.text_1);
    ui.add(Label::new(sentence).wrap());
    let open = Button::new("Open as pane").icon(Icon::Plus).hint("↵");
    if ui.add(open).clicked() {
        let cell = run.shown_cell();
        commands.push(Command::Lab(LabCommand::Stability(
            StabilityCommand::Open { cell },
        )));
    }
    ui.separator();
    ui.label(Face::SmallMedium.text("How to read it").color(theme.text_1));
    let how = match run.held_step() {
        Some(_) => HOW_TO_READ_TOKEN,
        None => HOW_TO_READ,
    };
    ui.add(Label::new(Face::Small.text(how).color(theme.text_2)).wrap());
}

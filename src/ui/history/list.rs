//! The left column: search, the runs by day, and the limits of what is kept.

use egui::{DragValue, Label, Popup, Rect, ScrollArea, TextEdit, Ui, vec2};

use super::dates::heading_and_time;
use super::requests::requests_ui;
use super::row::row_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, field_frame, menu_item, switch_part};

use crate::state::{
    AppState, Command, HistoryLimits, PathPurpose, RunOrigin, Runs, unix_time_secs,
};
use crate::ui::xray::sentence_ui;

const HEAD: f32 = 52.0;

/// The height of the sentence below the runs, on one line and on two.
const FOOT: f32 = 44.0;
const HIGH_FOOT: f32 = 66.0;

const FOOT_MARGIN: f32 = 20.0;

/// The width of the end of the sentence, with its two fields.
const LIMITS: f32 = 236.0;

/// Draws the column.
pub(super) fn list_ui(
    ui: &mut Ui,
    column: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let (head, rest) = column.split_top_bottom_at_y(column.top() + HEAD);
    let of_programs = state.runs.history.origin == RunOrigin::Programs;
    let size = state.runs.history.size_words(state.runs.limits);
    let words = if of_programs {
        let kept = "Kept on this computer, without the headers, which may hold keys.";
        format!("{size}. {kept} The oldest are deleted")
    } else {
        format!("{size}. The oldest unpinned runs are deleted")
    };
    let unkept = state.runs.history.unkept.clone();
    let one_line = Face::Small.width(ui, &words) + LIMITS <= column.width() - 2.0 * FOOT_MARGIN;
    let foot_height = if one_line { FOOT } else { HIGH_FOOT };
    let (rows, foot) = rest.split_top_bottom_at_y(rest.bottom() - foot_height);
    let head = head.shrink2(vec2(14.0, 10.0));
    head_ui(&mut child_ui(ui, head, "search"), state, commands);
    let foot = foot.shrink2(vec2(FOOT_MARGIN, 8.0));
    let mut foot_area = child_ui(ui, foot, "size");
    let label = Label::new(Face::Small.text(words).color(Theme::of(ui).text_2));
    if one_line {
        foot_area.horizontal_centered(|ui| {
            // The sentence goes on after a space.
            ui.spacing_mut().item_spacing.x = 3.0;
            ui.add(label);
            limits_ui(ui, &mut state.runs.limits);
        });
    } else {
        foot_area.add(label.truncate());
        foot_area.horizontal(|ui| limits_ui(ui, &mut state.runs.limits));
    }
    let sentence = sentence(state).filter(|_| !of_programs || state.runs.history.runs.is_none());
    if let Some(sentence) = sentence {
        let rows = rows.shrink2(vec2(FOOT_MARGIN, 0.0));
        return sentence_ui(ui, rows, &sentence);
    }
    let mut ui = child_ui(ui, rows.shrink2(vec2(8.0, 0.0)), "rows");
    if let Some(error) = unkept {
        unkept_ui(&mut ui, &error);
    }
    if of_programs {
        requests_ui(&mut ui, state, commands);
    } else {
        rows_ui(&mut ui, state, commands);
    }
}

/// Returns the sentence that replaces the rows if there are none.
fn sentence(state: &AppState) -> Option<String> {
    let history = &state.runs.history;
    if let Some(error) = &history.error {
        return Some(error.clone());
    }
    let Some(runs) = &history.runs else {
        return Some("Reading the runs…".to_owned());
    };
    if runs.is_empty() {
        let unkept = history.unkept.as_ref();
        return Some(match unkept {
            Some(error) => format!("Nothing is saved. {error}"),
            None => "Every finished run is saved here.".to_owned(),
        });
    }
    let search = history.search.trim();
    let is_found = !history.found().is_empty();
    (!is_found).then(|| {
        if search.is_empty() {
            "No run of this model.".to_owned()
        } else {
            format!("No run contains ‘{search}’.")
        }
    })
}

/// Says that the last run is missing, and why.
fn unkept_ui(ui: &mut Ui, error: &str) {
    let words = format!("The last run was not saved. {error}");
    ui.horizontal(|ui| {
        ui.add_space(12.0);
        let text = Face::Small.text(words).color(Theme::of(ui).error);
        ui.add(Label::new(text).wrap());
    });
}

fn head_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let open = Button::new("Open a file…").icon(Icon::File);
        if ui.add(open).clicked() {
            commands.push(Command::AskPath(PathPurpose::Run));
        }
        models_ui(ui, state);
        origin_ui(ui, state);
        let edit = TextEdit::singleline(&mut state.runs.history.search)
            .hint_text("Search prompts, texts and models")
            .frame(field_frame(ui))
            .desired_width(ui.available_width());
        ui.add(edit)
            .accessible_name("Search prompts, texts and models");
    });
}

/// Draws the choice of the user’s own runs or those of other programs, once there are any.
fn origin_ui(ui: &mut Ui, state: &mut AppState) {
    let Runs {
        history, listening, ..
    } = &mut state.runs;
    let has_requests = listening.is_on()
        || listening.n_requests() > 0
        || history
            .runs
            .iter()
            .flatten()
            .any(|run| run.asked().is_some());
    if !has_requests {
        history.origin = RunOrigin::All;
        return;
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for origin in RunOrigin::ALL.into_iter().rev() {
            if switch_part(ui, origin.name(), history.origin == origin).clicked() {
                history.origin = origin;
            }
        }
    });
}

fn models_ui(ui: &mut Ui, state: &mut AppState) {
    const ALL: &str = "All models";
    let models = state.runs.history.models();
    let label = state.runs.history.model.clone();
    let label = label.unwrap_or_else(|| ALL.to_owned());
    let name = format!("Model: {label}");
    let response = ui.add(Button::new(&label).icon(Icon::Down).name(&name));
    Popup::menu(&response)
        .width(220.0)
        .gap(4.0)
        .accessible_name("Model")
        .show(|ui| {
            let chosen = &mut state.runs.history.model;
            if menu_item(ui, ALL, "", chosen.is_none()).clicked() {
                *chosen = None;
            }
            for model in models {
                let selected = chosen.as_ref() == Some(&model);
                if menu_item(ui, &model, "", selected).clicked() {
                    *chosen = Some(model);
                }
            }
        });
}

fn rows_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let now = unix_time_secs();
    let shown = state.runs.history.shown().map(|run| run.file.clone());
    let mut last_heading = "";
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for run in state.runs.history.found() {
            let (heading, time) = heading_and_time(run.finished_at(), now);
            if heading != last_heading {
                heading_ui(ui, heading);
                last_heading = heading;
            }
            let is_shown = shown.as_ref() == Some(&run.file);
            row_ui(ui, run, &time, is_shown, commands);
        }
    });
}

pub(super) fn heading_ui(ui: &mut Ui, heading: &str) {
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.add_space(12.0);
        ui.label(Face::Small.text(heading).color(Theme::of(ui).text_2));
    });
    ui.add_space(6.0);
}

/// Draws the end of the sentence about when the oldest runs are deleted, with a field for each
/// limit.
fn limits_ui(ui: &mut Ui, limits: &mut HistoryLimits) {
    ui.spacing_mut().item_spacing.x = 6.0;
    let color = Theme::of(ui).text_2;
    let label = |ui: &mut Ui, words: &str| {
        ui.label(Face::Small.text(words).color(color));
    };
    let HistoryLimits { n_runs, megabytes } = limits;
    label(ui, "beyond");
    let number = DragValue::new(n_runs).range(1..=100_000);
    ui.add(number).accessible_name("Maximum runs to keep");
    label(ui, "runs or");
    let number = DragValue::new(megabytes).range(1..=100_000);
    ui.add(number).accessible_name("Maximum megabytes to keep");
    label(ui, "MB.");
}

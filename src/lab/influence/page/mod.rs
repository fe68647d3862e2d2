//! The Influence tab: what to look at on the left, the tinted text with its rows in the middle, what
//! it shows on the right.

mod empty;

use egui::{Label, Rect, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};

use super::document::InfluenceDocument;
use super::figures::{InfluenceResults, bits_words};
use super::plan::LeftOut;
use super::plot::{
    InfluencePlot, ROW, SHIFTS, head_ui, laid_out, last_row_ui, part_at, rings_ui, row_ui,
    shifts_ui, title_ui,
};
use super::state::{InfluenceRun, InfluenceTarget, blocking_reason, pinned, pinned_words};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, checkbox};
use crate::generation::formatting::counted;
use crate::lab::frame::bar::{export_files_ui, note_ui};
use crate::lab::frame::setup::{menu_choices_ui, menu_row_ui};
use crate::lab::frame::{Columns, Foot, Labels, Progress, Selection, Tab, empty as frame_empty};
use crate::state::{AppState, Command, PaneId, capitalize};

/// The share of the height that the text takes at most.
const TEXT: f32 = 0.34;

pub(in crate::lab) const TAB: Tab = Tab {
    bar: |ui, state, commands| bar_ui(ui, state, commands),
    form: |ui, state, _| form_ui(ui, state),
    foot,
    results: results_ui,
    selection: Some(Selection {
        step: |lab, rows, columns| {
            if let Some(run) = &mut lab.influence.run {
                run.move_selection(rows + columns);
            }
        },
        // A part is not a text to open.
        open: |_| None,
    }),
    keys: None,
};

/// Draws the export menu and the summary.
fn bar_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let run = state.lab.influence.run.as_ref();
    let results = run.and_then(|run| run.results.as_ref());
    let is_there = results.is_some_and(|results| results.known().next().is_some());
    export_ui(ui, is_there, commands);
    if let Some(run) = run {
        note_ui(ui, &run.summary());
    }
}

/// Draws the menu of files.
fn export_ui(ui: &mut Ui, is_there: bool, commands: &mut Vec<Command>) {
    let items = InfluenceDocument::ALL.map(|document| {
        let extension = document.extension().to_uppercase();
        (format!("Measurement as {extension}…"), document)
    });
    export_files_ui(ui, "Export the measurement", is_there, items, commands);
}

/// Draws the text with its rows, and what they show.
fn results_ui(ui: &mut Ui, columns: Columns, state: &mut AppState, _commands: &mut Vec<Command>) {
    let run = state.lab.influence.run.as_ref();
    let Some((run, results)) = run.and_then(|run| Some((run, run.results.as_ref()?))) else {
        let status = run.map(|run| &run.status);
        return match frame_empty::missing_words(status, "Waiting for the engine") {
            Some(words) => frame_empty::about_ui(ui, columns.middle, &words),
            None => empty::empty_ui(ui, columns, state),
        };
    };
    let plot = InfluencePlot {
        results,
        selected: run.shown_part(),
    };
    let clicked = middle_ui(ui, columns.middle, plot);
    reading_ui(&mut child_ui(ui, columns.right, "reading"), run, results);
    if clicked.is_some()
        && let Some(run) = &mut state.lab.influence.run
    {
        run.selected = clicked;
    }
}

/// Draws what to look at, and what to leave out.
fn form_ui(ui: &mut Ui, state: &mut AppState) {
    let heading = Face::SmallMedium.text("What to look at");
    ui.label(heading.color(Theme::of(ui).text_1));
    target_ui(ui, state);
    let form = &mut state.lab.influence.form;
    let current = format!("each {}", form.unit.name());
    menu_ui(ui, "Leave out", &current, |ui| {
        let choices = LeftOut::ALL.map(|unit| (unit, format!("each {}", unit.name())));
        menu_choices_ui(ui, choices, &mut form.unit);
    });
    if form.target != InfluenceTarget::Next {
        let words = Face::Small.text("Also parts of the text after the prompt");
        let color = Theme::of(ui).text_2;
        checkbox(ui, &mut form.also_written, words.color(color));
    }
}

/// Draws the menu of choices that can be looked at.
fn target_ui(ui: &mut Ui, state: &mut AppState) {
    let texts: Vec<(PaneId, String)> = state
        .panes
        .with_text()
        .into_iter()
        .map(|(id, name)| (id, format!("the text of {name}")))
        .collect();
    let token = pinned(state).map(|(_, text, step)| pinned_words(text, step));
    let mut choices = vec![(InfluenceTarget::Next, "the next token".to_owned())];
    choices.extend(token.map(|words| (InfluenceTarget::Pinned, words)));
    let texts = texts.into_iter();
    choices.extend(texts.map(|(id, words)| (InfluenceTarget::Text(id), words)));
    let target = &mut state.lab.influence.form.target;
    let current = choices.iter().find(|(choice, _)| choice == target);
    let current = current.or(choices.first()).map(|(_, words)| words.clone());
    menu_ui(ui, "The choice of", &current.unwrap_or_default(), |ui| {
        menu_choices_ui(ui, choices, target);
    });
}

/// Draws a row with a menu.
fn menu_ui(ui: &mut Ui, name: &str, current: &str, items: impl FnOnce(&mut Ui)) {
    let label = format!("{name}: {current}");
    let chip = Chip::new(current).name(&label).max_width(170.0);
    menu_row_ui(ui, name, chip, (name, 220.0), items);
}

/// Returns what stands below the form.
fn foot(state: &AppState) -> Foot {
    let labels = Labels {
        run: "Measure",
        stop: "Stop",
        stop_hint: "The measurements so far are kept",
    };
    let progress = |run: &InfluenceRun| {
        let share = run.fraction().unwrap_or_default();
        Progress::new(Some(share as f32), run.summary())
    };
    let run = state.lab.influence.run.as_ref();
    Foot::new(labels, run, progress, blocking_reason(state))
}

/// Draws the text, the rows and the candidates. Returns the part that was clicked.
fn middle_ui(ui: &mut Ui, area: Rect, plot: InfluencePlot<'_>) -> Option<usize> {
    let body = title_ui(ui, area, plot.results);
    let text = laid_out(ui, body.width() - 12.0, plot.results);
    let height = (text.size().y + 12.0).min(body.height() * TEXT);
    let (above, below) = body.split_top_bottom_at_y(body.top() + height);
    let mut clicked = None;
    let mut above = child_ui(ui, above, "text");
    ScrollArea::vertical().show(&mut above, |ui| {
        ui.add_space(4.0);
        let (rect, response) = ui.allocate_exact_size(text.size(), Sense::click());
        response.widget_info(|| {
            let words = format!("Text with divergences: {}", text.text());
            WidgetInfo::labeled(Role::Label, true, &words)
        });
        text.paint(ui, rect.min);
        rings_ui(ui, &text, rect.min, plot);
        let pointer = response.interact_pointer_pos();
        if let Some(pointer) = pointer.filter(|_| response.clicked()) {
            let position = text.piece_at(pointer - rect.min);
            let parts = &plot.results.facts.parts;
            clicked = position.and_then(|position| part_at(parts, position));
        }
    });
    let (rows, shifts) = below.split_top_bottom_at_y(below.bottom() - SHIFTS);
    let row = rows_ui(&mut child_ui(ui, rows, "rows"), plot);
    if let Some(part) = plot.selected {
        shifts_ui(ui, shifts, part, plot.results);
    }
    row.or(clicked)
}

/// Draws the rows of numbers. Returns the part that was clicked.
fn rows_ui(ui: &mut Ui, plot: InfluencePlot<'_>) -> Option<usize> {
    let InfluencePlot { results, selected } = plot;
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut clicked = None;
    let width = ui.available_width() - 12.0;
    let (head, _) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
    head_ui(ui, head, results);
    let n_parts = results.facts.parts.len();
    ScrollArea::vertical()
        .auto_shrink(false)
        .show_rows(ui, ROW, n_parts + 1, |ui, rows| {
            for part in rows {
                let sense = if part < n_parts {
                    Sense::click()
                } else {
                    Sense::hover()
                };
                let (row, response) = ui.allocate_exact_size(vec2(width, ROW), sense);
                if part >= n_parts {
                    last_row_ui(ui, row, results);
                    continue;
                }
                let is_selected = selected == Some(part);
                response.widget_info(|| {
                    let words = row_words(results, part);
                    WidgetInfo::selected(Role::Button, true, is_selected, &words)
                });
                if is_selected {
                    let fill = Theme::of(ui).surface_3;
                    ui.painter().rect_filled(row, 4, fill);
                }
                row_ui(ui, row, part, results);
                if response.clicked() {
                    clicked = Some(part);
                }
            }
        });
    clicked
}

/// "Without ‘fox’: 1.61 bits, ‘nest’ 1.4 %".
fn row_words(results: &InfluenceResults, part: usize) -> String {
    let start = format!("Without ‘{}’", results.part_text(part));
    let (Some(influence), Some([_, without])) =
        (results.influence(part), results.likelihoods(part))
    else {
        return format!("{start}: not measured yet");
    };
    let (bits, without) = (bits_words(influence.bits), without.words());
    if results.is_of_several() {
        return format!("{start}: {bits} bits, the text {without} bits per token");
    }
    let chosen = results.chosen_text().unwrap_or_default();
    format!("{start}: {bits} bits, ‘{chosen}’ {without}")
}

/// Says what was found.
fn reading_ui(ui: &mut Ui, run: &InfluenceRun, results: &InfluenceResults) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.set_max_width(ui.available_width() - 12.0);
        let parts = counted(results.facts.parts.len(), results.unit.name());
        let words = Face::Small.text(format!("{}, {parts}", capitalize(&run.target)));
        ui.add(Label::new(words.color(theme.text_2)).wrap());
        ui.label(
            Face::SmallMedium
                .text("What this shows")
                .color(theme.text_1),
        );
        let coming = "The numbers appear as they are measured.";
        let words = frame_empty::shown_words(&results.sentences(), &run.status, coming);
        ui.add(Label::new(Face::Why.text(words).color(theme.text_1)).wrap());
        ui.separator();
        for note in results.notes() {
            ui.add(Label::new(Face::Small.text(note).color(theme.text_2)).wrap());
        }
    });
}

#[cfg(test)]
mod tests;

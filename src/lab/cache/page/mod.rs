//! The Cache tab: how much to measure on the left, the plots or their tables in the middle, and on
//! the right what they show.

mod empty;
mod table;
#[cfg(test)]
mod tests;

use egui::{Label, ScrollArea, Sense, Ui, Vec2};

use self::table::{table_ui, tables_ui};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::generation::CacheShape;
use crate::lab::cache::CacheDocument;
use crate::lab::cache::figures::CacheLab;
use crate::lab::cache::plot::cache_lab_ui;
use crate::lab::cache::state::cache_blocking_reason;
use crate::lab::cache::{CacheProgress, CacheRun};
use crate::lab::frame::bar::{export_files_ui, is_tight, note_ui, table_choice_ui};
use crate::lab::frame::setup::number_ui;
use crate::lab::frame::{Columns, Foot, Labels, Progress, Tab, empty as frame_empty};
use crate::state::{AppState, Command, ResultFormat, RunStatus};

const ABOUT: &str = "Writes this many tokens after the prompt with the cache, computes some of them again \
    without it, and reads prompts of several lengths.";

pub(in crate::lab) const TAB: Tab = Tab {
    bar: cache_bar_ui,
    form: |ui, state, _| form_ui(ui, state),
    foot,
    results: |ui, columns, state, _| results_ui(ui, columns, state),
    selection: None,
    keys: None,
};

/// Draws the summary of the measurement, the button that shows it as a table, and its export menu.
fn cache_bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let lab = state
        .lab
        .cache
        .run
        .as_ref()
        .and_then(|run| run.lab.as_ref());
    let is_there = lab.is_some_and(|lab| !lab.on.is_empty());
    export_files_ui(
        ui,
        "Export the measurement",
        is_there,
        ResultFormat::ALL.map(|format| {
            (
                format!("Measurement as {}…", format.extension().to_uppercase()),
                CacheDocument(format),
            )
        }),
        commands,
    );
    if is_there {
        let is_tight = is_tight(ui);
        table_choice_ui(ui, is_tight, &mut state.lab.cache.is_table);
    }
    // While it runs, the foot of the setup says the same.
    if let Some(run) = state
        .lab
        .cache
        .run
        .as_ref()
        .filter(|run| !run.status.is_running())
    {
        note_ui(ui, &run.summary());
    }
}

/// Draws how much to measure, and what that does.
fn form_ui(ui: &mut Ui, state: &mut AppState) {
    let theme = Theme::of(ui);
    ui.label(
        Face::SmallMedium
            .text("What to measure")
            .color(theme.text_1),
    );
    let n_tokens = &mut state.lab.cache.n_tokens;
    number_ui(ui, "Tokens to generate", n_tokens, 2..=4096);
    let words = Face::Small.text(ABOUT).color(theme.text_2);
    ui.add(Label::new(words).wrap());
}

/// Returns what stands below the form.
fn foot(state: &AppState) -> Foot {
    let run = state.lab.cache.run.as_ref();
    let labels = Labels {
        run: if run.is_some() {
            "Measure again"
        } else {
            "Measure"
        },
        stop: "Stop",
        stop_hint: "The measurements so far are kept",
    };
    let progress = |run: &CacheRun| Progress::new(fraction_done(run), run.summary());
    Foot::new(labels, run, progress, cache_blocking_reason(state))
}

/// Draws the plots or the tables, and what they show.
fn results_ui(ui: &mut Ui, columns: Columns, state: &AppState) {
    let Columns { middle, right, .. } = columns;
    let run = state.lab.cache.run.as_ref();
    let Some((run, lab)) = run.and_then(|run| Some((run, run.lab.as_ref()?))) else {
        let status = run.map(|run| &run.status);
        return match frame_empty::missing_words(status, "Waiting for the engine") {
            Some(words) => frame_empty::about_ui(ui, middle, &words),
            None => empty::empty_ui(ui, columns, state),
        };
    };
    if state.lab.cache.is_table {
        tables_ui(&mut child_ui(ui, middle, "tables"), lab);
    } else {
        cache_lab_ui(&child_ui(ui, middle, "plots"), middle, lab);
    }
    reading_ui(&mut child_ui(ui, right, "reading"), run, lab);
}

/// Draws the findings, the formula with the model's numbers, and the cost of several panes.
fn reading_ui(ui: &mut Ui, run: &CacheRun, lab: &CacheLab) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Keep the text clear of the scroll bar.
        ui.set_max_width(ui.available_width() - 12.0);
        if let RunStatus::Failed { error } = &run.status {
            let words = Face::Small.text(crate::state::capitalize(error));
            ui.add(Label::new(words.color(theme.error)).wrap());
        }
        heading_ui(ui, "What this shows");
        let coming = "Points appear as they are measured.";
        let words = frame_empty::shown_words(&lab.sentences(), &run.status, coming);
        ui.add(Label::new(Face::Why.text(words).color(theme.text_1)).wrap());
        agreement_ui(ui, lab);
        ui.separator();
        shape_ui(ui, lab);
        if lab.panes.is_some() {
            ui.separator();
            let table = lab.panes_table();
            heading_ui(ui, &table.title);
            ui.scope(|ui| table_ui(ui, &table));
        }
        ui.separator();
        let note = "All times were measured on this computer, one forward pass each. The \
                    lines follow the medians, so other programs hardly affect them. With the \
                    cache off, the whole text is processed again for each token.";
        ui.add(Label::new(Face::Small.text(note).color(theme.text_2)).wrap());
    });
}

fn heading_ui(ui: &mut Ui, words: &str) {
    let color = Theme::of(ui).text_1;
    ui.label(Face::SmallMedium.text(words).color(color));
}

/// Says whether both texts are the same, with an icon.
fn agreement_ui(ui: &mut Ui, lab: &CacheLab) {
    let (Some(words), Some(agreement)) = (lab.agreement_words(), lab.agreement()) else {
        return;
    };
    let theme = Theme::of(ui);
    let (icon, color) = match agreement.first_different {
        None => (Icon::Check, theme.success),
        Some(_) => (Icon::Warning, theme.warning),
    };
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let (rect, _) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
        icon.paint(ui.painter(), rect, color);
        ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
    });
}

/// Draws the formula for the bytes of one token.
fn shape_ui(ui: &mut Ui, lab: &CacheLab) {
    let theme = Theme::of(ui);
    heading_ui(ui, "Bytes for one token");
    let Some(shape) = &lab.facts.shape else {
        let words = "No single formula describes this model\u{2019}s cache: its layers keep keys and \
                     values of different sizes or share them, or it runs through \
                     candle-transformers.";
        ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
        return;
    };
    let formula = Face::Code.text(CacheShape::FORMULA).color(theme.text_2);
    ui.add(Label::new(formula).wrap());
    let filled = Face::Code.text(shape.filled_in()).color(theme.text_1);
    ui.add(Label::new(filled).wrap());
    let mut words = shape.words();
    if shape.format == "f32" && shape.n_layers > 0 {
        words += " An f16 cache takes half of that, a q8 cache about a quarter.";
    }
    if let Some(memory) = lab.memory_words() {
        words += " ";
        words += &memory;
    }
    ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
}

/// Returns the share of the current stage that is done, or `None` while nothing is measured.
fn fraction_done(run: &CacheRun) -> Option<f32> {
    let CacheProgress { n_done, n_all, .. } = run.progress.filter(|_| run.status.is_running())?;
    (n_all > 0).then(|| n_done as f32 / n_all as f32)
}

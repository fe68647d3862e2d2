//! The Cache tab: the plots or their tables, and on the right what they show.

mod table;
#[cfg(test)]
mod tests;

use egui::{Label, Rect, ScrollArea, Sense, Ui, Vec2};

use self::table::{table_ui, tables_ui};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Number};
use crate::generation::CacheShape;
use crate::lab::cache::CacheDocument;
use crate::lab::cache::figures::CacheLab;
use crate::lab::cache::plot::cache_lab_ui;
use crate::lab::cache::state::cache_blocking_reason;
use crate::lab::cache::{CacheProgress, CacheRun};
use crate::lab::frame::bar::{export_files_ui, is_tight, status_ui, table_choice_ui};
use crate::lab::frame::{Tab, TabPage};
use crate::lab::{LabCommand, LabTab};
use crate::plots::count;
use crate::state::{Action, AppState, Command, ResultFormat, RunStatus};
use crate::ui::keys::key_words;

const EMPTY: &str = "Press Measure to generate one text with and without the cache.";

pub(in crate::lab) const TAB: Tab = Tab {
    bar: cache_bar_ui,
    page: TabPage::TwoColumns(|ui, columns, state, _| cache_tab_ui(ui, columns, state)),
    selection: None,
    keys: None,
};

/// Draws the progress of the KV cache measurement, its buttons, and its export menu.
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
    let is_tight = is_tight(ui);
    measure_ui(ui, is_tight, state, commands);
    if is_there {
        table_choice_ui(ui, is_tight, &mut state.lab.cache.is_table);
    }
    if let Some(run) = &state.lab.cache.run {
        status_ui(ui, &run.summary(), fraction_done(run));
    }
}

/// Draws the pictures on the left, and what they show on the right.
fn cache_tab_ui(ui: &mut Ui, [left, right]: [Rect; 2], state: &AppState) {
    let run = state.lab.cache.run.as_ref();
    let Some((run, lab)) = run.and_then(|run| Some((run, run.lab.as_ref()?))) else {
        let words = match run.map(|run| &run.status) {
            Some(RunStatus::Failed { error }) => crate::state::capitalize(error),
            Some(_) => "Waiting for the engine".to_owned(),
            None => EMPTY.to_owned(),
        };
        return sentence_ui(ui, left, &words);
    };
    if state.lab.cache.is_table {
        tables_ui(&mut child_ui(ui, left, "tables"), lab);
    } else {
        cache_lab_ui(&child_ui(ui, left, "plots"), left, lab);
    }
    reading_ui(&mut child_ui(ui, right, "reading"), run, lab);
}

fn sentence_ui(ui: &mut Ui, area: Rect, words: &str) {
    let color = Theme::of(ui).text_3;
    let label = Label::new(Face::Body.text(words).color(color)).wrap();
    ui.put(area, label.halign(egui::Align::Center));
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
        let sentences = lab.sentences().join(" ");
        let words = if sentences.is_empty() {
            "Points appear as they are measured."
        } else {
            &sentences
        };
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

/// Draws the number of tokens to generate, and the button that starts or stops the measurement,
/// from right to left.
fn measure_ui(ui: &mut Ui, is_tight: bool, state: &mut AppState, commands: &mut Vec<Command>) {
    if state.lab.is_running(LabTab::Cache) {
        let stop = Button::new("Stop").icon(Icon::Stop).hint("Esc");
        let hint = "The measurements so far are kept";
        if ui.add(stop).on_hover_text(hint).clicked() {
            commands.push(Command::Lab(LabCommand::Stop(LabTab::Cache)));
        }
        return;
    }
    let reason = cache_blocking_reason(state);
    let name = if state.lab.cache.run.is_some() {
        "Measure again"
    } else {
        "Measure"
    };
    let (words, hint) = if is_tight {
        ("Measure", String::new())
    } else {
        (name, key_words(ui, Action::Generate))
    };
    let button = Button::new(words).name(name).icon(Icon::Play).hint(&hint);
    let response = ui
        .add_enabled(reason.is_none(), button)
        .on_disabled_hover_text(reason.unwrap_or_default());
    if response.clicked() {
        commands.push(Command::Lab(LabCommand::Run(LabTab::Cache)));
    }
    if !is_tight {
        let color = Theme::of(ui).text_2;
        ui.label(Face::Small.text("tokens").color(color));
    }
    let mut n_tokens = state.lab.cache.n_tokens as f64;
    let field = Number::new("Tokens to generate", 2.0..=4096.0, 0);
    if field.field_ui(ui, &mut n_tokens).changed() {
        state.lab.cache.n_tokens = count(n_tokens.round()).max(2);
    }
}

/// Returns the share of the current stage that is done, or `None` while nothing is measured.
fn fraction_done(run: &CacheRun) -> Option<f32> {
    let CacheProgress { n_done, n_all, .. } = run.progress.filter(|_| run.status.is_running())?;
    (n_all > 0).then(|| n_done as f32 / n_all as f32)
}

//! The row of tabs, with the selected tab's summary, its choices and its export menu.

use egui::{Align, Label, Layout, Popup, Role, Sense, Ui, Vec2, WidgetInfo};

use super::cache::{fraction_done, measure_ui};
use super::models::compare_ui;
use crate::analysis::sweep::Metric;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, menu_item, progress_bar, submenu};
use crate::state::{
    AppState, Command, Document, FuturesFormat, LabTab, PathPurpose, PictureFormat, StabilityAxes,
    SweepFile, SweepPicture, TableFormat, VotesFormat,
};
use crate::ui::dock::tab_ui;
use crate::ui::picture_menu::{by_hand_picture, picture_button_ui};

/// Draws the row.
pub(super) fn bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for tab in LabTab::ALL {
            if tab_ui(ui, tab.name(), tab == state.lab.tab) {
                state.lab.tab = tab;
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            match state.lab.tab {
                LabTab::Sweep => {
                    export_ui(ui, state, commands);
                    metric_ui(ui, state);
                    if let Some(sweep) = state.lab.sweep() {
                        note_ui(ui, &sweep.summary());
                    }
                }
                LabTab::Prompts => batch_bar_ui(ui, state, commands),
                LabTab::Stability => stability_bar_ui(ui, state, commands),
                LabTab::Fit => fit_bar_ui(ui, state, commands),
                LabTab::Cache => cache_bar_ui(ui, state, commands),
                LabTab::Models => models_bar_ui(ui, state, commands),
                LabTab::Blind => votes_bar_ui(ui, state, commands),
                LabTab::ByHand => {
                    let pictures = [by_hand_picture()];
                    picture_button_ui(ui, &pictures, &mut state.view, commands);
                }
            }
        });
    });
}

/// The minimum room to the right of the tabs for a summary, for a progress bar beside it, and for
/// all the words of a tab's controls.
const MIN_NOTE: f32 = 60.0;
const MIN_PROGRESS: f32 = 240.0;
const MIN_WORDS: f32 = 480.0;

/// Returns whether the controls must be short to fit to the right of the tabs.
fn is_tight(ui: &Ui) -> bool {
    ui.available_width() < MIN_WORDS
}

/// Draws a summary, as much of it as fits to the right of the tabs.
fn note_ui(ui: &mut Ui, words: &str) {
    if ui.available_width() >= MIN_NOTE {
        let words = Face::Small.text(words).color(Theme::of(ui).text_2);
        ui.add(Label::new(words).truncate());
    }
}

/// Draws the status of a measurement and a progress bar, as much of them as fits to the right of
/// the tabs.
pub(super) fn status_ui(ui: &mut Ui, words: &str, fraction: Option<f32>) {
    if let Some(fraction) = fraction.filter(|_| ui.available_width() >= MIN_PROGRESS) {
        ui.scope(|ui| {
            ui.set_max_width(80.0);
            progress_bar(ui, fraction);
        });
    }
    let response = if ui.available_width() >= MIN_NOTE {
        let words = Face::Small.text(words).color(Theme::of(ui).text_2);
        ui.add(Label::new(words).truncate())
    } else {
        // Screen readers still announce it.
        ui.allocate_response(Vec2::ZERO, Sense::hover())
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Status, true, words));
}

/// Draws the menu of what the stability map varies, and its export menu.
fn stability_bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let is_there = state.lab.stability.is_some();
    export_files_ui(
        ui,
        "Export the map",
        is_there,
        |format| {
            (
                format!("Map as {}…", format.extension().to_uppercase()),
                Document::Stability(format),
            )
        },
        commands,
    );
    let axes = &mut state.lab.stability_axes;
    let name = format!("Map over {}", axes.name());
    let response = ui.add(Chip::new(axes.name()).name(&name).quiet().chevron());
    Popup::menu(&response)
        .width(160.0)
        .gap(4.0)
        .accessible_name("Map over")
        .show(|ui| {
            for choice in StabilityAxes::ALL {
                if menu_item(ui, choice.name(), "", choice == *axes).clicked() {
                    *axes = choice;
                }
            }
        });
    if is_there {
        note_ui(ui, "without running the model");
    }
}

/// Draws the summary of the list of prompts, and its export menu.
fn batch_bar_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let run = state.lab.batch.as_ref();
    let is_there = run.is_some_and(|run| run.n_done().0 > 0);
    let response = ui
        .add_enabled_ui(is_there, |ui| {
            icon_button(ui, Icon::Export, "Export the texts")
        })
        .inner;
    Popup::menu(&response)
        .width(200.0)
        .gap(4.0)
        .accessible_name("Export the texts")
        .show(|ui| {
            for format in TableFormat::ALL {
                let label = format!("Texts as {}…", format.name());
                if menu_item(ui, &label, "", false).clicked() {
                    let document = Document::Prompts(format);
                    commands.push(Command::AskPath(PathPurpose::Save(document)));
                }
            }
        });
    if let Some(run) = run {
        note_ui(ui, &run.summary());
    }
}

/// Draws the summary of the fit, the button that shows it as a table, and its export menu.
fn fit_bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let run = state.lab.fit.as_ref();
    let is_there = run.is_some_and(|run| run.fit.n_done() > 0);
    let summary = run.map(crate::state::FitRun::summary);
    export_files_ui(
        ui,
        "Export the fit",
        is_there,
        |format| {
            (
                format!("Fit as {}…", format.extension().to_uppercase()),
                Document::Fit(format),
            )
        },
        commands,
    );
    if is_there {
        table_choice_ui(ui, false, &mut state.lab.is_fit_table);
    }
    if let Some(summary) = summary {
        note_ui(ui, &summary);
    }
}

/// Draws the progress of the KV cache measurement, its buttons, and its export menu.
fn cache_bar_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let lab = state.lab.cache.as_ref().and_then(|run| run.lab.as_ref());
    let is_there = lab.is_some_and(|lab| !lab.on.is_empty());
    export_files_ui(
        ui,
        "Export the measurement",
        is_there,
        |format| {
            (
                format!("Measurement as {}…", format.extension().to_uppercase()),
                Document::Cache(format),
            )
        },
        commands,
    );
    let is_tight = is_tight(ui);
    measure_ui(ui, is_tight, state, commands);
    if is_there {
        table_choice_ui(ui, is_tight, &mut state.lab.is_cache_table);
    }
    if let Some(run) = &state.lab.cache {
        status_ui(ui, &run.summary(), fraction_done(run));
    }
}

/// Draws the progress of the comparison of two models, its button, and its export menu.
fn models_bar_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let run = state.lab.models.as_ref();
    let compared = run.and_then(|run| run.compared.as_ref());
    export_files_ui(
        ui,
        "Export the comparison",
        compared.is_some_and(|compared| compared.n_predicted() > 0),
        |format| {
            (
                format!("Comparison as {}…", format.extension().to_uppercase()),
                Document::Models(format),
            )
        },
        commands,
    );
    compare_ui(ui, state, commands);
}

/// Draws the number of votes, and their export menu.
fn votes_bar_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let n = state.lab.blind.votes().len();
    let response = ui
        .add_enabled_ui(n > 0, |ui| {
            icon_button(ui, Icon::Export, "Export the votes")
        })
        .inner;
    Popup::menu(&response)
        .width(220.0)
        .gap(4.0)
        .accessible_name("Export the votes")
        .show(|ui| {
            for (label, hint, format) in [
                ("Votes as CSV…", "one row per text", VotesFormat::Csv),
                ("Votes as JSON…", "with strengths", VotesFormat::Json),
            ] {
                if menu_item(ui, label, hint, false).clicked() {
                    let document = Document::Votes(format);
                    commands.push(Command::AskPath(PathPurpose::Save(document)));
                }
            }
        });
    match n {
        0 => {}
        1 => note_ui(ui, "1 vote"),
        n => note_ui(ui, &format!("{n} votes")),
    }
}

/// Draws the button that switches between the picture and its table.
fn table_choice_ui(ui: &mut Ui, is_tight: bool, is_table: &mut bool) {
    let (name, short) = if *is_table {
        ("Show the picture", "Picture")
    } else {
        ("Show as a table", "Table")
    };
    let words = if is_tight { short } else { name };
    if ui.add(Button::new(words).name(name).quiet()).clicked() {
        *is_table = !*is_table;
    }
}

/// Draws the menu that exports a result as SVG, PNG or CSV. `item` returns the label and the
/// document for a format.
fn export_files_ui(
    ui: &mut Ui,
    name: &str,
    is_there: bool,
    item: impl Fn(FuturesFormat) -> (String, Document),
    commands: &mut Vec<Command>,
) {
    let response = ui
        .add_enabled_ui(is_there, |ui| icon_button(ui, Icon::Export, name))
        .inner;
    Popup::menu(&response)
        .width(200.0)
        .gap(4.0)
        .accessible_name(name)
        .show(|ui| {
            for format in FuturesFormat::ALL {
                let (label, document) = item(format);
                if menu_item(ui, &label, "", false).clicked() {
                    commands.push(Command::AskPath(PathPurpose::Save(document)));
                }
            }
        });
}

/// Draws the menu that chooses the figure to show.
fn metric_ui(ui: &mut Ui, state: &mut AppState) {
    let title = |metric: Metric| match state.lab.sweep() {
        Some(sweep) => sweep.results.title(metric),
        None => metric.name().to_owned(),
    };
    let current = title(state.lab.metric);
    let titles = Metric::ALL.map(|metric| (metric, title(metric)));
    let results = state.lab.sweep().map(|sweep| &sweep.results);
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
                let selected = state.lab.metric == metric;
                let explanation = metric.explanation();
                if menu_item(ui, &title, explanation, selected).clicked() {
                    state.lab.metric = metric;
                }
            }
        });
}

/// Draws the export menu of the sweep.
fn export_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let sweep = state.lab.sweep();
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
            let mut save = |file| {
                let purpose = PathPurpose::Save(Document::Sweep(file));
                commands.push(Command::AskPath(purpose));
            };
            for format in PictureFormat::ALL {
                let extension = format.extension().to_uppercase();
                submenu(ui, &format!("Picture as {extension}"), "", 220.0, |ui| {
                    for metric in &metrics {
                        let label = format!("{} as {extension}…", metric.name());
                        if menu_item(ui, &label, "", false).clicked() {
                            save(SweepFile::Picture(SweepPicture::Metric(*metric), format));
                            ui.close();
                        }
                    }
                    let label = format!("Quality and diversity as {extension}…");
                    if menu_item(ui, &label, "", false).clicked() {
                        save(SweepFile::Picture(SweepPicture::Scatter, format));
                        ui.close();
                    }
                });
            }
            ui.separator();
            for (label, hint, file) in [
                ("Cells as CSV…", "one row per cell", SweepFile::Cells),
                ("Texts as CSV…", "one row per text", SweepFile::Texts),
                ("Sweep as JSON…", "everything", SweepFile::Json),
            ] {
                if menu_item(ui, label, hint, false).clicked() {
                    save(file);
                }
            }
        });
}

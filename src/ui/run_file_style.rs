//! The options for run files and tables: indented or compact, how much of each distribution to save,
//! and whether a table is for Excel.

use egui::Ui;

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::checkbox;
use crate::export::CsvReader;
use crate::state::AppState;

/// Draws a checkbox for each option.
pub(super) fn run_file_style_ui(ui: &mut Ui, state: &mut AppState) {
    let cost = state.all_probabilities_words();
    let style = &mut state.view.run_file;
    let label = Face::Small.text("Indented JSON");
    let hint = "Puts each value on its own line for easier reading. Quartet opens both forms";
    checkbox(ui, &mut style.indented, label).on_hover_text(hint);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let label = Face::Small.text("All probabilities");
        let hint = "Makes what-if exact when the file is opened. Without them, the file keeps the \
                    most likely tokens of each step, and what-if far from the run shows only \
                    bounds";
        checkbox(ui, &mut style.all_probabilities, label).on_hover_text(hint);
        let words = cost.unwrap_or_else(|| "not recorded in these texts".to_owned());
        ui.label(Face::Micro.text(words).color(Theme::of(ui).text_3));
    });
    let label = Face::Small.text("CSV for Excel");
    let hint = "Begins tables with a byte order mark, and puts an apostrophe before what Excel would \
                take for a formula. Programs that join the pieces of a text need neither";
    let style = &mut state.view.run_file;
    let mut is_for_excel = style.csv_reader == CsvReader::Excel;
    checkbox(ui, &mut is_for_excel, label).on_hover_text(hint);
    style.csv_reader = if is_for_excel {
        CsvReader::Excel
    } else {
        CsvReader::Any
    };
}

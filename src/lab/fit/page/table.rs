//! The fit as a table, also for screen readers: one row per combination of settings.

use egui::{ScrollArea, Ui, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::lab::fit::FitRun;

const ROW: f32 = 22.0;

/// Draws the visible rows. Each is one label, so that a screen reader reads it as a sentence.
pub(super) fn table_ui(ui: &mut Ui, run: &mut FitRun) {
    let theme = Theme::of(ui);
    let n_rows = run.fit.setup.n_cells();
    ui.spacing_mut().item_spacing = vec2(8.0, 0.0);
    let shown = run.shown_cell();
    let mut clicked = None;
    ScrollArea::vertical()
        .auto_shrink(false)
        .show_rows(ui, ROW, n_rows, |ui, rows| {
            for cell in rows {
                let words = Face::Small.text(run.cell_sentence(cell));
                let is_shown = shown == Some(cell);
                let words = words.color(if is_shown { theme.text_1 } else { theme.text_2 });
                let row = egui::Button::selectable(is_shown, words).truncate();
                if ui.add(row.min_size(vec2(0.0, ROW))).clicked() {
                    clicked = Some(cell);
                }
            }
        });
    if clicked.is_some() {
        run.selected = clicked;
    }
}

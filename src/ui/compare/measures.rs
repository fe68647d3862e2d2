//! The table of measures: one row per metric, one column per text, and the prices.

use egui::{Grid, Label, ScrollArea, Ui};

use crate::analysis::{Prices, TextMetrics};
use crate::design::fonts::Face;
use crate::design::style::reserve_scroll_bars;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, badge, checkbox};
use crate::generation::formatting::{grouped, pane_letter};
use crate::ui::text_measures::{cost_label, prices_ui, rows_for, saving_words};

/// The height of a row of the table, and the space below it, in points.
const ROW: f32 = 20.0;
const ROW_GAP: f32 = 2.0;

/// What the table shows of the texts.
pub(super) struct Measured<'a> {
    /// The metrics of the texts, each with the index of its pane.
    pub metrics: &'a [(usize, &'a TextMetrics)],
    pub breaks: Option<&'a GrammarBreaks>,
    pub has_one_tokenizer: bool,
}

/// Where texts break the grammar of another pane.
pub(super) struct GrammarBreaks {
    /// The index of the pane with the grammar.
    pub place: usize,
    /// The first step of each pane's text that would break it.
    pub steps: Vec<Option<usize>>,
}

/// Draws the table, and below it the fields for the prices and what a shorter text would have saved.
pub(super) fn measures_ui(
    ui: &mut Ui,
    shown: &Measured<'_>,
    marks_breaks: &mut bool,
    prices: &mut Prices,
) {
    reserve_scroll_bars(ui);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        table_ui(ui, shown, marks_breaks, *prices);
        ui.add_space(6.0);
        prices_ui(ui, prices);
        saving_ui(ui, shown.metrics, *prices);
    });
}

/// Returns the height of the table, in points.
pub(super) fn table_height(metrics: &[(usize, &TextMetrics)], prices: Prices) -> f32 {
    let n_measures = rows_for(metrics.iter().map(|(_, metrics)| *metrics), true).count();
    let n_rows = n_measures + 1 + usize::from(prices.are_set());
    n_rows as f32 * (ROW + ROW_GAP)
}

/// Draws the table.
pub(super) fn table_ui(ui: &mut Ui, shown: &Measured<'_>, marks_breaks: &mut bool, prices: Prices) {
    let theme = Theme::of(ui);
    let metrics = shown.metrics;
    let grid = Grid::new("measures").spacing([18.0, ROW_GAP]);
    grid.min_row_height(ROW).show(ui, |ui| {
        ui.label(
            Face::SmallMedium
                .text("Measures of the texts")
                .color(theme.text_1),
        );
        for (pane, _) in metrics {
            badge(ui, *pane, SMALL_BADGE);
        }
        ui.end_row();
        if let Some(breaks) = shown.breaks {
            breaks_ui(ui, breaks, metrics, marks_breaks);
            ui.end_row();
        }
        let texts = metrics.iter().map(|(_, metrics)| *metrics);
        for (name, help, value) in rows_for(texts, shown.has_one_tokenizer) {
            ui.label(Face::Small.text(name).color(theme.text_2))
                .on_hover_text(help);
            for (_, own) in metrics {
                ui.label(Face::Small.text(value(own)).color(theme.text_1));
            }
            ui.end_row();
        }
        if prices.are_set() {
            ui.label(
                Face::Small
                    .text("Cost of 1,000 runs like this")
                    .color(theme.text_2),
            );
            for (_, own) in metrics {
                let cost = cost_label(prices.cost(own) * 1000.0);
                ui.label(Face::Small.text(cost).color(theme.text_1));
            }
            ui.end_row();
        }
    });
}

/// Says what a shorter text would have saved.
pub(super) fn saving_ui(ui: &mut Ui, metrics: &[(usize, &TextMetrics)], prices: Prices) {
    if let Some(words) = saving_words(metrics, prices) {
        let words = Face::Small.text(words).color(Theme::of(ui).text_1);
        ui.add(Label::new(words).wrap());
    }
}

/// Draws the row that says, on request, where each text breaks the grammar of a pane.
fn breaks_ui(
    ui: &mut Ui,
    breaks: &GrammarBreaks,
    metrics: &[(usize, &TextMetrics)],
    marks_breaks: &mut bool,
) {
    let theme = Theme::of(ui);
    let label = format!("Breaks the grammar of {}", pane_letter(breaks.place));
    let label = Face::Small.text(label).color(theme.text_2);
    checkbox(ui, marks_breaks, label).on_hover_text(
        "The first token that the grammar would not have allowed. It is outlined in the texts, too.",
    );
    for (place, _) in metrics.iter().filter(|_| *marks_breaks) {
        let step = breaks.steps.get(*place).copied().flatten();
        let words = step.map_or_else(
            || "–".to_owned(),
            |step| format!("at {}", grouped(step as f64 + 1.0)),
        );
        ui.label(Face::Small.text(words).color(theme.text_1));
    }
}

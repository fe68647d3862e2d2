//! The table of measures: one row per metric, one column per text, and the prices.

use egui::{Grid, Label, ScrollArea, Ui};

use crate::analysis::{Prices, TextMetrics};
use crate::design::fonts::Face;
use crate::design::style::reserve_scroll_bars;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, badge};
use crate::ui::text_measures::{cost_label, prices_ui, rows_for, saving_words};

/// Draws the table, and below it the fields for the prices and what a shorter text would have saved.
pub(super) fn measures_ui(
    ui: &mut Ui,
    metrics: &[(usize, &TextMetrics)],
    has_one_tokenizer: bool,
    prices: &mut Prices,
) {
    let theme = Theme::of(ui);
    reserve_scroll_bars(ui);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let grid = Grid::new("measures").spacing([18.0, 2.0]);
        grid.min_row_height(20.0).show(ui, |ui| {
            ui.label(
                Face::SmallMedium
                    .text("Measures of the texts")
                    .color(theme.text_1),
            );
            for (pane, _) in metrics {
                badge(ui, *pane, SMALL_BADGE);
            }
            ui.end_row();
            let texts = metrics.iter().map(|(_, metrics)| *metrics);
            for (name, help, value) in rows_for(texts, has_one_tokenizer) {
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
        ui.add_space(6.0);
        prices_ui(ui, prices);
        if let Some(words) = saving_words(metrics, *prices) {
            let words = Face::Small.text(words).color(theme.text_1);
            ui.add(Label::new(words).wrap());
        }
    });
}

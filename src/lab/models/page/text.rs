//! The text that both models read, tinted by the divergence of their distributions.

use egui::text::TextFormat;
use egui::{Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::legend;
use crate::lab::frame::TintedText;
use crate::lab::models::ComparedModels;
use crate::state::Tint;

/// The minimum divergence for each stronger tint, in nats.
const STEPS: [f64; 4] = [0.001, 0.01, 0.1, 1.0];

/// The labels of the legend.
const LABELS: [&str; 5] = ["< 0.001", "0.001", "0.01", "0.1", "1 nat"];

fn step_of(kl: f64) -> usize {
    STEPS.iter().filter(|least| kl >= **least).count()
}

/// Draws the text. A click selects a token.
pub(super) fn text_ui(ui: &mut Ui, compared: &ComparedModels, selected: &mut Option<usize>) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        let title = "KL divergence; underlined if the top tokens differ";
        ui.label(Face::Small.text(title).color(theme.text_2));
        legend(ui, Tint::Surprisal, LABELS);
    });
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Leave room for the mark around a token in the first line.
        ui.add_space(3.0);
        let flips: Vec<usize> = compared.flips().collect();
        let pairs = compared.predicted[0].iter().zip(&compared.gaps);
        let pieces = pairs.enumerate().map(|(index, (token, gap))| {
            let is_flip = flips.binary_search(&index).is_ok();
            let format = TextFormat {
                font_id: Face::Body.font(),
                color: theme.text_1,
                background: theme.tint(Tint::Surprisal, step_of(gap.kl)),
                underline: if is_flip {
                    Stroke::new(2.0, theme.changed)
                } else {
                    Stroke::NONE
                },
                ..TextFormat::default()
            };
            (token.piece.to_string(), format)
        });
        let text = TintedText::new(ui, ui.available_width() - 12.0, pieces);
        let (rect, response) = ui.allocate_exact_size(text.size(), Sense::click());
        response.widget_info(|| {
            let words = format!("Text with divergences: {}", text.text());
            WidgetInfo::labeled(Role::Label, true, &words)
        });
        text.paint(ui, rect.min);
        if let Some(pointer) = response
            .interact_pointer_pos()
            .filter(|_| response.clicked())
        {
            *selected = text.piece_at(pointer - rect.min);
        }
        if let Some(selected) = *selected {
            let edge = Stroke::new(1.5, theme.text_1);
            text.ring(ui, rect.min, selected..selected + 1, edge);
        }
    });
}

//! The text that both models read, tinted by the divergence of their distributions.

use egui::text::{LayoutJob, TextFormat};
use egui::{Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::legend;
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
        let mut job = LayoutJob::default();
        job.wrap.max_width = ui.available_width() - 12.0;
        let flips: Vec<usize> = compared.flips().collect();
        // The number of characters up to the end of each token.
        let mut ends = Vec::new();
        let pairs = compared.predicted[0].iter().zip(&compared.gaps);
        for (index, (token, gap)) in pairs.enumerate() {
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
            let text = token.piece.to_string();
            let before = ends.last().copied().unwrap_or(0);
            ends.push(before + text.chars().count());
            job.append(&text, 0.0, format);
        }
        let text = job.text.clone();
        let galley = ui.painter().layout_job(job);
        let (rect, response) = ui.allocate_exact_size(galley.size(), Sense::click());
        response.widget_info(|| {
            let words = format!("Text with divergences: {text}");
            WidgetInfo::labeled(Role::Label, true, &words)
        });
        ui.painter().galley(rect.min, galley.clone(), theme.text_1);
        if let Some(pointer) = response
            .interact_pointer_pos()
            .filter(|_| response.clicked())
        {
            let cursor = galley.cursor_from_pos(pointer - rect.min);
            let place = ends.partition_point(|end| *end <= cursor.index.0);
            *selected = (place < ends.len()).then_some(place);
        }
        if let Some(selected) = *selected {
            let end = ends.get(selected).copied().unwrap_or(0);
            let start = selected.checked_sub(1).and_then(|before| ends.get(before));
            let at = |index: usize| {
                let cursor = egui::text::CCursor::new(index);
                galley.pos_from_cursor(cursor).translate(rect.min.to_vec2())
            };
            let (first, last) = (at(start.copied().unwrap_or(0)), at(end));
            // A token that wraps is marked on its first line only.
            let right = if last.top() > first.top() {
                rect.right()
            } else {
                last.right()
            };
            let mark = first.with_max_x(right.max(first.left() + 2.0)).expand(1.0);
            let edge = Stroke::new(1.5, theme.text_1);
            ui.painter().rect_stroke(mark, 3, edge, StrokeKind::Outside);
        }
    });
}

//! How much of a prompt was reused, as a bar.

use egui::{Rect, Stroke, StrokeKind, Ui, vec2};

use crate::design::theme::Theme;
use crate::interop::api::Usage;

/// Paints the whole prompt as a bar: what was reused filled, what was read again as an outline.
pub(in crate::ui) fn reuse_bar(ui: &Ui, rect: Rect, usage: Usage) {
    let theme = Theme::of(ui);
    let rect = rect.shrink2(vec2(0.0, 1.0));
    let share = usage.n_cached as f32 / usage.n_prompt.max(1) as f32;
    let (reused, read) = rect.split_left_right_at_fraction(share);
    if usage.n_cached < usage.n_prompt {
        let edge = Stroke::new(1.0, theme.bar_cut);
        let read = read.with_min_x(read.left() + if usage.n_cached > 0 { 1.0 } else { 0.0 });
        ui.painter()
            .rect_stroke(read, 1.5, edge, StrokeKind::Inside);
    }
    if usage.n_cached > 0 {
        let reused = reused.with_max_x(reused.right().max(reused.left() + 2.0));
        ui.painter().rect_filled(reused, 2.0, theme.bar_before);
    }
}

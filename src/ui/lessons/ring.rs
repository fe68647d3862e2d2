//! The ring around the control that a lesson points to. Nothing else is dimmed or blocked.

use egui::{Rect, Stroke, StrokeKind, Ui};

use crate::design::theme::Theme;
use crate::lessons::Ring;
use crate::state::AppState;

/// Draws the ring around a control, if the lesson points to it.
pub(in crate::ui) fn ring_ui(ui: &Ui, rect: Rect, state: &AppState, control: Ring) {
    let run = state.lessons.run();
    if run.and_then(crate::state::LessonRun::ring) != Some(control) {
        return;
    }
    // The control's own area would clip the ring.
    let painter = ui.layer_painter(ui.layer_id());
    let stroke = Stroke::new(2.0, Theme::of(ui).focus);
    painter.rect_stroke(rect.expand(3.0), 8, stroke, StrokeKind::Outside);
}

//! The histogram of ranks: a group of bars for each bin, one bar per pane.

use egui::{Align2, Rect, Response, Ui, pos2, vec2};

use super::data::TrendData;
use super::{BOTTOM, LEFT, PANEL_TITLE, TITLE_MIDDLE, paint_marks, y_of};
use crate::analysis::trend::RANK_BINS;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::plots::StepAt;
use crate::plots::frame::{TextRun, paint_text};
use crate::plots::scale::count;

/// Draws the histogram. Returns the token that a click on the bar under the pointer would pin: the
/// next one of that pane in that bin.
pub(super) fn draw(
    ui: &Ui,
    whole: Rect,
    data: &TrendData<'_>,
    response: &Response,
) -> Option<StepAt> {
    let theme = Theme::of(ui);
    let title = pos2(whole.left(), whole.top() + TITLE_MIDDLE);
    let run = TextRun::new("% of tokens", Face::Micro, theme.text_2);
    paint_text(ui, title, Align2::LEFT_CENTER, run);
    let area = Rect::from_min_max(
        pos2(whole.left() + LEFT, whole.top() + PANEL_TITLE),
        pos2(whole.right() - 8.0, whole.bottom() - BOTTOM),
    );
    let group = area.width() / RANK_BINS.len() as f32;
    let n_panes = data.texts.len().max(1) as f32;
    let bar = ((group - 6.0) / n_panes).max(1.0);
    for (at, fill) in [
        (data.hovered, theme.surface_3),
        (data.pinned, theme.accent_bg),
    ] {
        if let Some(bin) = at.and_then(|at| data.bin_of(at)) {
            let corner = pos2(area.left() + group * bin as f32, area.top());
            let column = Rect::from_min_size(corner, vec2(group, area.height()));
            ui.painter().rect_filled(column, 2, fill);
        }
    }
    paint_marks(ui, area, data.figures.shares);
    for (index, label) in RANK_BINS.into_iter().enumerate() {
        let left = area.left() + group * index as f32;
        let run = TextRun::new(label, Face::Micro, theme.text_3);
        let at = pos2(left + group / 2.0, area.bottom() + 3.0);
        paint_text(ui, at, Align2::CENTER_TOP, run);
        for (row, ((pane, _), shares)) in data.texts.iter().zip(&data.figures.bins).enumerate() {
            let share = shares.get(index).copied().unwrap_or_default();
            let left = left + 3.0 + bar * row as f32;
            let top = y_of(area, data.figures.shares, share * 100.0);
            let rect = Rect::from_min_max(pos2(left, top), pos2(left + bar - 1.0, area.bottom()));
            if rect.height() >= 0.5 {
                ui.painter().rect_filled(rect, 1, theme.pane(*pane));
            }
        }
    }
    let pointer = response
        .hover_pos()
        .filter(|pointer| area.contains(*pointer))?;
    let bin = count(f64::from((pointer.x - area.left()) / group));
    let within = pointer.x - area.left() - group * bin as f32 - 3.0;
    let row = count(f64::from(within / bar)).min(data.texts.len().saturating_sub(1));
    let (pane, _) = data.texts.get(row)?;
    data.next_in_bin(*pane, bin)
}

//! Decorations of the staves: badges, names, scales, end marks and the pin.

use egui::{Align2, Rect, Stroke, Ui, pos2, vec2};
use egui_plot::PlotTransform;

use super::data::{ScoreData, ScoreLane};
use super::{BASE, MAX_BAR, base};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::plots::Target;
use crate::plots::frame::{TextRun, paint_text, paint_text_within};

/// The maximum width of names and settings beside a picture's staves.
const MAX_NAME_WIDTH: f32 = 260.0;

/// Returns the width of the space left of the staves, for the badge and in a picture also the name
/// and the scale.
pub(super) fn gutter_width(ui: &Ui, data: &ScoreData<'_>, target: Target) -> f32 {
    if target == Target::Screen {
        return SMALL_BADGE + 12.0;
    }
    let scale = Face::Micro.width(ui, &data.top_label());
    SMALL_BADGE + 8.0 + name_width(ui, data) + 16.0 + scale + 8.0
}

fn name_width(ui: &Ui, data: &ScoreData<'_>) -> f32 {
    let names = data.lanes.iter().map(|lane| {
        let settings = Face::Micro.width(ui, &lane.settings);
        Face::SmallMedium.width(ui, lane.name).max(settings)
    });
    names.fold(0.0, f32::max).min(MAX_NAME_WIDTH)
}

/// Paints the badge of a staff, and in a picture also the pane's name, its settings and the scale.
pub(super) fn paint_lane_head(
    ui: &Ui,
    data: &ScoreData<'_>,
    lane: &ScoreLane<'_>,
    rect: Rect,
    target: Target,
) {
    let theme = Theme::of(ui);
    let side = SMALL_BADGE;
    let middle = rect.center().y;
    let badge = Rect::from_min_size(
        pos2(rect.left() + 2.0, middle - side / 2.0),
        vec2(side, side),
    );
    if target == Target::Screen {
        paint_badge(ui.painter(), theme, badge, lane.pane);
        return;
    }
    let tall = rect.height() >= 34.0;
    let name_y = if tall { middle - 8.0 } else { middle };
    let badge = badge.translate(vec2(0.0, name_y - middle));
    paint_badge(ui.painter(), theme, badge, lane.pane);
    let x = badge.right() + 8.0;
    // One extra point, so that rounding does not truncate a text that fits.
    let width = name_width(ui, data) + 1.0;
    let name = TextRun::new(lane.name, Face::SmallMedium, theme.text_1);
    paint_text_within(ui, pos2(x, name_y), Align2::LEFT_CENTER, name, width);
    if tall {
        let at = pos2(x, middle + 8.0);
        let settings = TextRun::new(&lane.settings, Face::Micro, theme.text_3);
        paint_text_within(ui, at, Align2::LEFT_CENTER, settings, width);
    }
    let base = rect.bottom() - rect.height() * BASE as f32;
    let top = base - rect.height() * MAX_BAR as f32;
    let scale_x = rect.right() - 8.0;
    if rect.height() >= 28.0 {
        let paint = |y: f32, label: &str| {
            let run = TextRun::new(label, Face::Micro, theme.text_3);
            paint_text(ui, pos2(scale_x, y), Align2::RIGHT_CENTER, run);
        };
        paint(top + 5.0, &data.top_label());
        paint(base - 4.0, data.bottom_label());
    }
}

/// Paints a small vertical bar at the end of a finished text.
pub(super) fn paint_end(ui: &Ui, transform: &PlotTransform, data: &ScoreData<'_>, row: usize) {
    let Some(lane) = data.lanes.get(row).filter(|lane| lane.finished) else {
        return;
    };
    let x = transform.position_from_point_x(lane.n_steps() as f64 + 1.0);
    let y = transform.position_from_point_y(base(row, data.lanes.len()));
    let mark = Rect::from_min_max(pos2(x - 1.0, y - 7.0), pos2(x + 1.0, y));
    ui.painter()
        .with_clip_rect(transform.frame().expand(2.0))
        .rect_filled(mark, 0, Theme::of(ui).text_2);
}

/// Paints a small triangle above the pinned step and a line under its bar, where no bar hides them.
pub(super) fn paint_pin(ui: &Ui, transform: &PlotTransform, data: &ScoreData<'_>) {
    let Some(at) = data.pinned.filter(|at| data.step(*at).is_some()) else {
        return;
    };
    let Some(row) = data.lanes.iter().position(|lane| lane.pane == at.pane) else {
        return;
    };
    let accent = Theme::of(ui).accent;
    let painter = ui.painter().with_clip_rect(transform.frame().expand(6.0));
    let x = transform.position_from_point_x(at.step as f64 + 1.0);
    let top = transform.frame().top();
    let triangle = [vec2(-4.0, -5.0), vec2(4.0, -5.0), vec2(0.0, 0.0)];
    let triangle = triangle.map(|offset| pos2(x, top) + offset).to_vec();
    painter.add(egui::Shape::convex_polygon(triangle, accent, Stroke::NONE));
    let y = transform.position_from_point_y(base(row, data.lanes.len()));
    let line = Rect::from_min_max(pos2(x - 4.0, y + 1.0), pos2(x + 4.0, y + 3.0));
    painter.rect_filled(line, 1, accent);
}

//! What stands beside and upon the staffs: badges, names, scales, ends, the pin.

use egui::{Align2, Rect, Stroke, Ui, pos2, vec2};
use egui_plot::PlotTransform;

use super::data::{ScoreData, ScoreLane};
use super::{BASE, REACH, base};
use crate::ui::fonts::Face;
use crate::ui::plots::Place;
use crate::ui::plots::frame::{text, text_within};
use crate::ui::theme::Theme;
use crate::ui::widgets::{SMALL_BADGE, paint_badge};

/// The widest that names and settings may be beside a picture's staffs.
const MOST_NAME: f32 = 260.0;

/// How wide the space beside the staffs is: the badge, and in a picture the name and the scale.
pub(super) fn gutter_width(ui: &Ui, data: &ScoreData<'_>, place: Place) -> f32 {
    if place == Place::Screen {
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
    names.fold(0.0, f32::max).min(MOST_NAME)
}

/// The badge of a staff; in a picture its pane's name, its settings and its scale too.
pub(super) fn paint_lane_head(
    ui: &Ui,
    data: &ScoreData<'_>,
    lane: &ScoreLane<'_>,
    rect: Rect,
    place: Place,
) {
    let theme = Theme::of(ui);
    let side = SMALL_BADGE;
    let middle = rect.center().y;
    let badge = Rect::from_min_size(
        pos2(rect.left() + 2.0, middle - side / 2.0),
        vec2(side, side),
    );
    if place == Place::Screen {
        paint_badge(ui.painter(), theme, badge, lane.pane);
        return;
    }
    let tall = rect.height() >= 34.0;
    let name_y = if tall { middle - 8.0 } else { middle };
    let badge = badge.translate(vec2(0.0, name_y - middle));
    paint_badge(ui.painter(), theme, badge, lane.pane);
    let x = badge.right() + 8.0;
    let at = (pos2(x, name_y), Align2::LEFT_CENTER);
    // A hair more, so that rounding shortens nothing that has room.
    let width = name_width(ui, data) + 1.0;
    let style = (Face::SmallMedium, theme.text_1);
    text_within(ui, at, lane.name, style, width);
    if tall {
        let at = (pos2(x, middle + 8.0), Align2::LEFT_CENTER);
        let style = (Face::Micro, theme.text_3);
        text_within(ui, at, &lane.settings, style, width);
    }
    let base = rect.bottom() - rect.height() * BASE as f32;
    let top = base - rect.height() * REACH as f32;
    let scale_x = rect.right() - 8.0;
    if rect.height() >= 28.0 {
        let at = (pos2(scale_x, top + 5.0), Align2::RIGHT_CENTER);
        text(ui, at, &data.top_label(), Face::Micro, theme.text_3);
        let at = (pos2(scale_x, base - 4.0), Align2::RIGHT_CENTER);
        text(ui, at, data.bottom_label(), Face::Micro, theme.text_3);
    }
}

/// A small upright where a text has ended.
pub(super) fn paint_end(ui: &Ui, transform: &PlotTransform, data: &ScoreData<'_>, row: usize) {
    let Some(lane) = data.lanes.get(row).filter(|lane| lane.finished) else {
        return;
    };
    let x = transform.position_from_point_x(lane.steps.len() as f64 + 1.0);
    let y = transform.position_from_point_y(base(row, data.lanes.len()));
    let mark = Rect::from_min_max(pos2(x - 1.0, y - 7.0), pos2(x + 1.0, y));
    ui.painter()
        .with_clip_rect(transform.frame().expand(2.0))
        .rect_filled(mark, 0, Theme::of(ui).text_2);
}

/// A small sign above the pinned step and a line under its bar, which no bar can hide.
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
    let sign = [vec2(-4.0, -5.0), vec2(4.0, -5.0), vec2(0.0, 0.0)];
    let sign = sign.map(|offset| pos2(x, top) + offset).to_vec();
    painter.add(egui::Shape::convex_polygon(sign, accent, Stroke::NONE));
    let y = transform.position_from_point_y(base(row, data.lanes.len()));
    let line = Rect::from_min_max(pos2(x - 4.0, y + 1.0), pos2(x + 4.0, y + 3.0));
    painter.rect_filled(line, 1, accent);
}

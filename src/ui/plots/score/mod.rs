//! The score: one staff a pane, one bar a token, so that the eye sees where a text was a gamble.

mod data;
mod measure;
#[cfg(test)]
mod tests;

use egui::{Align2, Rect, Role, Stroke, Ui, UiBuilder, Vec2, WidgetInfo, pos2, vec2};
use egui_plot::{AxisHints, Bar, BarChart, GridMark, HLine, Plot, PlotTransform, PlotUi};

pub use self::data::{ScoreData, ScoreLane};
pub use self::measure::score_measure_ui;
use super::frame::{axis, axis_title, empty_ui, text, title_ui};
use super::scale::{grouped, label_step};
use super::{Place, PlotResponse, StepAt};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::widgets::{SMALL_BADGE, letter, paint_badge};
use crate::ui::words::token_word;

/// Where a staff's line lies in its lane, and how much of the lane the tallest bar takes.
const BASE: f64 = 0.08;
const REACH: f64 = 0.86;

/// Narrower than this in points, neighbouring bars become one.
const MIN_STEP: f64 = 2.0;

/// Shows the score. Pointing at a bar gives its step back, clicking asks to pin it.
pub fn score_plot_ui(ui: &mut Ui, data: &ScoreData<'_>) -> PlotResponse {
    draw(ui, data, Place::Screen)
}

/// Draws the score into the space that is left.
pub(super) fn draw(ui: &mut Ui, data: &ScoreData<'_>, place: Place) -> PlotResponse {
    if data.is_empty() {
        empty(ui, data);
        return PlotResponse::default();
    }
    let theme = Theme::of(ui);
    title_ui(ui, "The score", None, &data.subtitles());
    let whole = ui.available_rect_before_wrap();
    let gutter = gutter_width(ui, data, place);
    let mut area = whole;
    area.min.x += gutter;
    area.max.x -= 12.0;
    let mut inner = ui.new_child(UiBuilder::new().max_rect(area));
    let shown = plot(data, theme, place).show(&mut inner, |plot| add_bars(plot, data, theme));
    ui.advance_cursor_after_rect(whole);

    let frame = *shown.transform.frame();
    for (row, lane) in data.lanes.iter().enumerate() {
        let lane_rect = lane_rect(&shown.transform, row, data.lanes.len());
        let lane_rect = lane_rect.with_min_x(whole.left()).with_max_x(frame.left());
        paint_lane_head(ui, data, lane, lane_rect, place);
        paint_end(ui, &shown.transform, data, row);
    }
    paint_pin(ui, &shown.transform, data);
    respond(data, &shown.response, &shown.transform)
}

fn plot<'a>(data: &ScoreData<'_>, theme: &Theme, place: Place) -> Plot<'a> {
    let mut x_axis = axis(AxisHints::new_x(), theme)
        .min_thickness(20.0)
        .formatter(|mark: GridMark, _| {
            if mark.value < 0.5 {
                String::new()
            } else {
                grouped(mark.value)
            }
        });
    if place == Place::Picture {
        x_axis = x_axis.label(axis_title("Token", theme));
    }
    Plot::new("score")
        .show_axes([true, false])
        .show_grid([true, false])
        .custom_x_axes(vec![x_axis])
        .x_grid_spacer(|input| {
            // 8 points of grid spacing are what the base step stands for.
            let (low, high) = input.bounds;
            let length = (high - low) / input.base_step_size * 8.0;
            let step = label_step(high - low, length as f32, 72.0);
            let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
            (first..=last)
                .map(|index| GridMark {
                    value: index as f64 * step,
                    step_size: step,
                })
                .collect()
        })
        .grid_spacing(8.0..=8.01)
        .grid_color(theme.stroke_1)
        .set_margin_fraction(Vec2::ZERO)
        .include_x(0.25)
        .include_x(data.n_axis as f64 + 0.75)
        .include_y(0.0)
        .include_y(data.lanes.len() as f64)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .allow_zoom([true, false])
        .allow_drag([true, false])
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
}

fn add_bars(plot: &mut PlotUi<'_>, data: &ScoreData<'_>, theme: &Theme) {
    let transform = *plot.transform();
    let n_lanes = data.lanes.len();
    let step_points = transform.dpos_dvalue_x();
    let n_merged = if step_points > 0.0 {
        (MIN_STEP / step_points).ceil().max(1.0) as usize
    } else {
        1
    };
    let bar_width = (step_points * n_merged as f64 - 1.2).clamp(1.5, 6.0) / step_points.max(1e-9);
    let visible = visible_steps(&transform, data.n_axis);

    plot.bar_chart(highlights(
        data,
        theme,
        bar_width + 4.0 / step_points.max(1e-9),
    ));
    for (row, lane) in data.lanes.iter().enumerate() {
        let base = base(row, n_lanes);
        plot.hline(
            HLine::new("", base)
                .color(theme.stroke_2)
                .width(1.0)
                .allow_hover(false),
        );
        let bars = data.bars(lane, visible.clone(), n_merged);
        let bars = bars.filter(|bar| bar.height > 0.0).map(|bar| {
            Bar::new(bar.center, bar.height * REACH)
                .base_offset(base)
                .width(bar_width)
                .fill(theme.pane(lane.pane))
                .stroke(Stroke::NONE)
        });
        plot.bar_chart(BarChart::new("", bars.collect()).allow_hover(false));
    }
}

/// The pinned step through all staffs, and the step that is pointed at elsewhere.
fn highlights(data: &ScoreData<'_>, theme: &Theme, width: f64) -> BarChart {
    let steps = [
        (data.hovered, theme.surface_3),
        (data.pinned, theme.accent_bg),
    ];
    let bars = steps.into_iter().filter_map(|(at, fill)| {
        let center = at?.step as f64 + 1.0;
        let bar = Bar::new(center, data.lanes.len() as f64)
            .width(width)
            .fill(fill);
        Some(bar.stroke(Stroke::NONE))
    });
    BarChart::new("", bars.collect()).allow_hover(false)
}

/// The height of a lane's line on the plot's axis, where each lane is 1 high.
fn base(row: usize, n_lanes: usize) -> f64 {
    (n_lanes - 1 - row) as f64 + BASE
}

fn visible_steps(transform: &PlotTransform, n_axis: usize) -> std::ops::Range<usize> {
    let bounds = transform.bounds();
    let low = (bounds.min()[0].floor() - 1.0).clamp(0.0, n_axis as f64) as usize;
    let high = (bounds.max()[0].ceil() + 1.0).clamp(0.0, n_axis as f64) as usize;
    // Before the first frame nothing is known of the bounds.
    if high > low { low..high } else { 0..n_axis }
}

fn lane_rect(transform: &PlotTransform, row: usize, n_lanes: usize) -> Rect {
    let y = |value: f64| transform.position_from_point_y(value);
    let low = (n_lanes - 1 - row) as f64;
    Rect::from_x_y_ranges(transform.frame().x_range(), y(low + 1.0)..=y(low))
}

/// How wide the space beside the staffs is: the badge, and in a picture the name and the scale.
fn gutter_width(ui: &Ui, data: &ScoreData<'_>, place: Place) -> f32 {
    if place == Place::Screen {
        return SMALL_BADGE + 12.0;
    }
    let width = |words: &str, face: Face| {
        let color = egui::Color32::PLACEHOLDER;
        ui.painter()
            .layout_no_wrap(words.to_owned(), face.font(), color)
            .size()
            .x
    };
    let names = data
        .lanes
        .iter()
        .map(|lane| width(lane.name, Face::SmallMedium).max(width(&lane.settings, Face::Micro)));
    let scale = width(&data.top_label(), Face::Micro);
    SMALL_BADGE + 8.0 + names.fold(0.0, f32::max) + 16.0 + scale + 8.0
}

fn paint_lane_head(ui: &Ui, data: &ScoreData<'_>, lane: &ScoreLane<'_>, rect: Rect, place: Place) {
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
    text(ui, at, lane.name, Face::SmallMedium, theme.text_1);
    if tall {
        let at = (pos2(x, middle + 8.0), Align2::LEFT_CENTER);
        text(ui, at, &lane.settings, Face::Micro, theme.text_3);
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
fn paint_end(ui: &Ui, transform: &PlotTransform, data: &ScoreData<'_>, row: usize) {
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
fn paint_pin(ui: &Ui, transform: &PlotTransform, data: &ScoreData<'_>) {
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

fn respond(
    data: &ScoreData<'_>,
    response: &egui::Response,
    transform: &PlotTransform,
) -> PlotResponse {
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, spoken(data)));
    let hovered = response
        .hover_pos()
        .and_then(|pointer| step_under(data, transform, pointer));
    if let Some(at) = hovered
        && let Some(step) = data.step(at)
    {
        let value = data.value_label(data.measure.value(step));
        let words = format!(
            "{} · token {} ‘{}’ · {value}",
            letter(at.pane),
            at.step + 1,
            token_word(&step.piece)
        );
        response.clone().on_hover_text_at_pointer(words);
    }
    PlotResponse {
        hovered,
        clicked: hovered.filter(|_| response.clicked()),
    }
}

/// The step of the lane under the pointer that stands nearest to it, if the lane has one there.
fn step_under(
    data: &ScoreData<'_>,
    transform: &PlotTransform,
    pointer: egui::Pos2,
) -> Option<StepAt> {
    let point = transform.value_from_position(pointer);
    let row = (data.lanes.len() as f64 - point.y).floor();
    let number = point.x.round();
    if row < 0.0 || number < 1.0 {
        return None;
    }
    let lane = data.lanes.get(row as usize)?;
    let at = StepAt {
        pane: lane.pane,
        step: number as usize - 1,
    };
    data.step(at).map(|_| at)
}

/// What a screen reader says of the score.
fn spoken(data: &ScoreData<'_>) -> String {
    let [subtitle, _] = data.subtitles();
    let lanes = data
        .lanes
        .iter()
        .map(|lane| format!("{} {} tokens", letter(lane.pane), lane.steps.len()));
    format!(
        "The score, {subtitle}: {}",
        lanes.collect::<Vec<_>>().join(", ")
    )
}

fn empty(ui: &mut Ui, data: &ScoreData<'_>) {
    let theme = Theme::of(ui);
    let words = "One staff for each pane, one bar for each token. \
                 A tall bar is a token the model did not expect.";
    let space = empty_ui(ui, "The score", words);
    let gap = (space.height() / data.lanes.len().max(1) as f32).min(48.0);
    for (row, lane) in data.lanes.iter().enumerate() {
        let middle = space.top() + (row as f32 + 0.5) * gap;
        let badge = Rect::from_center_size(
            pos2(space.left() + SMALL_BADGE / 2.0, middle),
            Vec2::splat(SMALL_BADGE),
        );
        paint_badge(ui.painter(), theme, badge, lane.pane);
        let line = space.left() + SMALL_BADGE + 10.0..=space.right();
        let stroke = Stroke::new(1.0, theme.stroke_2);
        ui.painter()
            .hline(line, (middle + gap / 2.0 - 1.0).round() - 0.5, stroke);
    }
    ui.advance_cursor_after_rect(space);
}

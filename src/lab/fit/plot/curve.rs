//! How likely texts are as one number varies: a curve, with the interval around its top and the
//! values that can't generate them.

use egui::{Align2, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::{FitPlot, TITLE, title_ui};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, focus_ring, paint_badge};
use crate::lab::fit::FitPoint;
use crate::plots::{Axes, MapResponse, Scale, Target, TextRun, paint_text};

/// The space above the axis for the label of the best value.
const ABOVE: f32 = 20.0;

/// How far below the best the axis reaches at least and at most, in nats.
const LEAST_REACH: f64 = 5.0;
const MOST_REACH: f64 = 40.0;

/// Shows a curve in this rectangle. In a picture, nothing can be clicked.
pub(crate) fn fit_curve_ui(ui: &Ui, rect: Rect, plot: FitPlot<'_>, target: Target) -> MapResponse {
    let theme = Theme::of(ui);
    let mut words = "nats below the likeliest setting".to_owned();
    if !plot.fit.texts().is_empty() {
        words = format!("{words}, {}", plot.fit.size_words());
    }
    title_ui(ui, rect, &words, None);
    let setup = &plot.fit.setup;
    let mut line: Vec<FitPoint> = plot.fit.known().collect();
    let value = |point: &FitPoint| point.values.first().copied().unwrap_or_default();
    line.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let depths = line
        .iter()
        .filter_map(|point| plot.nats_below(point.likelihood));
    let reach = depths.fold(LEAST_REACH, f64::max).min(MOST_REACH);
    let ends = setup.rows.values().iter().copied();
    let least = ends.clone().fold(f64::INFINITY, f64::min);
    let most = ends.fold(f64::NEG_INFINITY, f64::max);
    let axes = Axes::new(
        rect.with_min_y(rect.top() + TITLE + ABOVE),
        Scale::between(least, most),
        Scale::downwards(reach),
    );
    let area = axes.area();
    paint_impossible(ui, &axes, &line);
    if let Some(interval) = plot.fit.intervals().and_then(|all| all.first().copied()) {
        let (left, right) = (axes.at(interval.low, 0.0).x, axes.at(interval.high, 0.0).x);
        let band = Rect::from_x_y_ranges(left..=right.max(left + 1.0), area.y_range());
        ui.painter().rect_filled(band, 0, theme.surface_3);
    }
    axes.paint(ui, &setup.rows.parameter.name().to_lowercase());
    let nats = setup.interval_nats(0);
    let y = axes.at(least, -nats).y;
    let ends = [pos2(area.left(), y), pos2(area.right(), y)];
    let dash = Stroke::new(1.0, theme.text_3);
    ui.painter()
        .extend(Shape::dashed_line(&ends, dash, 4.0, 4.0));
    let at = pos2(area.right() - 4.0, y + 9.0);
    let words = format!("95 % interval: {nats} nats");
    let run = TextRun::new(&words, Face::Micro, theme.text_3);
    paint_text(ui, at, Align2::RIGHT_CENTER, run);
    paint_line(ui, &axes, plot, &line, reach);
    paint_marks(ui, &axes, plot, target);
    if target == Target::Picture {
        return MapResponse::default();
    }
    let response = ui.interact(area, ui.scope_id().with("curve"), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Table, true, plot.spoken()));
    focus_ring(ui, &response, 2);
    let values = setup.rows.values();
    let nearest = |pointer: Option<Pos2>| {
        let x = pointer?.x;
        let distance = |value: &f64| (axes.at(*value, 0.0).x - x).abs();
        let places = values.iter().enumerate();
        let nearest = places.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
        nearest.map(|(place, _)| place)
    };
    MapResponse {
        hovered: nearest(response.hover_pos()),
        clicked: nearest(response.interact_pointer_pos()).filter(|_| response.clicked()),
    }
}

/// Shades the values that can't generate the texts, from limit to limit.
fn paint_impossible(ui: &Ui, axes: &Axes, line: &[FitPoint]) {
    let theme = Theme::of(ui);
    let area = axes.area();
    let x_of = |point: &FitPoint| {
        axes.at(point.values.first().copied().unwrap_or_default(), 0.0)
            .x
    };
    let runs =
        line.chunk_by(|a, b| a.likelihood.ruled_out.is_some() == b.likelihood.ruled_out.is_some());
    for run in runs.filter(|run| run.iter().all(|p| p.likelihood.ruled_out.is_some())) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        let (left, right) = (x_of(first), x_of(last));
        for x in [left, right] {
            let is_end = (x - area.left()).abs() < 0.5 || (x - area.right()).abs() < 0.5;
            if !is_end {
                let edge = Stroke::new(1.5, theme.text_1);
                ui.painter().vline(x, area.y_range(), edge);
            }
        }
        if right - left > 60.0 {
            let at = pos2(f32::midpoint(left, right), area.center().y);
            let run = TextRun::new("can’t generate it", Face::Small, theme.text_2);
            if right - left > Face::Small.width(ui, "can’t generate it") + 12.0 {
                paint_text(ui, at, Align2::CENTER_CENTER, run);
            }
        }
    }
}

/// Draws the curve, as far as the axis reaches.
fn paint_line(ui: &Ui, axes: &Axes, plot: FitPlot<'_>, line: &[FitPoint], reach: f64) {
    let theme = Theme::of(ui);
    let runs =
        line.chunk_by(|a, b| a.likelihood.ruled_out.is_some() == b.likelihood.ruled_out.is_some());
    let painter = ui.painter().with_clip_rect(axes.area().expand(2.0));
    for run in runs {
        let points = run.iter().filter_map(|point| {
            let depth = plot.nats_below(point.likelihood)?;
            // Beyond the axis, the line only has to leave the plot.
            let depth = depth.min(reach * 1.5);
            Some(axes.at(point.values.first().copied()?, -depth))
        });
        let points: Vec<Pos2> = points.collect();
        if points.len() > 1 {
            painter.line(
                clipped(&points, axes.area()),
                Stroke::new(2.0, theme.text_1),
            );
        }
    }
}

/// Cuts a line off at the bottom of an area, because a picture does not clip it.
fn clipped(points: &[Pos2], area: Rect) -> Vec<Pos2> {
    let mut kept: Vec<Pos2> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        let is_in = point.y <= area.bottom();
        let crossing = |a: Pos2, b: Pos2| {
            let share = (area.bottom() - a.y) / (b.y - a.y);
            a + (b - a) * share
        };
        let before = index.checked_sub(1).and_then(|index| points.get(index));
        if let Some(before) = before
            && (before.y <= area.bottom()) != is_in
        {
            kept.push(crossing(*before, *point));
        }
        if is_in {
            kept.push(*point);
        }
    }
    kept
}

/// Marks the best value, the pane's value and the selected one.
fn paint_marks(ui: &Ui, axes: &Axes, plot: FitPlot<'_>, target: Target) {
    let theme = Theme::of(ui);
    let area = axes.area();
    let at_value = |value: f64, depth: f64| {
        let at = axes.at(value, -depth);
        pos2(at.x, at.y.min(area.bottom()))
    };
    let base = plot.fit.setup.rows.parameter.get(&plot.fit.setup.base);
    if let (Some(value), Some(pane)) = (base, plot.pane) {
        let x = axes.at(value, 0.0).x;
        if area.x_range().contains(x) {
            let center = pos2(x, area.bottom() - SMALL_BADGE / 2.0 - 2.0);
            let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
            paint_badge(ui.painter(), theme, badge, pane);
        }
    }
    if let Some((cell, _)) = plot.selected.filter(|_| target == Target::Screen)
        && let Some(value) = plot.fit.setup.values_of(cell).first()
    {
        let depth = plot.fit.cell(cell).and_then(|l| plot.nats_below(l));
        let center = at_value(*value, depth.unwrap_or(f64::from(u16::MAX)));
        let ring = Stroke::new(2.0, theme.text_1);
        ui.painter().circle_stroke(center, 7.0, ring);
    }
    if let Some(best) = plot.best
        && let Some(value) = best.values.first()
    {
        let center = at_value(*value, 0.0);
        ui.painter().circle_filled(center, 4.5, theme.text_1);
        let words = format!("likeliest: {}", plot.fit.setup.words(&best.values));
        let half = Face::Small.width(ui, &words) / 2.0;
        let (left, right) = (area.left() + half, area.right() - half);
        let x = center.x.clamp(left, right.max(left));
        let run = TextRun::new(&words, Face::Small, theme.text_1);
        let at = pos2(x, area.top() - 15.0);
        paint_text(ui, at, Align2::CENTER_CENTER, run);
    }
}

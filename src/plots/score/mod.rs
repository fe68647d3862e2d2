//! The score: one staff per pane and one bar per token, so that unlikely tokens stand out.

mod data;
mod lines;
mod marks;
mod pointer;
#[cfg(test)]
mod tests;
mod values;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use egui::{Color32, PointerButton, Rect, Stroke, Ui, Vec2, pos2};
use egui_plot::{Bar, BarChart, GridMark, HLine, Line, Plot, PlotTransform, PlotUi};

use self::data::ScoreBar;
pub use self::data::{ScoreData, ScoreLane};
use self::marks::{gutter_width, paint_end, paint_lane_head, paint_pin};
use self::pointer::hover_ui;
pub use self::values::ScoreValues;
use super::frame::{between, empty_ui, note_ui, still_plot, title_ui, token_axis};
use super::scale::{count, label_step};
use super::{PicturePlot, PlotChoices, PlotFile, PlotResponse, PlottedRun, RunPicture, Target};
use crate::design::memo::remembered;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::state::{MAX_PANES, ScoreMeasure};

/// The height of a staff's baseline, as a share of its lane.
const BASE: f64 = 0.08;

/// The height of the tallest possible bar, as a share of the lane.
const MAX_BAR: f64 = 0.86;

/// The height of a bar for a single kept token, in points.
const MIN_BAR: f64 = 2.0;

/// The gap in a bar that is clipped, in points below its top.
const CLIP_MARK: [f64; 2] = [5.0, 2.5];

/// The minimum width per bar, in points. Below it, neighboring tokens share a bar.
const MIN_STEP: f64 = 2.0;

/// Draws the score into the remaining space of `ui`. Returns the hovered and the clicked step.
pub fn score_plot_ui(ui: &mut Ui, data: &ScoreData<'_>, target: Target) -> PlotResponse {
    if data.is_empty() {
        empty(ui, data);
        return PlotResponse::default();
    }
    if data.in_one {
        return lines::draw(ui, data, target);
    }
    let theme = Theme::of(ui);
    let rest = title_ui(ui, data.measure.name(), None, &data.subtitles());
    let whole = ui.available_rect_before_wrap();
    let gutter = gutter_width(ui, data, target);
    let shown = between(ui, [gutter, 12.0], |ui| {
        plot(data, theme, target).show(ui, |plot| {
            pan_within_tokens(plot, data.n_axis);
            add_bars(plot, data, theme);
        })
    });
    let n_merged = n_merged(&shown.transform);
    if n_merged > 1 {
        let note = format!("each bar shows the highest of {n_merged} tokens");
        note_ui(ui, rest, &note);
    }

    let frame = *shown.transform.frame();
    for (row, lane) in data.lanes.iter().enumerate() {
        let lane_rect = lane_rect(&shown.transform, row, data.lanes.len());
        let lane_rect = lane_rect.with_min_x(whole.left()).with_max_x(frame.left());
        paint_lane_head(ui, data, lane, lane_rect, target);
        paint_end(ui, &shown.transform, data, row);
    }
    paint_pin(ui, &shown.transform, data);
    hover_ui(data, &shown.response, &shown.transform)
}

fn plot<'a>(data: &ScoreData<'_>, theme: &Theme, target: Target) -> Plot<'a> {
    let x_axis = token_axis(theme, target);
    still_plot("score", theme)
        .show_axes([true, false])
        .show_grid([true, false])
        .custom_x_axes(vec![x_axis])
        .x_grid_spacer(|input| {
            // The base step corresponds to the grid spacing of 8 points.
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
        .include_x(*full_range(data.n_axis).start())
        .include_x(*full_range(data.n_axis).end())
        .include_y(0.0)
        .include_y(data.lanes.len() as f64)
        .allow_zoom([true, false])
}

/// The full range of the axis, with a margin before the first token and after the last.
const fn full_range(n_axis: usize) -> RangeInclusive<f64> {
    0.25..=n_axis as f64 + 0.75
}

/// Pans a zoomed plot within the range of the tokens. Zooming out far enough shows them all.
fn pan_within_tokens(plot: &mut PlotUi<'_>, n_axis: usize) {
    if plot.auto_bounds().x || plot.response().double_clicked() {
        return;
    }
    let (full, bounds) = (full_range(n_axis), plot.plot_bounds());
    let (width, low) = (bounds.width(), bounds.min()[0]);
    if width >= full.end() - full.start() {
        plot.set_auto_bounds(true);
        return;
    }
    let dragged = if plot.response().dragged_by(PointerButton::Primary) {
        f64::from(plot.response().drag_delta().x) / plot.transform().dpos_dvalue_x()
    } else {
        0.0
    };
    let low = (low - dragged).clamp(*full.start(), full.end() - width);
    plot.set_plot_bounds_x(low..=low + width);
}

fn add_bars(plot: &mut PlotUi<'_>, data: &ScoreData<'_>, theme: &Theme) {
    let transform = *plot.transform();
    let n_lanes = data.lanes.len();
    let step_points = transform.dpos_dvalue_x();
    let n_merged = n_merged(&transform);
    let bar_width = (step_points * n_merged as f64 - 1.2).clamp(1.5, 6.0) / step_points.max(1e-9);
    let visible = visible_steps(&transform, data.n_axis);
    let point = 1.0 / transform.dpos_dvalue_y().abs().max(1e-9);
    // A count of 1 has no height on a log scale, but a single kept token is worth seeing.
    let least = match data.measure {
        ScoreMeasure::Kept => MIN_BAR * point,
        _ => 0.0,
    };

    for (row, lane) in data.lanes.iter().enumerate() {
        let base = base(row, n_lanes);
        for start in &lane.turns {
            // Between the last bar of a turn and the first one of the next.
            let at = *start as f64 + 0.5;
            let line = Line::new("", vec![[at, base], [at, base + MAX_BAR]]);
            let line = line.color(theme.stroke_3).width(1.0);
            plot.line(line.allow_hover(false));
        }
    }
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
        let piece = |center: f64, from: f64, to: f64| {
            Bar::new(center, to - from)
                .base_offset(base + from)
                .width(bar_width)
                .fill(theme.pane(lane.pane))
                .stroke(Stroke::NONE)
        };
        let mut bars = Vec::new();
        let shown = shown_bars(plot, data, lane, visible.clone());
        for bar in &*shown {
            let height = (bar.height * MAX_BAR).max(least);
            if bar.clipped {
                bars.push(piece(bar.center, 0.0, MAX_BAR - CLIP_MARK[0] * point));
                bars.push(piece(bar.center, MAX_BAR - CLIP_MARK[1] * point, MAX_BAR));
            } else if height > 0.0 {
                bars.push(piece(bar.center, 0.0, height));
            }
        }
        plot.bar_chart(BarChart::new("", bars).allow_hover(false));
    }
}

/// What the bars of a staff are made of.
struct BarsKey {
    values: Arc<ScoreValues>,
    measure: ScoreMeasure,
    top: u64,
    visible: Range<usize>,
    n_merged: usize,
}

impl PartialEq for BarsKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.values, &other.values)
            && self.measure == other.measure
            && self.top == other.top
            && self.visible == other.visible
            && self.n_merged == other.n_merged
    }
}

/// Returns the bars of a staff, which a long text has fewer of than tokens.
fn shown_bars(
    plot: &PlotUi<'_>,
    data: &ScoreData<'_>,
    lane: &ScoreLane<'_>,
    visible: Range<usize>,
) -> Arc<Vec<ScoreBar>> {
    let n_merged = n_merged(plot.transform());
    let key = BarsKey {
        values: Arc::clone(&lane.values),
        measure: data.measure,
        top: data.top.to_bits(),
        visible: visible.clone(),
        n_merged,
    };
    remembered(plot.ctx(), "score bars", MAX_PANES, key, || {
        data.bars(lane, visible, n_merged)
    })
}

/// Highlights the pinned step across all staves, and the step hovered elsewhere.
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

/// Returns the height of a lane's baseline on the plot's axis, on which each lane is 1 high.
fn base(row: usize, n_lanes: usize) -> f64 {
    (n_lanes - 1 - row) as f64 + BASE
}

/// Returns how many neighboring tokens share a bar.
fn n_merged(transform: &PlotTransform) -> usize {
    let step_points = transform.dpos_dvalue_x();
    if step_points > 0.0 {
        count((MIN_STEP / step_points).ceil()).max(1)
    } else {
        1
    }
}

fn visible_steps(transform: &PlotTransform, n_axis: usize) -> std::ops::Range<usize> {
    let bounds = transform.bounds();
    let low = count(bounds.min()[0].floor() - 1.0).min(n_axis);
    let high = count(bounds.max()[0].ceil() + 1.0).min(n_axis);
    // The bounds are unknown before the first frame.
    if high > low { low..high } else { 0..n_axis }
}

fn lane_rect(transform: &PlotTransform, row: usize, n_lanes: usize) -> Rect {
    let y = |value: f64| transform.position_from_point_y(value);
    let low = (n_lanes - 1 - row) as f64;
    Rect::from_x_y_ranges(transform.frame().x_range(), y(low + 1.0)..=y(low))
}

fn empty(ui: &mut Ui, data: &ScoreData<'_>) {
    let theme = Theme::of(ui);
    let hint = "One row for each pane, one bar for each token. \
                A tall bar is a token the model did not expect.";
    let space = empty_ui(ui, data.measure.name(), hint);
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

/// The score of a run.
pub(super) struct ScorePicture;

impl RunPicture for ScorePicture {
    fn files(&self) -> Vec<PlotFile> {
        let surprise = PlotFile {
            on_page: true,
            ..PlotFile::new("surprise", "surprise of each token")
        };
        let mut in_one = PlotFile::new(
            "surprise-in-one",
            "surprise of each token, all panes in one plot",
        );
        in_one.on_page = true;
        in_one.choices.in_one = true;
        let mut probability = PlotFile::new("probability", "probability of each token");
        probability.choices.measure = ScoreMeasure::Probability;
        vec![surprise, in_one, probability]
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        let PlotChoices {
            measure,
            cap,
            in_one,
            ..
        } = run.choices;
        let mut score = ScoreData::capped(run.panes, measure, cap);
        score.in_one = in_one;
        score.lanes.retain(|lane| lane.text.is_some());
        Some(Box::new(score))
    }
}

impl PicturePlot for ScoreData<'_> {
    fn title(&self) -> &'static str {
        self.measure.name()
    }

    fn default_size(&self) -> [f32; 2] {
        [960.0, 420.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        score_plot_ui(ui, self, Target::Picture);
    }
}

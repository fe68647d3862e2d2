//! The score in one plot: one line per pane over the same positions, to compare texts with each
//! other (the figure of Holtzman et al. 2019, "The Curious Case of Neural Text Degeneration").

use egui::{Align2, Rect, Role, Ui, Vec2, WidgetInfo, pos2, vec2};
use egui_plot::{
    AxisHints, GridMark, HLine, Line, LineStyle, Plot, PlotPoints, PlotTransform, PlotUi, VLine,
};

use super::data::{ScoreData, ScoreLane};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::Step;
use crate::generation::formatting::pane_letter;
use crate::generation::formatting::token_word;
use crate::plots::frame::{
    TextRun, axis, axis_title, between, paint_text_within, row_rect, still_plot, title_ui,
    token_axis,
};
use crate::plots::line_style::{TURN_OPACITY, dash, paint_marker, paint_sample};
use crate::plots::scale::{axis_steps, count, grouped, label_step, step_decimals};
use crate::plots::{PlotResponse, StepAt, Target};
use crate::state::ScoreMeasure;

/// The width of a line, and of the line of the pane with the pinned token, in points.
const LINE: f32 = 1.5;
const SELECTED: f32 = 2.0;

/// The maximum length of texts whose lines are dashed. On longer lines, the dashes can't be told
/// apart; the mark and the badge at the end still name the pane.
const MAX_DASHED: usize = 120;

/// The value of an impossible token, in bits, which has no finite surprise.
const MAX_SURPRISE_BITS: f64 = 40.0;

/// Draws one line per pane into the remaining space of `ui`.
pub(super) fn draw(ui: &mut Ui, data: &ScoreData<'_>, target: Target) -> PlotResponse {
    let theme = Theme::of(ui);
    title_ui(
        ui,
        title(data.measure),
        None,
        &[subtitle(data.measure).to_owned()],
    );
    if target == Target::Picture {
        legend_ui(ui, data);
    }
    // On the right are the marks at the ends of the lines, with their badges.
    let shown = between(ui, [0.0, 26.0], |ui| {
        plot(data, theme, target).show(ui, |plot| add_lines(plot, data, theme))
    });
    paint_ends(ui, data, &shown.transform);
    hover_ui(data, &shown.response, &shown.transform)
}

const fn title(measure: ScoreMeasure) -> &'static str {
    measure.name()
}

const fn subtitle(measure: ScoreMeasure) -> &'static str {
    match measure {
        ScoreMeasure::Surprise => "bits, token by token, before the chain",
        ScoreMeasure::Probability => "token by token, before the chain",
        ScoreMeasure::Entropy => "bits, of the model before the chain",
        ScoreMeasure::Rank => "of each token before the chain, log scale",
        ScoreMeasure::Kept => "tokens left by the chain, log scale",
    }
}

/// Whether the vertical axis shows powers of ten.
const fn is_log(measure: ScoreMeasure) -> bool {
    matches!(measure, ScoreMeasure::Rank | ScoreMeasure::Kept)
}

/// Returns the height of a value on the vertical axis.
fn height(measure: ScoreMeasure, value: Option<f64>) -> f64 {
    let value = value.unwrap_or(0.0);
    if is_log(measure) {
        value.max(1.0).log10()
    } else if value.is_finite() {
        value
    } else {
        MAX_SURPRISE_BITS
    }
}

/// Returns the distance between the marks on the vertical axis, and their number.
fn marks(data: &ScoreData<'_>) -> (f64, u32) {
    let largest = data.lanes.iter().flat_map(|lane| lane.values.largest());
    let largest = largest
        .map(|value| height(data.measure, Some(value)))
        .fold(0.0, f64::max);
    match data.measure {
        ScoreMeasure::Probability => (0.25, 4),
        ScoreMeasure::Rank | ScoreMeasure::Kept => (1.0, count(largest.ceil().max(1.0)) as u32),
        ScoreMeasure::Surprise | ScoreMeasure::Entropy => axis_steps(largest.max(2.0)),
    }
}

fn plot<'a>(data: &ScoreData<'_>, theme: &Theme, target: Target) -> Plot<'a> {
    let measure = data.measure;
    let (step, n_marks) = marks(data);
    let x_axis = token_axis(theme, target);
    let decimals = step_decimals(step);
    let mut y_axis = axis(AxisHints::new_y(), theme)
        .min_thickness(30.0)
        .formatter(move |mark, _| match measure {
            ScoreMeasure::Rank | ScoreMeasure::Kept => grouped(10_f64.powf(mark.value)),
            ScoreMeasure::Probability => format!("{:.0} %", mark.value * 100.0),
            _ => format!("{:.decimals$}", mark.value),
        });
    if target == Target::Picture {
        let unit = match measure {
            ScoreMeasure::Surprise | ScoreMeasure::Entropy => ", bits",
            _ => "",
        };
        let label = format!("{}{unit}", title(measure));
        y_axis = y_axis.label(axis_title(&label, theme));
    }
    let n_axis = data.n_axis as f64;
    still_plot("score in one plot", theme)
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis])
        .x_grid_spacer(move |input| {
            let length = (input.bounds.1 - input.bounds.0) / input.base_step_size * 8.0;
            let step = label_step(n_axis, length as f32, 48.0);
            grid(step, count(n_axis / step) as u32)
        })
        .y_grid_spacer(move |_| grid(step, n_marks))
        .show_grid([false, true])
        .include_x(0.5)
        .include_x(n_axis + 0.5)
        .include_y(0.0)
        .include_y(step * f64::from(n_marks))
}

fn grid(step: f64, n_marks: u32) -> Vec<GridMark> {
    let mark = |index| GridMark {
        value: f64::from(index) * step,
        step_size: step,
    };
    (0..=n_marks).map(mark).collect()
}

fn add_lines(plot: &mut PlotUi<'_>, data: &ScoreData<'_>, theme: &Theme) {
    let zero = HLine::new("", 0.0).color(theme.stroke_2).width(1.0);
    plot.hline(zero.allow_hover(false));
    for (at, color) in [(data.hovered, theme.stroke_2), (data.pinned, theme.accent)] {
        if let Some(at) = at {
            let line = VLine::new("", at.step as f64 + 1.0).color(color).width(1.0);
            plot.vline(line.allow_hover(false));
        }
    }
    // Turns begin at other tokens in each pane, so each has its own uprights, in its color.
    for lane in &data.lanes {
        let color = theme.pane(lane.pane).gamma_multiply(TURN_OPACITY);
        for start in &lane.turns {
            let line = VLine::new("", *start as f64 + 0.5).color(color).width(1.0);
            plot.vline(line.allow_hover(false));
        }
    }
    let selected = data.pinned.map(|at| at.pane);
    let mut lanes: Vec<&ScoreLane<'_>> = data.lanes.iter().rev().collect();
    // The pane of the pinned token is painted last, so that its line is on top.
    lanes.sort_by_key(|lane| Some(lane.pane) == selected);
    for lane in lanes {
        let points: Vec<[f64; 2]> = (1_u32..)
            .zip(lane.values.list())
            .map(|(number, value)| [f64::from(number), height(data.measure, *value)])
            .collect();
        let width = if Some(lane.pane) == selected {
            SELECTED
        } else {
            LINE
        };
        let line = Line::new(lane.name.to_owned(), PlotPoints::from(points))
            .style(if data.n_axis <= MAX_DASHED {
                dash(lane.pane)
            } else {
                LineStyle::Solid
            })
            .color(theme.pane(lane.pane))
            .width(width);
        plot.line(line.allow_hover(false));
    }
}

/// Paints the mark and the badge of each pane where its text ends. Badges that would overlap move
/// up.
fn paint_ends(ui: &Ui, data: &ScoreData<'_>, transform: &PlotTransform) {
    let theme = Theme::of(ui);
    let mut ends: Vec<(usize, egui::Pos2)> = data
        .lanes
        .iter()
        .filter_map(|lane| {
            let last = lane.values.list().last()?;
            let x = transform.position_from_point_x(lane.n_steps() as f64);
            let y = transform.position_from_point_y(height(data.measure, *last));
            Some((lane.pane, pos2(x, y)))
        })
        .collect();
    ends.sort_by(|a, b| b.1.y.total_cmp(&a.1.y));
    let mut highest = f32::MAX;
    for (pane, end) in ends {
        paint_marker(ui.painter(), pane, end, theme.pane(pane));
        let is_last = end.x >= transform.frame().right() - 30.0;
        let y = if is_last {
            end.y.min(highest - SMALL_BADGE - 1.0)
        } else {
            end.y
        };
        if is_last {
            highest = y;
        }
        let center = pos2(end.x + 8.0 + SMALL_BADGE / 2.0, y);
        let badge = Rect::from_center_size(center, Vec2::splat(SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, pane);
    }
}

fn legend_ui(ui: &mut Ui, data: &ScoreData<'_>) {
    let theme = Theme::of(ui);
    let (mut rect, _) = row_rect(ui, 24.0);
    let mut x = rect.left();
    for lane in data.lanes.iter().filter(|lane| lane.n_steps() > 0) {
        let name = format!("{} · {}", lane.name, lane.settings);
        let width = SMALL_BADGE + 40.0 + Face::Small.width(ui, &name);
        if x > rect.left() && x + width > rect.right() {
            (rect, _) = row_rect(ui, 24.0);
            x = rect.left();
        }
        let middle = rect.top() + SMALL_BADGE / 2.0;
        let badge = Rect::from_center_size(
            pos2(x + SMALL_BADGE / 2.0, middle),
            Vec2::splat(SMALL_BADGE),
        );
        paint_badge(ui.painter(), theme, badge, lane.pane);
        let start = pos2(badge.right() + 4.0, middle);
        let color = theme.pane(lane.pane);
        paint_sample(ui.painter(), lane.pane, start, 22.0, color);
        paint_marker(ui.painter(), lane.pane, start + vec2(11.0, 0.0), color);
        let at = start + vec2(28.0, 0.0);
        let run = TextRun::new(&name, Face::Small, theme.text_2);
        let painted = paint_text_within(ui, at, Align2::LEFT_CENTER, run, rect.right() - at.x);
        x = painted.right() + 16.0;
    }
}

/// Shows the values at the token under the pointer. The nearest line is the hovered one.
fn hover_ui(
    data: &ScoreData<'_>,
    response: &egui::Response,
    transform: &PlotTransform,
) -> PlotResponse {
    let (title, subtitle) = (title(data.measure), subtitle(data.measure));
    response.widget_info(|| {
        let name = format!("{title} in one plot, {subtitle}");
        WidgetInfo::labeled(Role::Image, true, name)
    });
    let Some(pointer) = response.hover_pos() else {
        return PlotResponse::default();
    };
    let Some(index) = count(transform.value_from_position(pointer).x.round()).checked_sub(1) else {
        return PlotResponse::default();
    };
    let steps = data.lanes.iter();
    let steps = steps.filter_map(|lane| Some((lane.pane, lane.text?.steps.get(index)?)));
    let distance = |(_, step): &(usize, &Step)| {
        let y = transform.position_from_point_y(height(data.measure, data.measure.value(step)));
        (y - pointer.y).abs()
    };
    let nearest = steps
        .clone()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let values: Vec<String> = steps
        .map(|(pane, step)| {
            let value = data.step_label(step);
            format!(
                "{} ‘{}’ {value}",
                pane_letter(pane),
                token_word(&step.piece)
            )
        })
        .collect();
    if !values.is_empty() {
        let tooltip = format!("token {} · {}", index + 1, values.join(" · "));
        response.clone().on_hover_text_at_pointer(tooltip);
    }
    let hovered = nearest.map(|(pane, _)| StepAt { pane, step: index });
    PlotResponse {
        hovered,
        clicked: hovered.filter(|_| response.clicked()),
    }
}

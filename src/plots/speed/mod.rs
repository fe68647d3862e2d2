//! The speed plot: tokens per second at each token. Prefill is not part of the line.

mod data;

use std::sync::Arc;

use egui::{Align2, Color32, Rect, Role, Stroke, Ui, WidgetInfo, pos2, vec2};
use egui_plot::{AxisHints, GridMark, HLine, Line, Plot, PlotPoints, PlotTransform, PlotUi};

use self::data::{LinePoint, N_WINDOW, Sharing};
pub use self::data::{SpeedData, SpeedLine};
use super::frame::{
    Legend, TextRun, axis, axis_title, between, empty_ui, note_ui, paint_text_within, still_plot,
    title_ui, token_axis,
};
use super::line_style::{dash, paint_marker, paint_sample};
use super::scale::{count, grouped, label_step, step_decimals};
use super::{KeptPlot, PicturePlot, PlotFile, PlottedRun, RunPicture, Target};
use crate::analysis::trend::has_token_times;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::Generation;
use crate::generation::formatting::{pane_letter, speed};

/// The width of a line, and of the line of panes that shared their forward passes, in points.
const LINE: f32 = 1.5;
const BAND: f32 = 2.5;

/// The distance between end marks of texts that end at the same token, in points.
const END_MARK: f32 = 10.0;

const LEGEND_ROW: f32 = 24.0;

/// The height of the token axis with its title, in points.
const TOKEN_AXIS: f32 = 40.0;

/// The width of a legend entry's badge and line sample, with the space before its name.
const SAMPLE_WIDTH: f32 = SMALL_BADGE + 32.0;

/// Draws the decode speed of all panes into the remaining space of `ui`.
fn speed_plot_ui(ui: &mut Ui, data: &SpeedData, target: Target) {
    if data.lines.is_empty() {
        return empty(ui);
    }
    let theme = Theme::of(ui);
    let rest = title_ui(ui, "Speed", None, &data.subtitles());
    if target == Target::Picture && data.has_bands() {
        note_ui(ui, rest, "gray: panes that share each forward pass");
    }
    legend_ui(ui, data, target);
    let shown = between(ui, [0.0, 12.0], |ui| {
        plot(ui, data, target).show(ui, |plot| add_lines(plot, data, theme))
    });

    paint_ends(ui, data, &shown.transform);
    hover_ui(data, &shown.response, &shown.transform);
}

fn plot<'a>(ui: &Ui, data: &SpeedData, target: Target) -> Plot<'a> {
    let theme = Theme::of(ui);
    let x_axis = token_axis(theme, target);
    let decimals = step_decimals(data.mark_step);
    let mut y_axis = axis(AxisHints::new_y(), theme)
        .min_thickness(30.0)
        .formatter(move |mark, _| {
            if decimals > 0 {
                format!("{:.decimals$}", mark.value)
            } else {
                grouped(mark.value)
            }
        });
    if target == Target::Picture {
        let long = format!("Tokens per second, averaged over {N_WINDOW} tokens");
        // A title that is longer than the axis would cover the legend.
        let fits = Face::Micro.width(ui, &long) <= ui.available_height() - TOKEN_AXIS;
        let title = if fits { &*long } else { "Tokens per second" };
        y_axis = y_axis.label(axis_title(title, theme));
    }
    let n_axis = data.n_axis as f64;
    let (mark_step, n_marks) = (data.mark_step, data.n_marks);
    let top = mark_step * f64::from(n_marks);
    still_plot("speed", theme)
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis])
        .x_grid_spacer(move |input| {
            let length = (input.bounds.1 - input.bounds.0) / input.base_step_size * 8.0;
            marks(label_step(n_axis, length as f32, 48.0), n_axis)
        })
        .y_grid_spacer(move |_| marks(mark_step, top))
        .show_grid([false, true])
        .include_x(0.0)
        .include_x(n_axis)
        .include_y(0.0)
        .include_y(top)
}

/// Paints a mark at the end of each text. The marks of a band's texts that end together are side by
/// side.
fn paint_ends(ui: &Ui, data: &SpeedData, transform: &PlotTransform) {
    let theme = Theme::of(ui);
    let frame = transform.frame().expand(6.0);
    let painter = ui.painter().with_clip_rect(frame);
    let ends = || {
        let lines = data.lines.iter();
        lines.filter_map(|line| Some((line.pane, *line.points.last()?)))
    };
    for (pane, end) in ends() {
        let later = |(other, at): &(usize, LinePoint)| {
            *other > pane
                && at.token_number == end.token_number
                && at.sharing != Sharing::Alone
                && end.sharing != Sharing::Alone
        };
        let n_right = ends().filter(later).count();
        let at = pos2(
            transform.position_from_point_x(end.token_number as f64) - n_right as f32 * END_MARK,
            transform.position_from_point_y(end.per_sec),
        );
        paint_marker(&painter, pane, at, theme.pane(pane));
    }
}

fn marks(step: f64, last: f64) -> Vec<GridMark> {
    let n_marks = count(last / step + 1e-6) as u32;
    (0..=n_marks)
        .map(|index| GridMark {
            value: f64::from(index) * step,
            step_size: step,
        })
        .collect()
}

fn add_lines(plot: &mut PlotUi<'_>, data: &SpeedData, theme: &Theme) {
    plot.hline(
        HLine::new("", 0.0)
            .color(theme.stroke_2)
            .width(1.0)
            .allow_hover(false),
    );
    // The first pane is painted last, so that its line is on top.
    for line in data.lines.iter().rev() {
        for (sharing, points) in stretches(line) {
            let drawn = Line::new(line.name.clone(), PlotPoints::from(points)).allow_hover(false);
            plot.line(match sharing {
                Sharing::Alone => drawn
                    .style(dash(line.pane))
                    .color(theme.pane(line.pane))
                    .width(LINE),
                Sharing::First | Sharing::Other => drawn.color(theme.bar_before).width(BAND),
            });
        }
    }
}

/// Splits a line where it joins or leaves a band. The stretches that another pane draws are left
/// out.
fn stretches(line: &SpeedLine) -> Vec<(Sharing, Vec<[f64; 2]>)> {
    let at = |point: &LinePoint| [point.token_number as f64, point.per_sec];
    let mut stretches: Vec<(Sharing, Vec<[f64; 2]>)> = Vec::new();
    let mut previous = None;
    for point in &line.points {
        match stretches.last_mut() {
            Some((sharing, points)) if *sharing == point.sharing => points.push(at(point)),
            _ => {
                let points = previous.into_iter().chain([at(point)]).collect();
                stretches.push((point.sharing, points));
            }
        }
        previous = Some(at(point));
    }
    stretches.retain(|(sharing, _)| *sharing != Sharing::Other);
    stretches
}

fn legend_ui(ui: &mut Ui, data: &SpeedData, target: Target) {
    let theme = Theme::of(ui);
    let mut legend = Legend::new(ui, LEGEND_ROW);
    let entry_width = legend.rect.width() / data.lines.len().max(1) as f32;
    if target == Target::Screen {
        legend.x += 30.0;
    }
    for line in &data.lines {
        if target == Target::Picture {
            let width = SAMPLE_WIDTH + Face::Small.width(ui, &line.name);
            legend.make_room(ui, width);
        }
        let middle = legend.rect.top() + SMALL_BADGE / 2.0;
        let color = theme.pane(line.pane);
        let side = SMALL_BADGE;
        let badge = Rect::from_min_size(pos2(legend.x, middle - side / 2.0), vec2(side, side));
        paint_badge(ui.painter(), theme, badge, line.pane);
        legend.x = badge.right() + 4.0;
        if entry_width >= 44.0 || target == Target::Picture {
            let start = pos2(legend.x, middle);
            paint_sample(ui.painter(), line.pane, start, 22.0, color);
            paint_marker(ui.painter(), line.pane, start + vec2(11.0, 0.0), color);
            legend.x += 22.0;
        }
        if target == Target::Picture {
            let at = pos2(legend.x + 6.0, middle);
            let run = TextRun::new(&line.name, Face::Small, theme.text_2);
            let width = legend.rect.right() - at.x;
            let painted = paint_text_within(ui, at, Align2::LEFT_CENTER, run, width);
            legend.x = painted.right() + 8.0;
        }
        legend.x += 10.0;
    }
}

/// Shows the speeds at the token under the pointer.
fn hover_ui(data: &SpeedData, response: &egui::Response, transform: &egui_plot::PlotTransform) {
    response.widget_info(|| {
        let subtitles = data.subtitles();
        let subtitle = subtitles.first().map_or("", String::as_str);
        WidgetInfo::labeled(Role::Image, true, format!("Speed, {subtitle}"))
    });
    let Some(pointer) = response.hover_pos() else {
        return;
    };
    let number = count(transform.value_from_position(pointer).x.round());
    // The first token has no speed: the time before it is prefill.
    if number < 2 {
        return;
    }
    let speeds: Vec<String> = data
        .lines
        .iter()
        .filter_map(|line| {
            let after = line
                .points
                .partition_point(|point| point.token_number < number);
            let point = line.points.get(after)?;
            Some(format!(
                "{} {}",
                pane_letter(line.pane),
                speed(point.per_sec)
            ))
        })
        .collect();
    if !speeds.is_empty() {
        let tooltip = format!("token {number} · {} tok/s", speeds.join(", "));
        response.clone().on_hover_text_at_pointer(tooltip);
    }
}

fn empty(ui: &mut Ui) {
    let theme = Theme::of(ui);
    let hint = "Tokens per second for each pane. Prefill is timed separately.";
    let space = empty_ui(ui, "Speed", hint);
    let gap = (space.height() / 4.0).min(32.0);
    for index in 0_u8..4 {
        let y = (space.top() + 10.0 + gap * f32::from(index)).round() + 0.5;
        let color = if index == 3 {
            theme.stroke_2
        } else {
            theme.stroke_1
        };
        ui.painter()
            .hline(space.x_range(), y, Stroke::new(1.0, color));
    }
    ui.advance_cursor_after_rect(space);
}

/// The speed of a run.
pub(super) struct SpeedPicture;

impl RunPicture for SpeedPicture {
    fn files(&self) -> Vec<PlotFile> {
        vec![PlotFile {
            on_page: true,
            ..PlotFile::new("speed", "decoding speed")
        }]
    }

    /// A scored text took no time per token.
    fn has_data(&self, texts: &[&Generation]) -> bool {
        texts.iter().any(|text| has_token_times(text))
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        Some(Box::new(SpeedData::of(run.panes)))
    }

    fn kept_plot(&self, panes: &[Option<&Generation>]) -> Option<KeptPlot> {
        Some(Arc::new(SpeedData::of(panes)))
    }
}

impl PicturePlot for SpeedData {
    fn title(&self) -> &'static str {
        "Speed"
    }

    fn default_size(&self) -> [f32; 2] {
        [720.0, 420.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        speed_plot_ui(ui, self, Target::Picture);
    }

    fn show(&self, ui: &mut Ui) {
        speed_plot_ui(ui, self, Target::Screen);
    }
}

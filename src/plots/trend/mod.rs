//! Trends over the tokens of all panes, as lines or as a histogram, as their specs say.

mod data;
mod histogram;
mod p_value;
mod picture;
#[cfg(test)]
mod tests;

use egui::{
    Align2, Color32, Painter, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};
use egui_plot::LineStyle;

use self::data::{Axis, Panel};
pub use self::data::{TrendData, TrendFigures};
pub use self::p_value::p_value_plot_ui;
use self::picture::TrendPicture;
use super::frame::{Legend, TextRun, empty_ui, paint_text, paint_text_within, title_ui};
use super::line_style::{TURN_OPACITY, dash, paint_marker};
use super::scale::{count, grouped, label_step};
use super::{PicturePlot, PlotFile, PlotResponse, PlottedRun, RunPicture, StepAt, Target};
use crate::analysis::trend::Trend;
use crate::analysis::watermark::FOUND_AT;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;
use crate::generation::formatting::token_word;

/// The space for the labels of the axes, for the title of a panel, and from the top
/// to the middle of that title. Half of an axis’s highest label reaches into the title’s space.
const LEFT: f32 = 36.0;
const BOTTOM: f32 = 18.0;
const PANEL_TITLE: f32 = 22.0;
const TITLE_MIDDLE: f32 = 6.0;

const LEGEND_ROW: f32 = 22.0;

/// The width of a legend entry's badge and marker, with the space before its name.
const SAMPLE_WIDTH: f32 = SMALL_BADGE + 20.0;

/// The space after a legend entry in a picture.
const ENTRY_GAP: f32 = 16.0;

/// The space for the title of the token axis in a picture.
const AXIS_TITLE: f32 = 14.0;

/// Draws a trend into the remaining space of `ui`. Returns the hovered and the clicked step.
pub fn trend_plot_ui(ui: &mut Ui, data: &TrendData<'_>, target: Target) -> PlotResponse {
    let spec = data.kind.spec();
    if data.texts.is_empty() {
        empty_ui(ui, spec.name, spec.hint);
        return PlotResponse::default();
    }
    let subtitles = [spec.subtitle.to_owned()];
    title_ui(ui, spec.name, None, &subtitles);
    legend_ui(ui, data, target);
    let mut whole = ui.available_rect_before_wrap();
    let response = ui.interact(whole, ui.scope_id().with("trend"), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, describe(data)));
    if target == Target::Picture {
        let at = pos2(whole.center().x, whole.bottom());
        let title = match data.kind {
            Trend::Ranks => "Rank before the chain",
            _ => "Token",
        };
        let run = TextRun::new(title, Face::Micro, Theme::of(ui).text_2);
        paint_text(ui, at, Align2::CENTER_BOTTOM, run);
        whole.max.y -= AXIS_TITLE;
    } else if data.kind != Trend::Ranks {
        // Beside the labels of the axis, which begin to the right of it.
        let run = TextRun::new("Token", Face::Micro, Theme::of(ui).text_2);
        paint_text(ui, whole.left_bottom(), Align2::LEFT_BOTTOM, run);
    }
    let hovered = if data.kind == Trend::Ranks {
        histogram::draw(ui, whole, data, &response)
    } else {
        lines_ui(ui, whole, data, &response)
    };
    ui.advance_cursor_after_rect(whole);
    if let Some(at) = hovered
        && let Some(words) = data.label(at)
    {
        let tooltip = format!(
            "{} · {} · {words}",
            pane_letter(at.pane),
            token_label(data, at)
        );
        response.clone().on_hover_text_at_pointer(tooltip);
    }
    PlotResponse {
        hovered,
        clicked: hovered.filter(|_| response.clicked()),
    }
}

fn token_label(data: &TrendData<'_>, at: StepAt) -> String {
    let text = data.texts.iter().find(|(pane, _)| *pane == at.pane);
    let step = text.and_then(|(_, text)| text.steps.get(at.step));
    let word = step.map_or_else(String::new, |step| token_word(&step.piece));
    format!("token {} ‘{word}’", at.step + 1)
}

/// Describes the trend for a screen reader: its last value in each pane.
fn describe(data: &TrendData<'_>) -> String {
    let panes = data.texts.iter().filter_map(|(pane, text)| {
        let step = text.steps.len().checked_sub(1)?;
        let label = data.label(StepAt { pane: *pane, step })?;
        Some(format!(
            "{} {label} at token {}",
            pane_letter(*pane),
            step + 1
        ))
    });
    let panes: Vec<String> = panes.collect();
    let spec = data.kind.spec();
    format!("{}, {}: {}", spec.name, spec.subtitle, panes.join(", "))
}

fn legend_ui(ui: &mut Ui, data: &TrendData<'_>, target: Target) {
    let theme = Theme::of(ui);
    let mut legend = Legend::new(ui, LEGEND_ROW);
    // Many panes need two entries in each row, whose settings are truncated.
    let n_columns = if data.texts.len() > 4 { 2.0 } else { 1.0 };
    let widest = legend.rect.width() / n_columns - SAMPLE_WIDTH - ENTRY_GAP;
    for (pane, text) in &data.texts {
        let name = format!("{}, {}", text.shown_name(), text.config.chain);
        let width = Face::Small.width(ui, &name).min(widest) + 1.0;
        if target == Target::Picture {
            legend.make_room(ui, SAMPLE_WIDTH + width);
        }
        let middle = legend.rect.top() + SMALL_BADGE / 2.0;
        let corner = pos2(legend.x, legend.rect.top());
        let badge = Rect::from_min_size(corner, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, *pane);
        paint_marker(
            ui.painter(),
            *pane,
            pos2(badge.right() + 10.0, middle),
            theme.pane(*pane),
        );
        legend.x = badge.right() + 24.0;
        if target == Target::Picture {
            let run = TextRun::new(&name, Face::Small, theme.text_2);
            let at = pos2(legend.x - 4.0, middle);
            let painted = paint_text_within(ui, at, Align2::LEFT_CENTER, run, width);
            legend.x = painted.right() + ENTRY_GAP;
        }
    }
}

/// Draws the panels one below the other. Returns the step under the pointer.
fn lines_ui(
    ui: &Ui,
    whole: Rect,
    data: &TrendData<'_>,
    response: &egui::Response,
) -> Option<StepAt> {
    let n = data.figures.panels.len().max(1) as f32;
    let height = (whole.height() - BOTTOM) / n;
    let mut hovered = None;
    for (index, panel) in data.figures.panels.iter().enumerate() {
        let top = whole.top() + height * index as f32;
        let title = pos2(whole.left(), top + TITLE_MIDDLE);
        let words = panel.title();
        let run = TextRun::new(&words, Face::Micro, Theme::of(ui).text_2);
        paint_text(ui, title, Align2::LEFT_CENTER, run);
        let area = Rect::from_min_max(
            pos2(whole.left() + LEFT, top + PANEL_TITLE),
            pos2(whole.right() - 8.0, top + height - 4.0),
        );
        let panes: Vec<usize> = data.texts.iter().map(|(pane, _)| *pane).collect();
        let frame = Frame {
            panes: &panes,
            n_axis: data.n_axis,
            turns: &data.turns,
            hovered: data.hovered,
            pinned: data.pinned,
        };
        paint_panel(ui, area, panel, &frame);
        if let Some(pointer) = response.hover_pos()
            && (top..top + height).contains(&pointer.y)
        {
            hovered = nearest(area, panel, data, pointer);
        }
    }
    let area = whole
        .with_min_x(whole.left() + LEFT)
        .with_max_x(whole.right() - 8.0);
    paint_token_axis(ui, area, data.n_axis);
    hovered
}

/// Returns the horizontal position of a token, given by its number.
fn x_of(area: Rect, n_axis: usize, number: usize) -> f32 {
    area.left() + area.width() * number as f32 / n_axis.max(1) as f32
}

fn y_of(area: Rect, axis: Axis, value: f64) -> f32 {
    area.bottom() - area.height() * axis.place(value) as f32
}

/// What the lines of a panel share.
struct Frame<'a> {
    /// The panes that the lines belong to.
    panes: &'a [usize],
    n_axis: usize,
    /// The indices of the steps at which the turns of each pane begin.
    turns: &'a [Vec<usize>],
    hovered: Option<StepAt>,
    pinned: Option<StepAt>,
}

fn paint_panel(ui: &Ui, area: Rect, panel: &Panel, data: &Frame<'_>) {
    let theme = Theme::of(ui);
    paint_marks(ui, area, panel.axis);
    for (at, color) in [(data.hovered, theme.stroke_3), (data.pinned, theme.accent)] {
        if let Some(at) = at {
            let x = x_of(area, data.n_axis, at.step + 1).round() + 0.5;
            ui.painter()
                .vline(x, area.y_range(), Stroke::new(1.0, color));
        }
    }
    // Turns begin at other tokens in each pane, so each has its own uprights, in its color.
    for (pane, turns) in data.panes.iter().zip(data.turns) {
        let stroke = Stroke::new(1.0, theme.pane(*pane).gamma_multiply(TURN_OPACITY));
        for start in turns {
            let x = x_of(area, data.n_axis, *start).round() + 0.5;
            ui.painter().vline(x, area.y_range(), stroke);
        }
    }
    if matches!(panel.axis, Axis::PValue { .. }) {
        paint_threshold(ui, area, panel.axis);
    }
    // The first line is solid. Dashes over it show where two lines are the same.
    for (pane, line) in data.panes.iter().zip(&panel.lines) {
        let points: Vec<Pos2> = line
            .iter()
            .map(|(number, value)| {
                pos2(
                    x_of(area, data.n_axis, *number),
                    y_of(area, panel.axis, *value),
                )
            })
            .collect();
        let color = theme.pane(*pane);
        paint_line(ui.painter(), *pane, &points, Stroke::new(1.5, color));
        if let Some(end) = points.last() {
            paint_marker(ui.painter(), *pane, *end, color);
        }
        for (point, (_, value)) in points.iter().zip(line) {
            if panel.axis.is_beyond(*value) {
                paint_clipped(ui.painter(), *point, color);
            }
        }
    }
}

/// Marks a value above the axis with an arrowhead that points beyond it.
fn paint_clipped(painter: &Painter, top: Pos2, color: Color32) {
    let corners = [vec2(0.0, -5.0), vec2(4.0, 1.0), vec2(-4.0, 1.0)];
    let corners = corners.map(|offset| top + offset).to_vec();
    painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
}

/// Paints the p-value at which a watermark counts as found.
fn paint_threshold(ui: &Ui, area: Rect, axis: Axis) {
    let theme = Theme::of(ui);
    let y = y_of(area, axis, -FOUND_AT.log10());
    let ends = [pos2(area.left(), y), pos2(area.right(), y)];
    let dots = Shape::dotted_line(&ends, theme.text_3, 4.0, 0.75);
    ui.painter().extend(dots);
    let run = TextRun::new("one text in 1,000", Face::Micro, theme.text_3);
    paint_text(ui, pos2(area.right(), y + 2.0), Align2::RIGHT_TOP, run);
}

fn paint_line(painter: &Painter, pane: usize, points: &[Pos2], stroke: Stroke) {
    let gap = 1.0 / std::f32::consts::GOLDEN_RATIO;
    match dash(pane) {
        LineStyle::Solid => painter.extend([Shape::line(points.to_vec(), stroke)]),
        LineStyle::Dashed { length } => {
            painter.extend(Shape::dashed_line(points, stroke, length, length * gap));
        }
        LineStyle::Dotted { spacing } => {
            painter.extend(Shape::dotted_line(points, stroke.color, spacing, 0.75));
        }
    }
}

/// Paints the lines and labels of a vertical axis.
fn paint_marks(ui: &Ui, area: Rect, axis: Axis) {
    let theme = Theme::of(ui);
    for (index, (value, label)) in axis.marks().into_iter().enumerate() {
        let y = y_of(area, axis, value);
        let color = if index == 0 {
            theme.stroke_2
        } else {
            theme.stroke_1
        };
        ui.painter()
            .hline(area.x_range(), y.round() + 0.5, Stroke::new(1.0, color));
        let at = pos2(area.left() - 6.0, y);
        let run = TextRun::new(&label, Face::Micro, theme.text_3);
        paint_text(ui, at, Align2::RIGHT_CENTER, run);
    }
}

fn paint_token_axis(ui: &Ui, area: Rect, n_axis: usize) {
    let step = label_step(n_axis as f64, area.width(), 48.0).max(1.0);
    let n_marks = count(n_axis as f64 / step);
    for mark in 1..=n_marks {
        let number = count(mark as f64 * step);
        let at = pos2(x_of(area, n_axis, number), area.bottom());
        let label = grouped(number as f64);
        let run = TextRun::new(&label, Face::Micro, Theme::of(ui).text_3);
        paint_text(ui, at, Align2::CENTER_BOTTOM, run);
    }
}

/// Returns the step at the pointer's token, of the pane whose line is nearest to it.
fn nearest(area: Rect, panel: &Panel, data: &TrendData<'_>, pointer: Pos2) -> Option<StepAt> {
    let share = f64::from((pointer.x - area.left()) / area.width().max(1.0));
    let number = count((share * data.n_axis as f64).round());
    let distance = |line: &[(usize, f64)]| {
        let after = line.partition_point(|(other, _)| *other < number);
        let (_, value) = line.get(after)?;
        Some((y_of(area, panel.axis, *value) - pointer.y).abs())
    };
    let step = number.checked_sub(1)?;
    let texts = data.texts.iter().zip(&panel.lines);
    texts
        .filter(|((_, text), _)| step < text.steps.len())
        .filter_map(|((pane, _), line)| Some((*pane, distance(line)?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(pane, _)| StepAt { pane, step })
}

impl RunPicture for Trend {
    fn files(&self) -> Vec<PlotFile> {
        let spec = self.spec();
        vec![PlotFile::new(spec.file_name, spec.file_summary)]
    }

    fn has_data(&self, texts: &[&Generation]) -> bool {
        self.spec().has_data(texts.iter().copied())
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        Some(Box::new(TrendPicture::of(*self, run)))
    }
}

impl PicturePlot for TrendData<'_> {
    fn title(&self) -> &'static str {
        self.kind.spec().name
    }

    fn default_size(&self) -> [f32; 2] {
        [720.0, 420.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        trend_plot_ui(ui, self, Target::Picture);
    }
}

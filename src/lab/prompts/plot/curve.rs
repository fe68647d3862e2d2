//! The share of right answers over a number that is varied: a line where it is exact, points with
//! intervals where it was drawn, and the panes whose value is on the axis.

use egui::{Align2, Pos2, Rect, Shape, Stroke, Ui, pos2, vec2};

use super::cell::whole_percent;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::formatting::{counted, percent};
use crate::lab::prompts::ExactShare;
use crate::lab::prompts::figures::{CurvePoint, SweepReading, TaskResults, TaskSweep};
use crate::plots::{
    Axes, Scale, TextRun, dashed_line, paint_text, paint_text_within, unit_title_ui,
};

const TITLE: f32 = 26.0;

/// The height of a row of the legend, and the room for its number.
const LEGEND_ROW: f32 = 26.0;
const LEGEND_NUMBER: f32 = 108.0;

/// The room to the left of the axis: for the legend and for the prompts below it.
const LEGEND: [f32; 2] = [128.0, 352.0];

/// How much of it the labels of the axis take.
const AXIS_LABELS: f32 = 44.0;

/// The radius of a drawn point.
const POINT: f32 = 3.5;

/// The width of the ring of the background around a badge.
const HALO: f32 = 2.0;

/// A curve, and what is known about it.
#[derive(Debug, Clone, Copy)]
pub(in crate::lab::prompts) struct SweepCurve<'a> {
    pub results: &'a TaskResults,
    pub sweep: &'a TaskSweep,
    pub reading: &'a SweepReading,
    /// The index of the pane whose other settings all values share.
    pub base: usize,
}

/// A pane at its place on a curve.
#[derive(Debug, Clone, Copy)]
struct PaneMark {
    place: usize,
    value: f64,
    share: f64,
}

impl<'a> SweepCurve<'a> {
    pub(in crate::lab::prompts) fn new(
        results: &'a TaskResults,
        sweep: &'a TaskSweep,
        reading: &'a SweepReading,
    ) -> Self {
        let letter = results.cells.first().map(|cell| &cell.letter);
        let mut panes = results.panes.iter();
        let base = panes.position(|pane| Some(&pane.letter) == letter);
        Self {
            results,
            sweep,
            reading,
            base: base.unwrap_or(0),
        }
    }

    /// Returns the place of the base pane, which determines its letter and color.
    pub(super) fn place(&self) -> usize {
        self.results.place(self.base)
    }

    /// Returns the share under the settings of a pane, exact if it is known.
    fn pane_share(&self, pane: usize) -> Option<f64> {
        let exact = self.reading.panes.get(pane).copied().flatten();
        let drawn = || Some(self.reading.drawn.get(pane)?.share?.share);
        exact.map(ExactShare::middle).or_else(drawn)
    }

    /// Returns the name of the number, as within a sentence.
    pub(super) fn name(&self) -> String {
        self.sweep.axis.parameter.name().to_lowercase()
    }

    /// Returns the smallest and the largest value.
    pub(super) fn ends(&self) -> [f64; 2] {
        let values = self.sweep.axis.values().iter().copied();
        let least = values.clone().fold(f64::INFINITY, f64::min);
        [least, values.fold(f64::NEG_INFINITY, f64::max)]
    }

    /// Returns the panes whose settings have a value on the axis, with that value.
    pub(super) fn on_axis(&self) -> impl Iterator<Item = (usize, f64)> {
        let [least, most] = self.ends();
        let parameter = self.sweep.axis.parameter;
        let panes = self.results.panes.iter();
        let values = panes
            .map(move |pane| parameter.get(&pane.chain))
            .enumerate();
        values.filter_map(move |(pane, value)| {
            let value = value.filter(|value| (least..=most).contains(value))?;
            Some((pane, value))
        })
    }

    /// Draws the title, the legend and the curve. Returns its axes, under which the strips are
    /// aligned.
    pub(in crate::lab::prompts) fn show(&self, ui: &Ui, rect: Rect) -> Axes {
        let (title, body) = rect.split_top_bottom_at_y(rect.top() + TITLE);
        let heading = format!("Right answers at any {}", self.name());
        let unit = self.unit();
        unit_title_ui(ui, title, [&heading, &unit], &self.spoken());
        let [least, most] = LEGEND;
        let room = (body.width() * 0.36).clamp(least, most);
        let (legend, plot) = body.split_left_right_at_x(body.left() + room);
        let exact = self.reading.points.iter().map(|point| point.share);
        let panes = self.reading.panes.iter().flatten().copied();
        let drawn = self.reading.drawn.iter().filter_map(|drawn| drawn.share);
        let drawn = drawn.map(|share| share.interval.map_or(share.share, |ends| ends.high));
        let shares = exact.chain(panes).map(|share| share.at_most).chain(drawn);
        let rect = plot.with_min_x(plot.left() - AXIS_LABELS);
        let axes = self.axes(rect, shares.fold(0.0, f64::max));
        axes.paint(ui, &self.name());
        self.guides_ui(ui, &axes);
        let marks = self.on_axis().filter_map(|(pane, value)| {
            let share = self.pane_share(pane)?;
            let place = self.results.place(pane);
            Some(PaneMark {
                place,
                value,
                share,
            })
        });
        let marks: Vec<PaneMark> = marks.collect();
        self.line_ui(ui, &axes, &self.reading.points);
        self.points_ui(ui, &axes);
        marks_ui(ui, &axes, &marks);
        self.legend_ui(ui, legend.with_max_x(legend.right() - AXIS_LABELS));
        axes
    }

    /// Says what the line and the points are.
    fn unit(&self) -> String {
        let n_exact = self.reading.n_tasks;
        let n_drawn = self.reading.n_drawn_tasks();
        let exact = format!("exact, mean of {}", counted(n_exact, "task"));
        let answers = counted(self.results.n_answers, "answer");
        let drawn = format!("{answers} to each of {}", counted(n_drawn, "task"));
        match (n_exact, n_drawn) {
            (_, 0) => exact,
            (0, _) => format!("drawn, {drawn}; bars: 95 %"),
            _ => format!("line: {exact}; points: {drawn}, 95 %"),
        }
    }

    /// Draws the share that was drawn at each value, with its interval.
    fn points_ui(&self, ui: &Ui, axes: &Axes) {
        let color = Theme::of(ui).pane(self.place());
        let values = self.sweep.axis.values().iter();
        for (value, drawn) in values.zip(self.reading.drawn_cells()) {
            let Some(estimate) = drawn.share else {
                continue;
            };
            if let Some(ends) = estimate.interval {
                let ends = [ends.low, ends.high].map(|end| axes.at(*value, end));
                let bar = Stroke::new(1.5, color.gamma_multiply(0.6));
                ui.painter().line_segment(ends, bar);
            }
            let at = axes.at(*value, estimate.share);
            ui.painter().circle_filled(at, POINT, color);
        }
    }

    /// Returns the axes of a curve that reaches up to a share.
    fn axes(&self, rect: Rect, most: f64) -> Axes {
        let step = match most {
            ..0.2 => 0.05,
            ..0.4 => 0.1,
            _ => 0.2,
        };
        let n_steps = (0..=20).find(|n| f64::from(*n) * step >= most - 1e-9);
        let n_steps = n_steps.unwrap_or(5).max(1);
        let mark = |index: i32| {
            let share = f64::from(index) * step;
            let sign = if index == n_steps { " %" } else { "" };
            (share, format!("{:.0}{sign}", share * 100.0))
        };
        let [from, to] = self.ends();
        let shares = Scale::of((0..=n_steps).map(mark).collect());
        Axes::new(rect, Scale::between(from, to), shares)
    }

    /// Draws an upright at the value of each pane.
    fn guides_ui(&self, ui: &Ui, axes: &Axes) {
        let stroke = Stroke::new(1.0, Theme::of(ui).stroke_3);
        for (_, value) in self.on_axis() {
            let x = axes.at(value, 0.0).x;
            let area = axes.area();
            let ends = [pos2(x, area.top()), pos2(x, area.bottom())];
            ui.painter()
                .extend(Shape::dashed_line(&ends, stroke, 2.0, 3.0));
        }
    }

    /// Draws the line in the color and the pattern of the pane. It is dotted where shares are only
    /// bounded, and the bounds are filled.
    fn line_ui(&self, ui: &Ui, axes: &Axes, points: &[CurvePoint]) {
        let color = Theme::of(ui).pane(self.place());
        let at = |point: &CurvePoint, share: f64| axes.at(point.value, share);
        let middle = points.iter().map(|point| at(point, point.share.middle()));
        let middle: Vec<Pos2> = middle.collect();
        if points.iter().all(|point| point.share.is_exact()) {
            ui.painter().add(dashed_line(self.place(), middle, color));
            return;
        }
        let fill = color.gamma_multiply(0.25);
        for pair in points.windows(2) {
            let [one, other] = pair else { continue };
            let corners = [
                at(one, one.share.at_most),
                at(other, other.share.at_most),
                at(other, other.share.at_least),
                at(one, one.share.at_least),
            ];
            ui.painter()
                .add(Shape::convex_polygon(corners.to_vec(), fill, Stroke::NONE));
        }
        ui.painter()
            .extend(Shape::dotted_line(&middle, color, 5.0, 1.0));
    }

    /// Draws the share of each pane beside the axis.
    fn legend_ui(&self, ui: &Ui, rect: Rect) {
        let theme = Theme::of(ui);
        let panes = self.results.panes.iter();
        for (index, pane) in panes.enumerate() {
            let top = rect.top() + index as f32 * LEGEND_ROW;
            let row = Rect::from_x_y_ranges(rect.x_range(), top..=top + LEGEND_ROW);
            if row.bottom() > rect.bottom() {
                break;
            }
            let y = row.center().y;
            let center = pos2(row.left() + SMALL_BADGE / 2.0, y);
            let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
            paint_badge(ui.painter(), theme, badge, self.results.place(index));
            let exact = self.reading.panes.get(index).copied().flatten();
            let drawn = || self.pane_share(index).map(whole_percent);
            let words = exact.map(short_words).or_else(drawn);
            let words = words.unwrap_or_else(|| "–".to_owned());
            let run = TextRun::new(&words, Face::SmallMedium, theme.text_1);
            let right = row.right().min(row.left() + 300.0);
            let number = paint_text(ui, pos2(right, y), Align2::RIGHT_CENTER, run);
            let at = pos2(badge.right() + 8.0, y);
            let room = number.left() - 8.0 - at.x;
            if row.width() > LEGEND_NUMBER && room > 24.0 {
                let run = TextRun::new(&pane.name, Face::Small, theme.text_2);
                paint_text_within(ui, at, Align2::LEFT_CENTER, run, room);
            }
        }
    }

    /// Describes the curve for screen readers.
    fn spoken(&self) -> String {
        let verdict = self.reading.verdict.as_ref();
        let sentence = verdict.map_or("", |verdict| &verdict.sentence);
        let panes = self.results.panes.iter().enumerate();
        let panes = panes.filter_map(|(index, pane)| {
            let exact = self.reading.panes.get(index).copied().flatten();
            let drawn = || self.pane_share(index).map(whole_percent);
            let words = exact.map(share_words).or_else(drawn)?;
            Some(format!("{} {words}", pane.letter))
        });
        let panes: Vec<String> = panes.collect();
        format!("{sentence} {}", panes.join("; "))
    }
}

/// Draws badges. Those that would cover each other move to the right.
fn marks_ui(ui: &Ui, axes: &Axes, marks: &[PaneMark]) {
    let theme = Theme::of(ui);
    let side = vec2(SMALL_BADGE, SMALL_BADGE);
    let mut drawn: Vec<Rect> = Vec::new();
    for mark in marks {
        let center = axes.at(mark.value, mark.share);
        let mut badge = Rect::from_center_size(center, side);
        while drawn.iter().any(|other| other.intersects(badge)) {
            badge = badge.translate(vec2(side.x + HALO, 0.0));
        }
        let halo = badge.expand(HALO);
        ui.painter().rect_filled(halo, 5, theme.surface_1);
        paint_badge(ui.painter(), theme, badge, mark.place);
        drawn.push(badge);
    }
}

/// Draws the curve of one task.
pub(in crate::lab::prompts) fn task_curve_ui(
    ui: &Ui,
    rect: Rect,
    shown: SweepCurve<'_>,
    task: usize,
) {
    let axes = shown.axes(rect, 1.0);
    axes.paint(ui, &shown.name());
    let points = shown.sweep.task_points(shown.results, task);
    shown.line_ui(ui, &axes, &points);
    let marks = shown.on_axis().filter_map(|(pane, value)| {
        let exact = shown.results.exact_share(task, pane);
        let drawn = || Some(shown.results.prompt_share(task, pane)?.value());
        let share = exact.map(ExactShare::middle).or_else(drawn)?;
        let place = shown.results.place(pane);
        Some(PaneMark {
            place,
            value,
            share,
        })
    });
    let marks: Vec<PaneMark> = marks.collect();
    marks_ui(ui, &axes, &marks);
}

/// "exactly 57 %", or "at least 37 %, at most 38 %".
pub(in crate::lab::prompts) fn share_words(share: ExactShare) -> String {
    if share.is_exact() {
        return format!("exactly {}", share_percent(share.middle()));
    }
    let [least, most] = [share.at_least, share.at_most].map(share_percent);
    format!("at least {least}, at most {most}")
}

/// "57 %", or "37–38 %".
fn short_words(share: ExactShare) -> String {
    let [least, most] = [share.at_least, share.at_most].map(|end| format!("{:.0}", end * 100.0));
    if share.is_exact() || least == most {
        format!("{most} %")
    } else {
        format!("{least}–{most} %")
    }
}

fn share_percent(share: f64) -> String {
    if share > 0.0 {
        percent(share)
    } else {
        "0 %".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{share_words, short_words};
    use crate::lab::prompts::ExactShare;

    #[test]
    fn a_share_says_whether_it_is_exact() {
        let share = |at_least, at_most| ExactShare { at_least, at_most };
        assert_eq!(share_words(share(0.379, 0.379)), "exactly 38 %");
        assert_eq!(share_words(share(0.0, 0.0)), "exactly 0 %");
        assert_eq!(
            share_words(share(0.37, 0.38)),
            "at least 37 %, at most 38 %"
        );
        assert_eq!(short_words(share(0.37, 0.38)), "37–38 %");
        assert_eq!(short_words(share(0.379, 0.379)), "38 %");
    }
}

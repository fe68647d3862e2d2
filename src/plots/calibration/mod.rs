//! Calibration: how often the most likely token is taken, against its probability before the chain.
//! A text drawn from the model's own distribution lies on the diagonal; greedy lies at the top.

mod data;

use std::sync::Arc;

use egui::{Align2, Color32, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use self::data::{CalibrationBin, CalibrationData, CalibrationLine};
use super::frame::{Legend, TextRun, empty_ui, paint_text, paint_text_within, title_ui};
use super::line_style::{dashed_line, paint_marker};
use super::{KeptPlot, PicturePlot, PlotFile, PlottedRun, RunPicture, Target};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::Generation;
use crate::generation::formatting::{counted, pane_letter, percent};

const TITLE: &str = "Calibration";

/// What is plotted, the longest that fits.
const SUBTITLES: [&str; 2] = [
    "how often the most likely token is taken, against its probability before the chain",
    "how often the most likely token is taken",
];

/// The space for the labels of the axes, and for their titles.
const LEFT: f32 = 36.0;
const BOTTOM: f32 = 18.0;
const AXIS_TITLE: f32 = 16.0;

const LEGEND_ROW: f32 = 22.0;

/// The width of a legend entry's badge and marker, with the space before its name.
const SAMPLE_WIDTH: f32 = SMALL_BADGE + 20.0;

/// The space after a legend entry in a picture.
const ENTRY_GAP: f32 = 16.0;

/// The calibration of a run.
pub(super) struct CalibrationPicture;

impl RunPicture for CalibrationPicture {
    fn files(&self) -> Vec<PlotFile> {
        let title = "how often the most likely token is taken";
        vec![PlotFile::new("calibration", title)]
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        Some(Box::new(CalibrationData::of(run.panes)))
    }

    fn kept_plot(&self, panes: &[Option<&Generation>]) -> Option<KeptPlot> {
        Some(Arc::new(CalibrationData::of(panes)))
    }
}

impl PicturePlot for CalibrationData {
    fn title(&self) -> &'static str {
        TITLE
    }

    fn default_size(&self) -> [f32; 2] {
        [720.0, 480.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        calibration_ui(ui, self, Target::Picture);
    }

    fn show(&self, ui: &mut Ui) {
        calibration_ui(ui, self, Target::Screen);
    }
}

fn calibration_ui(ui: &mut Ui, data: &CalibrationData, target: Target) {
    if data.lines.is_empty() {
        let hint = "How often the most likely token is taken, for each tenth of its probability.";
        empty_ui(ui, TITLE, hint);
        return;
    }
    title_ui(ui, TITLE, None, &SUBTITLES.map(str::to_owned));
    legend_ui(ui, data, target);
    let whole = ui.available_rect_before_wrap();
    let response = ui.interact(whole, ui.scope_id().with(TITLE), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, describe(data)));
    let below = match target {
        Target::Screen => BOTTOM,
        Target::Picture => BOTTOM + AXIS_TITLE,
    };
    let area = Rect::from_min_max(
        pos2(whole.left() + LEFT, whole.top() + AXIS_TITLE),
        pos2(whole.right() - 8.0, whole.bottom() - below),
    );
    paint_axes(ui, whole, area, target);
    // The first pane is painted last, so that its line is on top.
    for line in data.lines.iter().rev() {
        paint_line(ui, area, line);
    }
    let hovered = response.hover_pos().filter(|at| area.contains(*at));
    if let Some(words) = hovered.and_then(|at| tooltip(data, area, at)) {
        response.on_hover_text_at_pointer(words);
    }
    ui.advance_cursor_after_rect(whole);
}

fn legend_ui(ui: &mut Ui, data: &CalibrationData, target: Target) {
    let theme = Theme::of(ui);
    let mut legend = Legend::new(ui, LEGEND_ROW);
    // Many panes need two entries in each row, whose settings are truncated.
    let n_columns = if data.lines.len() > 4 { 2.0 } else { 1.0 };
    let widest = legend.rect.width() / n_columns - SAMPLE_WIDTH - ENTRY_GAP;
    for line in &data.lines {
        let width = Face::Small.width(ui, &line.name).min(widest) + 1.0;
        if target == Target::Picture {
            legend.make_room(ui, SAMPLE_WIDTH + width);
        }
        let corner = pos2(legend.x, legend.rect.top());
        let badge = Rect::from_min_size(corner, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, line.pane);
        let marker = pos2(badge.right() + 10.0, badge.center().y);
        paint_marker(ui.painter(), line.pane, marker, theme.pane(line.pane));
        legend.x = badge.right() + 24.0;
        if target == Target::Picture {
            let run = TextRun::new(&line.name, Face::Small, theme.text_2);
            let at = pos2(legend.x - 4.0, badge.center().y);
            let painted = paint_text_within(ui, at, Align2::LEFT_CENTER, run, width);
            legend.x = painted.right() + ENTRY_GAP;
        }
    }
}

/// Returns the point at these two shares.
fn point(area: Rect, prob: f64, taken: f64) -> Pos2 {
    area.lerp_inside([prob as f32, 1.0 - taken as f32])
}

/// Paints the axes from 0 to 100 %, their titles, and the diagonal.
fn paint_axes(ui: &Ui, whole: Rect, area: Rect, target: Target) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    for (share, label) in [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")] {
        let color = if share > 0.0 {
            theme.stroke_1
        } else {
            theme.stroke_2
        };
        let at = point(area, share, share);
        painter.hline(area.x_range(), at.y.round() + 0.5, Stroke::new(1.0, color));
        painter.vline(at.x.round() + 0.5, area.y_range(), Stroke::new(1.0, color));
        let run = TextRun::new(label, Face::Micro, theme.text_3);
        let left = pos2(area.left() - 6.0, at.y);
        paint_text(ui, left, Align2::RIGHT_CENTER, run);
        let align = if share < 1.0 {
            Align2::CENTER_TOP
        } else {
            Align2::RIGHT_TOP
        };
        paint_text(ui, pos2(at.x, area.bottom() + 3.0), align, run);
    }
    let ends = [point(area, 0.0, 0.0), point(area, 1.0, 1.0)];
    painter.extend(Shape::dotted_line(&ends, theme.text_3, 4.0, 0.75));
    let run = TextRun::new("Taken", Face::Micro, theme.text_2);
    let corner = pos2(whole.left(), whole.top() + AXIS_TITLE / 2.0 - 2.0);
    paint_text(ui, corner, Align2::LEFT_CENTER, run);
    if target == Target::Picture {
        let title = "Probability of the most likely token before the chain";
        let run = TextRun::new(title, Face::Micro, theme.text_2);
        let at = pos2(area.center().x, whole.bottom());
        paint_text(ui, at, Align2::CENTER_BOTTOM, run);
    }
}

/// Paints a line through the bins of a text, and the 95 % interval of each.
fn paint_line(ui: &Ui, area: Rect, line: &CalibrationLine) {
    let color = Theme::of(ui).pane(line.pane);
    let painter = ui.painter();
    let at = |bin: &CalibrationBin| point(area, bin.mean_prob, bin.taken.value());
    for bin in &line.bins {
        let (low, high) = bin.taken.interval();
        let ends = [low, high].map(|taken| point(area, bin.mean_prob, taken));
        painter.line_segment(ends, Stroke::new(1.0, color.gamma_multiply(0.5)));
    }
    let points: Vec<Pos2> = line.bins.iter().map(at).collect();
    painter.add(dashed_line(line.pane, points.clone(), color));
    for point in points {
        paint_marker(painter, line.pane, point, color);
    }
}

/// Describes the bin of each text that is nearest to the pointer.
fn tooltip(data: &CalibrationData, area: Rect, pointer: Pos2) -> Option<String> {
    let prob = f64::from((pointer.x - area.left()) / area.width().max(1.0));
    let lines = data.lines.iter().filter_map(|line| {
        let distance = |bin: &&CalibrationBin| (bin.mean_prob - prob).abs();
        let nearest =
            |a: &&CalibrationBin, b: &&CalibrationBin| distance(a).total_cmp(&distance(b));
        let bin = line.bins.iter().min_by(nearest)?;
        let taken = bin.taken;
        Some(format!(
            "{}: taken {} of {}, {}, at a mean probability of {}",
            pane_letter(line.pane),
            taken.n_with,
            taken.n,
            percent(taken.value()),
            percent(bin.mean_prob)
        ))
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Describes the plot for a screen reader.
fn describe(data: &CalibrationData) -> String {
    let lines = data.lines.iter().map(|line| {
        let tokens = counted(line.n_tokens(), "token");
        let letter = pane_letter(line.pane);
        format!("{letter} {} off over {tokens}", percent(line.error()))
    });
    let lines: Vec<String> = lines.collect();
    format!("{TITLE}, {}: {}", SUBTITLES[0], lines.join(", "))
}

#[cfg(test)]
mod tests {
    use egui::{Rect, pos2};

    use super::{CalibrationData, describe, tooltip};
    use crate::generation::testing::generation;

    #[test]
    fn the_bins_of_all_panes_are_described_at_the_pointer() {
        let text = generation(&[(" lived", 0.9), (" in", 0.9)]);
        let data = CalibrationData::of(&[Some(&text), Some(&text)]);
        let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(100.0, 100.0));
        let words = tooltip(&data, area, pos2(90.0, 50.0)).unwrap();
        let lines: Vec<&str> = words.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("A: taken "), "{words}");
        assert!(lines[1].starts_with("B: taken "), "{words}");
        assert!(describe(&data).contains(" off over 2 tokens, B "));
    }
}

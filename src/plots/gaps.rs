//! Then and now: how far the logits of a replay are from the recorded ones, token by token, and
//! where the texts diverge.

use egui::{Align2, Color32, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::PicturePlot;
use super::frame::title_ui;
use super::line_style::dashed_line;
use super::scale::{axis_steps, count, step_decimals};
use crate::analysis::replay::{Difference, Verdict, logit_gap};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::Generation;
use crate::generation::formatting::quoted;

/// The space for the labels of the axes, in points.
const LEFT: f32 = 48.0;
const BELOW: f32 = 18.0;

/// The height of a label, and its distance from the end of a line, in points.
const LABEL: f32 = 18.0;
const LABEL_GAP: f32 = 12.0;

/// The texts of a run beside their replays.
#[derive(Debug, Clone, PartialEq)]
pub struct GapData {
    lines: Vec<GapLine>,
    verdict: String,
}

/// A text beside its replay.
#[derive(Debug, Clone, PartialEq)]
struct GapLine {
    pane: usize,
    /// The largest logit difference at each step, up to the first different token.
    gaps: Vec<f32>,
    diverges: bool,
    /// How the texts differ: "‘bat’ then, ‘crow’ now".
    words: String,
}

impl GapData {
    /// Describes how texts compare with their replays. Texts are indexed by pane.
    pub fn of<'a>(
        verdict: &Verdict,
        then_and_now: impl IntoIterator<Item = (&'a Generation, &'a Generation)>,
    ) -> Self {
        let panes = verdict.texts.iter().take(verdict.places().len());
        let texts = panes.zip(then_and_now).enumerate();
        let lines = texts.map(|(pane, (replay, (then, now)))| GapLine {
            pane: verdict.place(pane),
            gaps: replay.gaps.clone(),
            diverges: replay.first_difference.is_some(),
            words: match replay.first_difference {
                Some(difference) => difference_words(difference, then, now),
                None => "same tokens".to_owned(),
            },
        });
        Self {
            lines: lines.collect(),
            verdict: verdict.to_string(),
        }
    }

    fn n_steps(&self) -> usize {
        let steps = self.lines.iter().map(|line| line.gaps.len());
        steps.max().unwrap_or_default()
    }

    fn largest(&self) -> f32 {
        let gaps = self.lines.iter().flat_map(|line| &line.gaps);
        gaps.copied().fold(0.0, f32::max)
    }
}

/// Says how the tokens differ: "‘bat’ then, ‘crow’ now".
fn difference_words(found: Difference, then: &Generation, now: &Generation) -> String {
    let word = |text: &Generation, token: Option<_>| match token {
        Some(token) => quoted(&text.vocabulary.piece(token)),
        None => "no token".to_owned(),
    };
    let (then, now) = (word(then, found.then), word(now, found.now));
    format!("{then} then, {now} now")
}

/// Draws the largest logit difference over the tokens into the rest of `ui`, one line per pane, on
/// a background of this color.
pub fn gap_plot_ui(ui: &mut Ui, data: &GapData, paper: Color32) {
    let subtitles = [
        "largest logit difference, token by token; a cross is the first different choice",
        "largest logit difference, token by token",
    ];
    title_ui(ui, "Then and now", None, &subtitles.map(str::to_owned));
    let rect = ui.available_rect_before_wrap();
    let response = ui.allocate_rect(rect, Sense::hover());
    let verdict = &data.verdict;
    let sentence = format!("Then and now, largest logit difference by token: {verdict}");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &sentence));
    let area = Rect::from_min_max(
        rect.min + vec2(LEFT, 8.0),
        rect.max - vec2(LABEL_GAP, BELOW),
    );
    let scale = Scale::of(data, area);
    scale.paint_axes(ui);
    let theme = Theme::of(ui);
    for line in &data.lines {
        let points = line.gaps.iter().enumerate();
        let points = points.map(|(step, gap)| scale.at(step, *gap)).collect();
        let shape = dashed_line(line.pane, points, theme.pane(line.pane));
        ui.painter().add(shape);
    }
    let mut labels: Vec<Label> = Vec::new();
    for line in &data.lines {
        let Some((last, gap)) = line.gaps.iter().enumerate().next_back() else {
            continue;
        };
        let end = scale.at(last, *gap);
        if line.diverges {
            paint_cross(ui, end, theme.pane(line.pane));
        }
        // Texts with the same tokens share a label, and so do texts that diverge in the same way.
        let step = line.diverges.then_some(last);
        let same = |label: &&mut Label| label.step == step && label.words == line.words;
        match labels.iter_mut().find(same) {
            Some(label) => label.panes.push(line.pane),
            None => labels.push(Label {
                step,
                end,
                panes: vec![line.pane],
                words: &line.words,
            }),
        }
    }
    paint_labels(ui, (area, paper), &labels);
}

/// Maps a difference to its position in the plot.
struct Scale {
    area: Rect,
    n_steps: usize,
    /// The step between the marks of the axis, and how many there are.
    marks: (f64, u32),
    is_zero: bool,
}

impl Scale {
    fn of(data: &GapData, area: Rect) -> Self {
        let largest = data.largest();
        Self {
            area,
            n_steps: data.n_steps().max(2),
            marks: axis_steps(largest.into()),
            is_zero: largest == 0.0,
        }
    }

    fn at(&self, step: usize, gap: f32) -> Pos2 {
        let (mark, n_marks) = self.marks;
        let top = (mark * f64::from(n_marks)) as f32;
        let x = step as f32 / (self.n_steps - 1) as f32;
        let area = self.area;
        pos2(
            area.left() + x * area.width(),
            area.bottom() - gap / top * area.height(),
        )
    }

    fn paint_axes(&self, ui: &Ui) {
        let theme = Theme::of(ui);
        let font = Face::Micro.font();
        let write = |at: Pos2, align: Align2, words: String| {
            let painter = ui.painter();
            painter.text(at, align, words, font.clone(), theme.text_3);
        };
        let (mark, n_marks) = self.marks;
        // If nothing differs, only the baseline has a meaning.
        let n_marks = if self.is_zero { 0 } else { n_marks };
        for number in 0..=n_marks {
            let gap = mark * f64::from(number);
            let y = self.at(0, gap as f32).y;
            let color = if number == 0 {
                theme.stroke_2
            } else {
                theme.stroke_1
            };
            let stroke = Stroke::new(1.0, color);
            ui.painter().hline(self.area.x_range(), y, stroke);
            let words = if number == 0 || mark < 1e-4 {
                logit_gap(gap as f32)
            } else {
                format!("{gap:.*}", step_decimals(mark))
            };
            write(pos2(self.area.left() - 8.0, y), Align2::RIGHT_CENTER, words);
        }
        let below = self.area.bottom() + 3.0;
        let first = pos2(self.area.left(), below);
        write(first, Align2::LEFT_TOP, "token 1".to_owned());
        let (step, n_steps) = axis_steps(self.n_steps as f64);
        let step = step.ceil();
        for number in 1..=n_steps {
            let token = count(step * f64::from(number));
            let x = self.at(token.saturating_sub(1), 0.0).x;
            let has_room = x - self.area.left() > 60.0 && token <= self.n_steps;
            if has_room {
                write(pos2(x, below), Align2::CENTER_TOP, token.to_string());
            }
        }
    }
}

/// A label that says how texts differ.
struct Label<'a> {
    /// The step at which they diverge, if they do.
    step: Option<usize>,
    end: Pos2,
    panes: Vec<usize>,
    words: &'a str,
}

/// Paints labels beside the ends of their lines, stacked if they would overlap.
fn paint_labels(ui: &Ui, (area, paper): (Rect, Color32), labels: &[Label<'_>]) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let mut taken: Vec<Rect> = Vec::new();
    for label in labels {
        let words = label.words.to_owned();
        let galley = painter.layout_no_wrap(words, Face::Small.font(), theme.text_1);
        let badges = (SMALL_BADGE + 3.0) * label.panes.len() as f32 + 3.0;
        let size = vec2(badges + galley.size().x, LABEL);
        let right = area.right() - size.x;
        let left = (label.end.x + LABEL_GAP).min(right).max(area.left());
        let highest = area.top();
        let lowest = area.bottom() - LABEL;
        let wanted = (label.end.y - LABEL / 2.0).clamp(highest, lowest.max(highest));
        let is_free = |top: &f32| {
            let rect = Rect::from_min_size(pos2(left, *top), size);
            *top >= highest && !taken.iter().any(|other| other.intersects(rect))
        };
        let n_rows = count(f64::from((lowest - highest) / LABEL));
        let above = (0..=n_rows).map(|row| wanted - LABEL * row as f32);
        let below = (1..=n_rows).map(|row| wanted + LABEL * row as f32);
        let mut rows = above.chain(below.filter(|top| *top <= lowest));
        let top = rows.find(is_free).unwrap_or(wanted);
        let rect = Rect::from_min_size(pos2(left, top), size);
        painter.rect_filled(rect.expand2(vec2(4.0, 0.0)), 3, paper);
        let mut x = rect.left() + SMALL_BADGE / 2.0;
        for pane in &label.panes {
            let center = pos2(x, rect.center().y);
            let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
            paint_badge(painter, theme, badge, *pane);
            x += SMALL_BADGE + 3.0;
        }
        let at = pos2(
            rect.left() + badges,
            rect.center().y - galley.size().y / 2.0,
        );
        painter.galley(at, galley, theme.text_1);
        taken.push(rect);
    }
}

fn paint_cross(ui: &Ui, at: Pos2, color: Color32) {
    let stroke = Stroke::new(2.0, color);
    for arm in [vec2(4.0, 4.0), vec2(4.0, -4.0)] {
        let line = Shape::line_segment([at - arm, at + arm], stroke);
        ui.painter().add(line);
    }
}

impl PicturePlot for GapData {
    fn title(&self) -> &'static str {
        "Then and now"
    }

    fn default_size(&self) -> [f32; 2] {
        [960.0, 420.0]
    }

    fn draw(&self, ui: &mut Ui, paper: Color32) {
        gap_plot_ui(ui, self, paper);
    }
}

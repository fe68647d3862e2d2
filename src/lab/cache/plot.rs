//! What the KV cache costs and saves: the time per token with and without it, its memory, and the
//! time to read a prompt.

use egui::{Align2, Color32, Pos2, Rect, Shape, Stroke, Ui, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::{grouped, speed};
use crate::generation::{ByteSize, CacheShape};
use crate::lab::cache::figures::{CacheLab, Line};
use crate::plots::{Axes, Scale, unit_title_ui};
use crate::plots::{PicturePlot, TextRun, paint_text, paint_text_within};

pub(super) const TITLE: f32 = 26.0;

/// The gap between plots, and the share of the height that the times take.
const GAP: f32 = 26.0;
const TIMES: f32 = 0.56;
const NARROW_TIMES: f32 = 0.4;

/// The least width for three plots side by side.
const WIDE: f32 = 460.0;

/// The radius of a point.
const POINT: f32 = 3.5;

/// The height of a bar's row, and the widths of its label and of its number.
pub(super) const ROW: f32 = 26.0;
const LABEL: f32 = 132.0;
const NUMBER: f32 = 56.0;

/// The height of a bar.
pub(super) const BAR: f32 = 8.0;

/// The maximum number of prompt lengths that have a bar.
pub(super) const N_BARS: usize = 4;

/// Draws all plots into this rectangle, the same on the screen and in a file.
pub(crate) fn cache_lab_ui(ui: &Ui, rect: Rect, lab: &CacheLab) {
    let [times, memory, reads, bars] = rects_of(rect);
    times_ui(ui, times, lab);
    memory_ui(ui, memory, lab);
    reads_ui(ui, reads, lab);
    bars_ui(ui, bars, lab);
}

/// Returns where the plots are: the times above, and below them the memory, the time to read a prompt,
/// and the speeds. In a narrow rectangle the speeds have their own row.
pub(super) fn rects_of(rect: Rect) -> [Rect; 4] {
    let is_narrow = rect.width() < WIDE;
    let share = if is_narrow { NARROW_TIMES } else { TIMES };
    let (times, below) = rect.split_top_bottom_at_fraction(share);
    let times = times.with_max_y(times.bottom() - 8.0);
    let split = |row: Rect, n: f32| {
        let column = (row.width() - (n - 1.0) * GAP) / n;
        move |place: f32| {
            let left = row.left() + place * (column + GAP);
            Rect::from_min_size(pos2(left, row.top()), vec2(column, row.height()))
        }
    };
    if is_narrow {
        let (row, speeds) = below.split_top_bottom_at_fraction(0.56);
        let at = split(row, 2.0);
        [times, at(0.0), at(1.0), speeds]
    } else {
        let at = split(below, 3.0);
        [times, at(0.0), at(1.0), at(2.0)]
    }
}

/// Returns the largest of these values, or `least` if none is positive.
fn largest(values: impl Iterator<Item = f64>, least: f64) -> f64 {
    let most = values.fold(0.0, f64::max);
    if most > 0.0 { most } else { least }
}

fn times_ui(ui: &Ui, rect: Rect, lab: &CacheLab) {
    let theme = Theme::of(ui);
    let (on, off) = (lab.on_points(), lab.off_points());
    let title = [
        "Time per token",
        "milliseconds, against the length of the text",
    ];
    unit_title_ui(ui, rect, title, &lab.sentences().join(" "));
    let n_text = lab.n_text() as f64;
    let most = largest(on.iter().chain(&off).map(|(_, ms)| *ms), 1.0);
    let axes = Axes::new(
        rect.with_min_y(rect.top() + TITLE),
        Scale::between(0.0, n_text),
        Scale::from_zero(most),
    );
    axes.paint(ui, "tokens of text");
    let top = axes.area().top();
    let line_of = |line: Line| {
        // A line is drawn as far as it lies above the axis.
        let from = if line.slope > 0.0 {
            (-line.constant / line.slope).clamp(0.0, n_text)
        } else {
            0.0
        };
        let ends = [from, n_text].map(|length| axes.at(length, line.at(length)));
        ends.map(|end| pos2(end.x, end.y.max(top)))
    };
    if let Some(line) = lab.off_line() {
        let stroke = Stroke::new(1.5, theme.text_2);
        let dashes = Shape::dashed_line(&line_of(line), stroke, 6.0, 4.0);
        ui.painter().extend(dashes);
    }
    if let Some(line) = lab.on_line() {
        let stroke = Stroke::new(1.5, theme.text_1);
        ui.painter().line_segment(line_of(line), stroke);
    }
    for (length, ms) in &off {
        hollow(ui, axes.at(*length, *ms));
    }
    for (length, ms) in &on {
        let at = axes.at(*length, *ms);
        ui.painter().circle_filled(at, POINT, theme.text_1);
    }
    if let Some(line) = lab.off_line() {
        let at = axes.at(n_text * 0.6, line.at(n_text * 0.6)) - vec2(14.0, 16.0);
        let run = TextRun::new("cache off: rereads everything", Face::Small, theme.text_1);
        let at = pos2(at.x, at.y.max(top + 8.0));
        paint_text(ui, at, Align2::RIGHT_CENTER, run);
    }
    if let Some(line) = lab.on_line() {
        let words = "cache on: reads one token";
        let run = TextRun::new(words, Face::Small, theme.text_1);
        let left = axes.at(n_text * 0.62, line.at(n_text * 0.62));
        let right = left.x + Face::Small.width(ui, words);
        // Above every point that the words would cover.
        let points = on.iter().map(|(length, ms)| axes.at(*length, *ms));
        let covered = points.filter(|at| (left.x - POINT..right + POINT).contains(&at.x));
        let highest = covered.map(|at| at.y).fold(left.y, f32::min);
        let at = pos2(left.x, (highest - 15.0).max(top + 8.0));
        paint_text(ui, at, Align2::LEFT_CENTER, run);
    }
}

/// Draws a hollow point.
fn hollow(ui: &Ui, at: Pos2) {
    let theme = Theme::of(ui);
    let edge = Stroke::new(1.5, theme.text_1);
    ui.painter().circle(at, POINT, theme.surface_1, edge);
}

/// Draws the memory that the formula predicts, with a mark at the length of the text.
fn memory_ui(ui: &Ui, rect: Rect, lab: &CacheLab) {
    let theme = Theme::of(ui);
    let per_token = lab.facts.shape.as_ref().map(CacheShape::n_bytes_per_token);
    let measured = lab.n_measured_bytes();
    let n_text = lab.n_text() as f64;
    let whole = lab.n_formula_bytes(lab.n_text()).or(measured).unwrap_or(1) as f64;
    let (unit, scale) = if whole >= 1e9 {
        ("gigabytes", 1e9)
    } else if whole >= 1e6 {
        ("megabytes", 1e6)
    } else {
        ("kilobytes", 1e3)
    };
    let words = lab.memory_words().unwrap_or_default();
    unit_title_ui(ui, rect, ["Cache memory", unit], &words);
    let held = lab.on.iter().filter_map(|point| point.n_bytes);
    let most = largest(held.map(|n| n as f64).chain([whole]), 1.0) / scale;
    let axes = Axes::new(
        rect.with_min_y(rect.top() + TITLE),
        Scale::between(0.0, n_text),
        Scale::from_zero(most),
    );
    axes.paint(ui, "tokens of text");
    let held: Vec<Pos2> = lab
        .on
        .iter()
        .filter_map(|point| Some(axes.at(point.length as f64, point.n_bytes? as f64 / scale)))
        .collect();
    if held.len() > 1 {
        ui.painter().line(held, Stroke::new(1.0, theme.text_3));
    }
    if let Some(per_token) = per_token {
        let n_state_bytes = lab
            .facts
            .shape
            .as_ref()
            .map_or(0, |shape| shape.n_state_bytes);
        let ends = [0.0, n_text].map(|n| {
            let n_bytes = n * per_token as f64 + n_state_bytes as f64;
            axes.at(n, n_bytes / scale)
        });
        let stroke = Stroke::new(1.5, theme.text_1);
        ui.painter().line_segment(ends, stroke);
    }
    if let Some(last) = lab.on.last()
        && let Some(n_bytes) = lab.n_formula_bytes(last.length).or(last.n_bytes)
    {
        let at = axes.at(last.length as f64, n_bytes as f64 / scale);
        ui.painter().circle_filled(at, POINT, theme.text_1);
        let words = ByteSize(n_bytes).to_string();
        let run = TextRun::new(&words, Face::Small, theme.text_1);
        let area = axes.area();
        let half = Face::Small.width(ui, &words) / 2.0;
        let x = (at.x - half - 8.0).max(area.left() + half + 4.0);
        let y = (at.y - 14.0).max(area.top() + 6.0);
        paint_text(ui, pos2(x, y), Align2::CENTER_CENTER, run);
    }
}

/// Draws the time to read a prompt, in parallel and one by one.
fn reads_ui(ui: &Ui, rect: Rect, lab: &CacheLab) {
    let theme = Theme::of(ui);
    let words = lab.read_words().unwrap_or_default();
    let title = ["Reading a prompt", "milliseconds"];
    unit_title_ui(ui, rect, title, &words);
    let times = lab
        .reads
        .iter()
        .flat_map(|p| [p.parallel_secs, p.one_by_one_secs]);
    let most = largest(times, 1e-3) * 1e3;
    let axes = Axes::new(
        rect.with_min_y(rect.top() + TITLE),
        Scale::between(0.0, lab.n_text() as f64),
        Scale::from_zero(most),
    );
    axes.paint(ui, "tokens of prompt");
    let at = |length: usize, secs: f64| axes.at(length as f64, secs * 1e3);
    let ways = [
        (
            lab.reads
                .iter()
                .map(|p| at(p.length, p.one_by_one_secs))
                .collect::<Vec<_>>(),
            true,
        ),
        (
            lab.reads
                .iter()
                .map(|p| at(p.length, p.parallel_secs))
                .collect(),
            false,
        ),
    ];
    for (points, is_hollow) in ways {
        if is_hollow {
            let stroke = Stroke::new(1.5, theme.text_2);
            let dashes = Shape::dashed_line(&points, stroke, 6.0, 4.0);
            ui.painter().extend(dashes);
        } else if points.len() > 1 {
            let stroke = Stroke::new(1.5, theme.text_1);
            ui.painter().line(points.clone(), stroke);
        }
        for point in &points {
            if is_hollow {
                hollow(ui, *point);
            } else {
                ui.painter().circle_filled(*point, POINT, theme.text_1);
            }
        }
    }
    legend_ui(ui, axes.area().left_top() + vec2(12.0, 8.0));
}

/// Names both ways of reading, in the corner that their curves leave free.
fn legend_ui(ui: &Ui, corner: Pos2) {
    let theme = Theme::of(ui);
    for (row, name) in (0_u8..).zip(["one by one", "in parallel"]) {
        let at = corner + vec2(0.0, 18.0 * f32::from(row));
        if row == 0 {
            hollow(ui, at);
        } else {
            ui.painter().circle_filled(at, POINT, theme.text_1);
        }
        let run = TextRun::new(name, Face::Small, theme.text_1);
        paint_text(ui, at + vec2(10.0, 0.0), Align2::LEFT_CENTER, run);
    }
}

/// Draws tokens per second as bars: writing with the cache, and reading prompts.
fn bars_ui(ui: &Ui, rect: Rect, lab: &CacheLab) {
    let theme = Theme::of(ui);
    let mut bars: Vec<(String, f64)> = Vec::new();
    if let Some(per_sec) = lab.on_tokens_per_sec() {
        bars.push(("Writing, cache on".to_owned(), per_sec));
    }
    let prefills = lab.reads.iter().filter(|read| read.length > 1);
    let prefills: Vec<_> = prefills.filter(|read| read.parallel_secs > 0.0).collect();
    let step = prefills.len().div_ceil(N_BARS).max(1);
    let shown = prefills.iter().rev().step_by(step).rev();
    bars.extend(shown.map(|read| {
        let per_sec = read.length as f64 / read.parallel_secs;
        let length = grouped(read.length as f64);
        (format!("Reading {length} at once"), per_sec)
    }));
    let words: Vec<String> = bars
        .iter()
        .map(|(name, per_sec)| format!("{name}: {}", speed(*per_sec)))
        .collect();
    let title = ["Tokens per second", "writing against reading"];
    unit_title_ui(ui, rect, title, &words.join(", "));
    let most = largest(bars.iter().map(|(_, per_sec)| *per_sec), 1.0);
    for (place, (name, per_sec)) in (0_u8..).zip(&bars) {
        let y = rect.top() + TITLE + ROW * (f32::from(place) + 0.5) + 4.0;
        if y + ROW * 0.5 > rect.bottom() {
            break;
        }
        let run = TextRun::new(name, Face::Small, theme.text_2);
        let left = pos2(rect.left(), y);
        paint_text_within(ui, left, Align2::LEFT_CENTER, run, LABEL - 8.0);
        let room = (rect.width() - LABEL - NUMBER).max(0.0);
        let width = (per_sec / most) as f32 * room;
        let from = pos2(rect.left() + LABEL, y - BAR / 2.0);
        let bar = Rect::from_min_size(from, vec2(width.max(2.0), BAR));
        ui.painter().rect_filled(bar, 2, theme.bar_after);
        let words = speed(*per_sec);
        let run = TextRun::new(&words, Face::Small, theme.text_1);
        let at = pos2(bar.right() + 8.0, y);
        paint_text(ui, at, Align2::LEFT_CENTER, run);
    }
}

impl PicturePlot for CacheLab {
    fn title(&self) -> &'static str {
        "The KV cache"
    }

    fn default_size(&self) -> [f32; 2] {
        [960.0, 680.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        cache_lab_ui(ui, ui.max_rect(), self);
    }
}

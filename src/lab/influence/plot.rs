//! Draws the text with its tints, a row of numbers for each part, and what the model expects without
//! one of them. The same on screen and in a picture.

use std::ops::Range;

use egui::text::TextFormat;
use egui::{Align2, Color32, Pos2, Rect, Stroke, Ui, pos2, vec2};

use super::figures::{InfluenceResults, bits_words};
use super::plan::TopToken;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::PieceKind;
use crate::generation::formatting::percent;
use crate::lab::frame::TintedText;
use crate::plots::{
    PicturePlot, TextRun, heat_legend, heat_step, paint_text, paint_text_within, unit_title_ui,
};

const TITLE: f32 = 26.0;

/// The height of a row of numbers.
pub(super) const ROW: f32 = 28.0;

/// The widths of the columns: the part, the bar with its number, and the likelihood.
const PART: f32 = 120.0;
const BITS: f32 = 0.36;
const LIKELIHOOD: f32 = 84.0;
const NUMBER: f32 = 52.0;
const BAR: f32 = 10.0;
const GAP: f32 = 12.0;

/// The height of a token with its two bars, and of all of them with their title.
const SHIFT: f32 = 26.0;
pub(super) const SHIFTS: f32 = TITLE + 4.0 * SHIFT + 8.0;

/// How many rows a picture shows.
const N_ROWS: usize = 24;

/// Draws the title, with the color ramp on the right. Returns the space below it.
pub(super) fn title_ui(ui: &Ui, rect: Rect, results: &InfluenceResults) -> Rect {
    let (title, body) = rect.split_top_bottom_at_y(rect.top() + TITLE);
    let unit = if results.is_of_several() {
        "Kullback-Leibler divergence, bits per token"
    } else {
        "Kullback-Leibler divergence, bits"
    };
    let ends = ["0".to_owned(), format!("{:.1}", results.most_bits())];
    let right = pos2(title.right(), title.top() + 9.0);
    let legend = heat_legend(ui, right, &ends);
    let words = results.sentences().join(" ");
    let heading = ["How far the distribution moves without it", unit];
    unit_title_ui(ui, title.with_max_x(legend.left() - GAP), heading, &words);
    body
}

/// Returns the step of the color ramp for a divergence, or `None` if it is not tinted.
fn step_of(bits: f64, most: f64) -> Option<usize> {
    let step = heat_step(bits / most.max(f64::MIN_POSITIVE));
    (step > 0 && most > 0.01).then_some(step)
}

/// Lays out the text up to the last position that is compared. Each token is a piece.
pub(super) fn laid_out(ui: &Ui, width: f32, results: &InfluenceResults) -> TintedText {
    let theme = Theme::of(ui);
    let most = results.most_bits();
    let facts = &results.facts;
    let shown = facts.tokens.iter().take(facts.targets.end).enumerate();
    let pieces = shown.map(|(position, token)| {
        let piece = results.piece(*token);
        let part = part_at(&facts.parts, position);
        let bits = part.and_then(|part| Some(results.influence(part)?.bits));
        let step = bits.and_then(|bits| step_of(bits, most));
        let ink = if part.is_some() {
            theme.text_1
        } else {
            theme.text_2
        };
        let format = TextFormat {
            font_id: Face::Prompt.font(),
            color: step.map_or(ink, |step| theme.heat_ink(step)),
            background: step.map_or(Color32::TRANSPARENT, |step| theme.heat(step)),
            ..TextFormat::default()
        };
        let words = match piece.kind {
            PieceKind::Text => piece.to_string(),
            PieceKind::Special => String::new(),
        };
        (words, format)
    });
    TintedText::new(ui, width, pieces)
}

/// Returns the index of the part that a position belongs to.
pub(super) fn part_at(parts: &[Range<usize>], position: usize) -> Option<usize> {
    let index = parts.partition_point(|part| part.end <= position);
    parts.get(index)?.contains(&position).then_some(index)
}

/// Rings the selected part, and the token whose choice is looked at.
pub(super) fn rings_ui(ui: &Ui, text: &TintedText, at: Pos2, plot: InfluencePlot<'_>) {
    let theme = Theme::of(ui);
    let facts = &plot.results.facts;
    if let Some(part) = plot.selected.and_then(|part| plot.results.range(part)) {
        text.ring(ui, at, part, Stroke::new(1.5, theme.text_1));
    }
    let target = facts.targets.clone();
    if !plot.results.is_of_several() && target.end <= facts.tokens.len() {
        text.ring(ui, at, target, Stroke::new(1.5, theme.accent));
    }
}

/// Draws the names of the columns.
pub(super) fn head_ui(ui: &Ui, row: Rect, results: &InfluenceResults) {
    let columns = Columns::of(row);
    let color = Theme::of(ui).text_3;
    let likelihood = if results.is_of_several() {
        "bits per token".to_owned()
    } else {
        let chosen = results.chosen_text().unwrap_or_default();
        format!("‘{chosen}’")
    };
    let run = |words| TextRun::new(words, Face::Micro, color);
    let y = row.center().y;
    paint_text(
        ui,
        pos2(columns.part, y),
        Align2::RIGHT_CENTER,
        run("without"),
    );
    paint_text(
        ui,
        pos2(columns.bar, y),
        Align2::LEFT_CENTER,
        run("moves by, bits"),
    );
    let at = pos2(columns.likelihood, y);
    paint_text_within(
        ui,
        at,
        Align2::LEFT_CENTER,
        run(&likelihood),
        LIKELIHOOD - 8.0,
    );
    paint_text(
        ui,
        pos2(columns.top, y),
        Align2::LEFT_CENTER,
        run("most likely then"),
    );
}

/// Draws what leaving out a part changes.
pub(super) fn row_ui(ui: &Ui, row: Rect, part: usize, results: &InfluenceResults) {
    let theme = Theme::of(ui);
    let columns = Columns::of(row);
    let y = row.center().y;
    let text = results.part_text(part);
    let run = TextRun::new(&text, Face::Candidate, theme.text_1);
    let at = pos2(columns.part, y);
    paint_text_within(ui, at, Align2::RIGHT_CENTER, run, columns.part - row.left());
    let Some(influence) = results.influence(part) else {
        return;
    };
    let share = influence.bits / results.most_bits().max(f64::MIN_POSITIVE);
    let room = columns.likelihood - columns.bar - NUMBER;
    let size = vec2((share as f32 * room).max(2.0), BAR);
    let bar = Rect::from_min_size(pos2(columns.bar, y - BAR / 2.0), size);
    ui.painter().rect_filled(bar, 2, theme.bar_after);
    let words = bits_words(influence.bits);
    let run = TextRun::new(&words, Face::Small, theme.text_1);
    paint_text(ui, pos2(bar.right() + 8.0, y), Align2::LEFT_CENTER, run);
    if let Some([_, without]) = results.likelihoods(part) {
        let words = without.words();
        let run = TextRun::new(&words, Face::Small, theme.text_1);
        paint_text(ui, pos2(columns.likelihood, y), Align2::LEFT_CENTER, run);
    }
    top_ui(
        ui,
        pos2(columns.top, y),
        row.right(),
        influence.top,
        results,
    );
}

/// Draws the row of the text as it is.
pub(super) fn last_row_ui(ui: &Ui, row: Rect, results: &InfluenceResults) {
    let (Some(whole), Some(likelihood)) = (&results.whole, results.likelihood()) else {
        return;
    };
    let theme = Theme::of(ui);
    let columns = Columns::of(row);
    ui.painter()
        .hline(row.x_range(), row.top(), Stroke::new(1.0, theme.stroke_1));
    let y = row.center().y;
    let run = TextRun::new("as it is", Face::Small, theme.text_2);
    paint_text(ui, pos2(columns.part, y), Align2::RIGHT_CENTER, run);
    let words = likelihood.words();
    let run = TextRun::new(&words, Face::Small, theme.text_1);
    paint_text(ui, pos2(columns.likelihood, y), Align2::LEFT_CENTER, run);
    top_ui(ui, pos2(columns.top, y), row.right(), whole.top, results);
}

/// Draws the most likely token and its probability. It is darker if the text as it is expects
/// another one.
fn top_ui(ui: &Ui, at: Pos2, right: f32, top: TopToken, results: &InfluenceResults) {
    let theme = Theme::of(ui);
    let is_other = results
        .whole
        .as_ref()
        .is_some_and(|whole| whole.top.token != top.token);
    let color = if is_other { theme.text_1 } else { theme.text_2 };
    let text = results.token_text(top.token);
    let prob = percent(top.prob);
    let width = Face::Small.width(ui, &prob) + 6.0;
    let run = TextRun::new(&text, Face::Candidate, color);
    let room = (right - at.x - width).max(0.0);
    let name = paint_text_within(ui, at, Align2::LEFT_CENTER, run, room);
    let run = TextRun::new(&prob, Face::Small, theme.text_2);
    paint_text(ui, pos2(name.right() + 6.0, at.y), Align2::LEFT_CENTER, run);
}

/// Where the columns of a row begin. The part is aligned to the right.
struct Columns {
    part: f32,
    bar: f32,
    likelihood: f32,
    top: f32,
}

impl Columns {
    fn of(row: Rect) -> Self {
        let part = row.left() + PART.min(row.width() * 0.24);
        let likelihood = part + GAP + row.width() * BITS;
        Self {
            part,
            bar: part + GAP,
            likelihood,
            top: likelihood + LIKELIHOOD,
        }
    }
}

/// Draws what the model expects with a part and without it: the tokens that fall on the left, those
/// that rise on the right.
pub(super) fn shifts_ui(ui: &Ui, rect: Rect, part: usize, results: &InfluenceResults) {
    let Some(influence) = results.influence(part) else {
        return;
    };
    let theme = Theme::of(ui);
    let (title, body) = rect.split_top_bottom_at_y(rect.top() + TITLE);
    let name = format!("Without ‘{}’", results.part_text(part));
    let words = influence.candidates.iter().map(|shift| {
        let (with, without) = (percent(shift.with), percent(shift.without));
        format!("{} {with} to {without}", results.token_text(shift.token))
    });
    let words = words.collect::<Vec<_>>().join(", ");
    let unit = "what the model expects: above with it, below without";
    unit_title_ui(ui, title, [&name, unit], &words);
    let probs = influence.candidates.iter();
    let most = probs
        .map(|shift| shift.with.max(shift.without))
        .fold(0.0, f64::max);
    let half = (body.width() - 2.0 * GAP) / 2.0;
    for (place, shift) in influence.candidates.iter().enumerate() {
        let corner = vec2(
            (place / 4) as f32 * (half + 2.0 * GAP),
            (place % 4) as f32 * SHIFT,
        );
        let row = Rect::from_min_size(body.min + corner, vec2(half, SHIFT));
        let y = row.center().y;
        let text = results.token_text(shift.token);
        let run = TextRun::new(&text, Face::Candidate, theme.text_1);
        let name = half * 0.24;
        let at = pos2(row.left() + name, y);
        paint_text_within(ui, at, Align2::RIGHT_CENTER, run, name);
        let left = at.x + GAP;
        let words = format!("{} → {}", percent(shift.with), percent(shift.without));
        let run = TextRun::new(&words, Face::Small, theme.text_2);
        let number = paint_text(ui, pos2(row.right(), y), Align2::RIGHT_CENTER, run);
        let room = (number.left() - GAP - left).max(0.0);
        let bars = [
            (shift.with, y - 5.0, theme.bar_before),
            (shift.without, y + 1.0, theme.bar_after),
        ];
        for (prob, top, color) in bars {
            let width = (prob / most.max(f64::MIN_POSITIVE)) as f32 * room;
            let bar = Rect::from_min_size(pos2(left, top), vec2(width.max(2.0), 5.0));
            ui.painter().rect_filled(bar, 2, color);
        }
    }
}

/// The picture of a measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct InfluencePlot<'a> {
    pub results: &'a InfluenceResults,
    /// The part whose candidates are shown.
    pub selected: Option<usize>,
}

impl InfluencePlot<'_> {
    /// Returns the parts to show, in the order of the text: those that matter most if there are many.
    fn rows(&self) -> Vec<usize> {
        let mut known: Vec<(usize, f64)> = self
            .results
            .known()
            .map(|(part, influence)| (part, influence.bits))
            .collect();
        known.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let mut rows: Vec<usize> = known
            .into_iter()
            .map(|(part, _)| part)
            .take(N_ROWS)
            .collect();
        rows.sort_unstable();
        rows
    }
}

impl PicturePlot for InfluencePlot<'_> {
    fn title(&self) -> &'static str {
        "Influence"
    }

    fn default_size(&self) -> [f32; 2] {
        // A line of the text holds about 100 characters.
        let n_lines = self.results.n_chars().div_ceil(100).max(1) as f32;
        let rows = (self.rows().len() + 2) as f32 * ROW;
        [860.0, 150.0 + 24.0 * n_lines + rows + SHIFTS]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(640.0), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        let body = title_ui(ui, ui.max_rect(), self.results);
        let text = laid_out(ui, body.width(), self.results);
        let at = body.min + vec2(0.0, 4.0);
        text.paint(ui, at);
        rings_ui(ui, &text, at, *self);
        let mut row = Rect::from_min_size(
            pos2(body.left(), at.y + text.size().y + GAP),
            vec2(body.width(), ROW),
        );
        head_ui(ui, row, self.results);
        for part in self.rows() {
            row = row.translate(vec2(0.0, ROW));
            row_ui(ui, row, part, self.results);
        }
        row = row.translate(vec2(0.0, ROW));
        last_row_ui(ui, row, self.results);
        let part = self.selected.or_else(|| self.results.strongest());
        if let Some(part) = part {
            let top = row.bottom() + GAP;
            let rect = Rect::from_min_size(pos2(body.left(), top), vec2(body.width(), SHIFTS));
            shifts_ui(ui, rect, part, self.results);
        }
    }
}

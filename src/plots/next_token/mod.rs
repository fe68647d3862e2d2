//! The next-token plot: two bars per candidate, its probability before the chain above the one
//! after.

mod data;
mod token_label;

use egui::{
    Align2, Color32, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

pub use self::data::{AfterChain, CandidateRow, NextTokenData};
pub use self::token_label::{TokenStyle, token_galley};
use super::frame::{TextRun, empty_ui, paint_text, row_rect, title_ui};
use super::scale::{axis_steps, count, grouped, step_decimals};
use super::{PicturePlot, PlotFile, PlottedRun, RunPicture, Target};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::formatting::{cut, percent, token_word};

/// The limits of a row's height, in points.
const ROW_HEIGHT: std::ops::RangeInclusive<f32> = 21.0..=26.0;

/// The maximum number of rows; more would be noise.
const MAX_ROWS: usize = 12;

/// The maximum number of characters of a pane's name in a title.
const MAX_NAME_CHARS: usize = 32;

/// The width of the column with the tokens, left of the bars.
const LABEL_WIDTH: f32 = 84.0;

/// Draws as many candidates of a step as fit into the remaining space of `ui`.
pub fn next_token_plot_ui(ui: &mut Ui, data: Option<&NextTokenData>, target: Target) {
    let Some(data) = data else {
        return empty(ui);
    };
    let number = data.token_number;
    let subtitles = match target {
        Target::Screen if data.what_if => vec![
            format!("token {number}, what if: before and after"),
            format!("token {number}, what if"),
            format!("token {number}"),
        ],
        Target::Screen => vec![
            format!("token {number}, before and after the chain"),
            format!("token {number}, before and after"),
            format!("token {number}"),
        ],
        Target::Picture => vec![
            format!("{}, {}: token {number}", data.name, data.settings),
            format!("{}: token {number}", data.name),
            format!("{}: token {number}", shortened(&data.name)),
        ],
    };
    title_ui(ui, "Next token", Some(data.pane), &subtitles);
    if target == Target::Picture {
        legend(ui, data.pane);
    }
    let mut area = ui.available_rect_before_wrap();
    if target == Target::Picture {
        area.max.y -= 36.0;
    }
    let n_rows = count(f64::from(area.height() / ROW_HEIGHT.start())).clamp(1, MAX_ROWS);
    let rows = data.first_rows(n_rows);
    let row_height = (area.height() / rows.len().max(1) as f32).min(*ROW_HEIGHT.end());
    let largest = rows
        .iter()
        .flat_map(|row| [row.raw_prob, row.after.prob()])
        .flatten()
        .fold(0.0, f64::max);
    let bars = Bars {
        left: area.left() + LABEL_WIDTH,
        width: (area.width() - LABEL_WIDTH - prob_labels_width(ui, &rows, target)).max(24.0),
        max_prob: match target {
            Target::Screen => largest,
            Target::Picture => {
                let (step, n_steps) = axis_steps(largest);
                step * f64::from(n_steps)
            }
        },
    };
    if target == Target::Picture {
        let bottom = area.top() + row_height * rows.len() as f32;
        paint_axis(ui, &bars, area.top()..=bottom);
    }
    for (index, row) in (0_u8..).zip(rows) {
        let top = area.top() + f32::from(index) * row_height;
        let rect = Rect::from_min_size(pos2(area.left(), top), vec2(area.width(), row_height));
        let placed = PlacedRow {
            row,
            rect,
            prob_label: prob_label(index.into(), row, target),
        };
        row_ui(ui, &placed, &bars, data.pane);
    }
    ui.advance_cursor_after_rect(area);
}

/// Truncates a long name with "…".
fn shortened(name: &str) -> String {
    cut(name, MAX_NAME_CHARS)
}

/// The horizontal layout of the bars.
struct Bars {
    left: f32,
    width: f32,
    /// The probability that fills the width.
    max_prob: f64,
}

/// A candidate's row and its place on the screen.
struct PlacedRow<'a> {
    row: &'a CandidateRow,
    rect: Rect,
    prob_label: String,
}

impl Bars {
    fn length(&self, prob: f64) -> f32 {
        if self.max_prob > 0.0 {
            self.width * (prob / self.max_prob) as f32
        } else {
            0.0
        }
    }
}

fn row_ui(ui: &mut Ui, placed: &PlacedRow<'_>, bars: &Bars, pane: usize) {
    let (row, rect) = (placed.row, placed.rect);
    let response = ui.interact(
        rect,
        ui.scope_id().with(("candidate", row.rank)),
        Sense::hover(),
    );
    let description = describe(row);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, description.clone()));
    response.on_hover_text_at_pointer(description);

    let theme = Theme::of(ui);
    let painter = ui.painter();
    let middle = rect.center().y;
    if row.chosen {
        painter.rect_filled(rect, 4, theme.surface_3);
    }
    let style = match row.after {
        _ if row.chosen => TokenStyle::plain(theme.text_1),
        AfterChain::Cut => TokenStyle {
            color: theme.struck_text,
            strikethrough: true,
        },
        AfterChain::Kept(_) | AfterChain::PassedOver | AfterChain::Unknown => {
            TokenStyle::plain(theme.text_2)
        }
    };
    let galley = token_galley(ui, &row.piece, style, LABEL_WIDTH - 14.0);
    let at = Align2::RIGHT_CENTER.anchor_size(pos2(bars.left - 10.0, middle), galley.size());
    painter.galley(at.min, galley, style.color);

    let end = match row.after {
        AfterChain::Kept(_) | AfterChain::Unknown => {
            let fill = if row.chosen {
                theme.pane(pane)
            } else {
                theme.bar_after
            };
            let lengths = [row.raw_prob, row.after.prob()].map(|prob| Some(bars.length(prob?)));
            paint_pair(ui, pos2(bars.left, middle), lengths, fill)
        }
        AfterChain::Cut | AfterChain::PassedOver => {
            paint_cut(ui, bars, middle, row.raw_prob.unwrap_or(0.0))
        }
    };
    let at = pos2(bars.left + end + 7.0, middle);
    let label = TextRun::new(&placed.prob_label, Face::Micro, theme.text_3);
    paint_text(ui, at, Align2::LEFT_CENTER, label);
}

/// Paints the bar before the chain above the bar after it, starting at `left_middle`, and leaves out
/// one whose length is unknown. Returns the length of the longer one.
fn paint_pair(ui: &Ui, left_middle: Pos2, lengths: [Option<f32>; 2], fill: Color32) -> f32 {
    let looks = [(-5.0, 4.0, Theme::of(ui).bar_before), (0.0, 6.0, fill)];
    let mut longest: f32 = 3.0;
    for (length, (offset, height, color)) in lengths.into_iter().zip(looks) {
        if let Some(length) = length {
            let size = vec2(length.max(2.0), height);
            let bar = Rect::from_min_size(left_middle + vec2(0.0, offset), size);
            ui.painter().rect_filled(bar, 2, color);
            longest = longest.max(length);
        }
    }
    longest
}

/// Paints the hollow bar of a filtered candidate, or a tick if it is too short to be hollow.
/// Returns its length.
fn paint_cut(ui: &Ui, bars: &Bars, middle: f32, raw_prob: f64) -> f32 {
    let theme = Theme::of(ui);
    let length = bars.length(raw_prob);
    let painter = ui.painter();
    if length < 6.0 {
        let tick = Rect::from_min_size(pos2(bars.left, middle - 4.0), vec2(2.0, 8.0));
        painter.rect_filled(tick, 1, theme.bar_cut);
    } else {
        let bar = Rect::from_min_size(pos2(bars.left, middle - 4.0), vec2(length, 8.0));
        let edge = Stroke::new(1.0, theme.bar_cut);
        painter.rect_stroke(bar, 2, edge, StrokeKind::Inside);
    }
    length.max(3.0)
}

/// Returns the label beside a bar: the probability after the chain (in a picture also the one
/// before it), and the rank if the row's position does not imply it.
fn prob_label(index: usize, row: &CandidateRow, target: Target) -> String {
    let before = row.raw_prob.map_or_else(unknown, percent);
    let after = match row.after {
        AfterChain::Kept(prob) => percent(prob),
        AfterChain::PassedOver => before.clone(),
        AfterChain::Cut => "cut".to_owned(),
        AfterChain::Unknown => unknown(),
    };
    let prob = if target == Target::Picture && before != after {
        format!("{before} → {after}")
    } else {
        after
    };
    match row.rank {
        Some(rank) if rank as usize > index + 1 => {
            format!("{prob} · rank {}", grouped(f64::from(rank)))
        }
        Some(_) => prob,
        None => format!("{prob} · rank unknown"),
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// Returns the width of the widest label beside the bars, with its margins.
fn prob_labels_width(ui: &Ui, rows: &[&CandidateRow], target: Target) -> f32 {
    let width = |(index, row): (usize, &&CandidateRow)| {
        Face::Micro.width(ui, &prob_label(index, row, target))
    };
    7.0 + rows.iter().enumerate().map(width).fold(0.0, f32::max) + 8.0
}

/// Describes a row for its tooltip and for a screen reader.
fn describe(row: &CandidateRow) -> String {
    let rank = row.rank.map_or_else(unknown, |rank| rank.to_string());
    let before = row.raw_prob.map_or_else(unknown, percent);
    let after = match row.after {
        AfterChain::Kept(prob) => format!("{} after", percent(prob)),
        AfterChain::PassedOver => "passed over".to_owned(),
        AfterChain::Cut => "cut".to_owned(),
        AfterChain::Unknown => {
            "unknown after, because it depends on tokens that the server did not name".to_owned()
        }
    };
    let chosen = if row.chosen { ", chosen" } else { "" };
    format!(
        "‘{}’ rank {rank}, {before} before, {after}{chosen}",
        token_word(&row.piece)
    )
}

/// Shows the meaning of the bars in a picture.
fn legend(ui: &mut Ui, pane: usize) {
    let theme = Theme::of(ui);
    let (rect, _) = row_rect(ui, 24.0);
    let middle = rect.top() + 6.0;
    let mut x = rect.left();
    let entries = [
        ("before the chain", Some(theme.bar_before)),
        ("after the chain", Some(theme.bar_after)),
        ("chosen", Some(theme.pane(pane))),
        ("cut or passed over", None),
    ];
    for (label, fill) in entries {
        let swatch = Rect::from_min_size(pos2(x, middle - 3.0), vec2(14.0, 6.0));
        if let Some(fill) = fill {
            ui.painter().rect_filled(swatch, 2, fill);
        } else {
            let edge = Stroke::new(1.0, theme.bar_cut);
            ui.painter()
                .rect_stroke(swatch, 2, edge, StrokeKind::Inside);
        }
        let run = TextRun::new(label, Face::Micro, theme.text_2);
        let painted = paint_text(ui, pos2(x + 20.0, middle), Align2::LEFT_CENTER, run);
        x = painted.right() + 16.0;
    }
}

/// Paints the grid, labels and title of the axis in a picture.
fn paint_axis(ui: &Ui, bars: &Bars, rows: std::ops::RangeInclusive<f32>) {
    let theme = Theme::of(ui);
    let bottom = *rows.end();
    let (step, n_steps) = axis_steps(bars.max_prob);
    let decimals = step_decimals(step * 100.0);
    for index in 0..=n_steps {
        let value = f64::from(index) * step;
        let x = bars.left + bars.length(value);
        let color = if index == 0 {
            theme.stroke_2
        } else {
            theme.stroke_1
        };
        ui.painter().vline(x, rows.clone(), Stroke::new(1.0, color));
        let label = format!("{:.decimals$} %", value * 100.0);
        let run = TextRun::new(&label, Face::Micro, theme.text_3);
        paint_text(ui, pos2(x, bottom + 10.0), Align2::CENTER_CENTER, run);
    }
    let at = pos2(bars.left + bars.width / 2.0, bottom + 27.0);
    let title = TextRun::new("Probability", Face::Micro, theme.text_2);
    paint_text(ui, at, Align2::CENTER_CENTER, title);
}

fn empty(ui: &mut Ui) {
    let theme = Theme::of(ui);
    let hint = "The candidates for the latest token, before and after the chain.";
    let space = empty_ui(ui, "Next token", hint);
    for (index, share) in (0_u8..).zip([0.8, 0.55, 0.36, 0.23, 0.14, 0.09]) {
        let top = space.top() + 17.0 * f32::from(index);
        let bar = Rect::from_min_size(pos2(space.left(), top), vec2(space.width() * share, 8.0));
        if space.contains_rect(bar) {
            ui.painter().rect_filled(bar, 2, theme.surface_2);
        }
    }
    ui.advance_cursor_after_rect(space);
}

/// The candidates of the chosen step.
pub(super) struct NextTokenPicture;

impl RunPicture for NextTokenPicture {
    fn files(&self) -> Vec<PlotFile> {
        let title = "candidates where the texts diverge";
        vec![PlotFile::new("next-token", title)]
    }

    fn is_of_step(&self) -> bool {
        true
    }

    fn plot<'a>(&self, run: PlottedRun<'a>) -> Option<Box<dyn PicturePlot + 'a>> {
        let step = run.step();
        let candidates = step.and_then(|(at, text)| NextTokenData::of(at.pane, text, at.step));
        Some(Box::new(candidates))
    }
}

/// Without a step, it draws an empty plot.
impl PicturePlot for Option<NextTokenData> {
    fn title(&self) -> &'static str {
        "Next token"
    }

    fn default_size(&self) -> [f32; 2] {
        [560.0, 440.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        next_token_plot_ui(ui, self.as_ref(), Target::Picture);
    }
}

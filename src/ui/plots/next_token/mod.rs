//! The next token: the candidates of one step as bars, before the chain above, after it below.

mod data;
mod words;

use egui::{Align2, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

pub use self::data::{CandidateRow, NextTokenData};
pub(in crate::ui) use self::words::word_galley;
use super::Place;
use super::frame::{empty_ui, row_rect, text, title_ui};
use super::scale::{axis_steps, count, grouped, step_decimals};
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::words::{percent, token_word};

/// A row is at least so high in points, and at most.
const ROW: std::ops::RangeInclusive<f32> = 21.0..=26.0;

/// The most rows that help; more are noise.
const N_ROWS: usize = 12;

/// The letters of a long name in a title.
const SHORT_NAME: usize = 32;

/// The space left of the bars, for the words.
const WORDS: f32 = 84.0;

/// Shows the candidates of a step, as many as there is room for.
pub fn next_token_plot_ui(ui: &mut Ui, data: Option<&NextTokenData>) {
    draw(ui, data, Place::Screen);
}

/// Draws the candidates into the space that is left.
pub(super) fn draw(ui: &mut Ui, data: Option<&NextTokenData>, place: Place) {
    let Some(data) = data else {
        return empty(ui);
    };
    let number = data.token_number;
    let subtitles = match place {
        Place::Screen => vec![
            format!("token {number}, before and after"),
            format!("token {number}"),
        ],
        Place::Picture => vec![
            format!("{}, {}: token {number}", data.name, data.settings),
            format!("{}: token {number}", data.name),
            format!("{}: token {number}", shortened(&data.name)),
        ],
    };
    title_ui(ui, "Next token", Some(data.pane), &subtitles);
    if place == Place::Picture {
        legend(ui, data.pane);
    }
    let mut area = ui.available_rect_before_wrap();
    if place == Place::Picture {
        area.max.y -= 36.0;
    }
    let n_rows = count(f64::from(area.height() / ROW.start())).clamp(1, N_ROWS);
    let rows = data.first_rows(n_rows);
    let row_height = (area.height() / rows.len().max(1) as f32).min(*ROW.end());
    let largest = rows
        .iter()
        .map(|row| row.raw_prob.max(row.final_prob.unwrap_or(0.0)))
        .fold(0.0, f64::max);
    let bars = Bars {
        left: area.left() + WORDS,
        width: (area.width() - WORDS - figures_width(ui, &rows, place)).max(24.0),
        top: match place {
            Place::Screen => largest,
            Place::Picture => {
                let (step, n_steps) = axis_steps(largest);
                step * f64::from(n_steps)
            }
        },
    };
    if place == Place::Picture {
        let bottom = area.top() + row_height * rows.len() as f32;
        paint_axis(ui, &bars, area.top()..=bottom);
    }
    for (index, row) in (0_u8..).zip(rows) {
        let top = area.top() + f32::from(index) * row_height;
        let rect = Rect::from_min_size(pos2(area.left(), top), vec2(area.width(), row_height));
        let figure = figure(index.into(), row, place);
        row_ui(ui, (row, &figure), rect, &bars, data.pane);
    }
    ui.advance_cursor_after_rect(area);
}

/// A name in so few letters that there is room for it.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(SHORT_NAME) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default().trim_end()),
        None => name.to_owned(),
    }
}

/// Where bars stand.
struct Bars {
    left: f32,
    width: f32,
    top: f64,
}

impl Bars {
    fn length(&self, prob: f64) -> f32 {
        if self.top > 0.0 {
            self.width * (prob / self.top) as f32
        } else {
            0.0
        }
    }
}

fn row_ui(ui: &mut Ui, (row, figure): (&CandidateRow, &str), rect: Rect, bars: &Bars, pane: usize) {
    let response = ui.interact(
        rect,
        ui.scope_id().with(("candidate", row.rank)),
        Sense::hover(),
    );
    let words = spoken(row);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words.clone()));
    response.on_hover_text_at_pointer(words);

    let theme = Theme::of(ui);
    let painter = ui.painter();
    let middle = rect.center().y;
    if row.chosen {
        painter.rect_filled(rect, 4, theme.surface_3);
    }
    let (color, struck) = match (row.chosen, row.final_prob) {
        (true, _) => (theme.text_1, false),
        (false, Some(_)) => (theme.text_2, false),
        (false, None) => (theme.struck_text, true),
    };
    let galley = word_galley(ui, &row.piece, (color, struck), WORDS - 14.0);
    let at = Align2::RIGHT_CENTER.anchor_size(pos2(bars.left - 10.0, middle), galley.size());
    painter.galley(at.min, galley, color);

    let end = match row.final_prob {
        Some(final_prob) => paint_pair(ui, bars, middle, (row, final_prob), pane),
        None => paint_cut(ui, bars, middle, row.raw_prob),
    };
    let at = (pos2(bars.left + end + 7.0, middle), Align2::LEFT_CENTER);
    text(ui, at, figure, Face::Micro, theme.text_3);
}

/// The bar before the chain above the bar after it; returns how far they reach.
fn paint_pair(
    ui: &Ui,
    bars: &Bars,
    middle: f32,
    (row, final_prob): (&CandidateRow, f64),
    pane: usize,
) -> f32 {
    let theme = Theme::of(ui);
    let (before, after) = (bars.length(row.raw_prob), bars.length(final_prob));
    let bar = |top: f32, length: f32, height: f32| {
        Rect::from_min_size(pos2(bars.left, top), vec2(length.max(2.0), height))
    };
    let fill = if row.chosen {
        theme.pane(pane)
    } else {
        theme.bar_after
    };
    let painter = ui.painter();
    painter.rect_filled(bar(middle - 5.0, before, 4.0), 2, theme.bar_before);
    painter.rect_filled(bar(middle, after, 6.0), 2, fill);
    before.max(after).max(3.0)
}

/// The hollow bar of a candidate that was cut, or a tick where it would be too narrow to be hollow.
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

/// What stands beside the bar in this row: the probability after the chain, in a picture that before
/// it too, and a rank that the row does not show.
fn figure(index: usize, row: &CandidateRow, place: Place) -> String {
    let after = row.final_prob.map_or_else(|| "cut".to_owned(), percent);
    let before = percent(row.raw_prob);
    let prob = if place == Place::Picture && before != after {
        format!("{before} → {after}")
    } else {
        after
    };
    if row.rank as usize > index + 1 {
        format!("{prob} · rank {}", grouped(f64::from(row.rank)))
    } else {
        prob
    }
}

/// How much space the widest figure takes, with what is around it.
fn figures_width(ui: &Ui, rows: &[&CandidateRow], place: Place) -> f32 {
    let width = |(index, row): (usize, &&CandidateRow)| {
        let color = egui::Color32::PLACEHOLDER;
        let painter = ui.painter();
        let words = figure(index, row, place);
        let galley = painter.layout_no_wrap(words, Face::Micro.font(), color);
        galley.size().x
    };
    7.0 + rows.iter().enumerate().map(width).fold(0.0, f32::max) + 8.0
}

/// A row in words, for its tooltip and for a screen reader.
fn spoken(row: &CandidateRow) -> String {
    let after = row.final_prob.map_or_else(
        || "cut".to_owned(),
        |prob| format!("{} after", percent(prob)),
    );
    let chosen = if row.chosen { ", chosen" } else { "" };
    format!(
        "‘{}’ rank {}, {} before, {after}{chosen}",
        token_word(&row.piece),
        row.rank,
        percent(row.raw_prob)
    )
}

/// What the bars stand for, in a picture.
fn legend(ui: &mut Ui, pane: usize) {
    let theme = Theme::of(ui);
    let (rect, _) = row_rect(ui, 24.0);
    let middle = rect.top() + 6.0;
    let mut x = rect.left();
    let entries = [
        ("before the settings", Some(theme.bar_before)),
        ("after them", Some(theme.bar_after)),
        ("chosen", Some(theme.pane(pane))),
        ("cut", None),
    ];
    for (words, fill) in entries {
        let swatch = Rect::from_min_size(pos2(x, middle - 3.0), vec2(14.0, 6.0));
        if let Some(fill) = fill {
            ui.painter().rect_filled(swatch, 2, fill);
        } else {
            let edge = Stroke::new(1.0, theme.bar_cut);
            ui.painter()
                .rect_stroke(swatch, 2, edge, StrokeKind::Inside);
        }
        let at = (pos2(x + 20.0, middle), Align2::LEFT_CENTER);
        x = text(ui, at, words, Face::Micro, theme.text_2).right() + 16.0;
    }
}

/// Grid, figures and title of the axis, in a picture.
fn paint_axis(ui: &Ui, bars: &Bars, rows: std::ops::RangeInclusive<f32>) {
    let theme = Theme::of(ui);
    let bottom = *rows.end();
    let (step, n_steps) = axis_steps(bars.top);
    let digits = step_decimals(step * 100.0);
    for index in 0..=n_steps {
        let value = f64::from(index) * step;
        let x = bars.left + bars.length(value);
        let color = if index == 0 {
            theme.stroke_2
        } else {
            theme.stroke_1
        };
        ui.painter().vline(x, rows.clone(), Stroke::new(1.0, color));
        let percents = value * 100.0;
        let at = (pos2(x, bottom + 10.0), Align2::CENTER_CENTER);
        text(
            ui,
            at,
            &format!("{percents:.digits$} %"),
            Face::Micro,
            theme.text_3,
        );
    }
    let at = (
        pos2(bars.left + bars.width / 2.0, bottom + 27.0),
        Align2::CENTER_CENTER,
    );
    text(ui, at, "Probability", Face::Micro, theme.text_2);
}

fn empty(ui: &mut Ui) {
    let theme = Theme::of(ui);
    let words = "The candidates at the newest token, before and after the settings have cut.";
    let space = empty_ui(ui, "Next token", words);
    for (index, share) in (0_u8..).zip([0.8, 0.55, 0.36, 0.23, 0.14, 0.09]) {
        let top = space.top() + 17.0 * f32::from(index);
        let bar = Rect::from_min_size(pos2(space.left(), top), vec2(space.width() * share, 8.0));
        if space.contains_rect(bar) {
            ui.painter().rect_filled(bar, 2, theme.surface_2);
        }
    }
    ui.advance_cursor_after_rect(space);
}

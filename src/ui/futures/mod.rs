//! The Futures view of the Branches tab: the tree of what could follow a token, how often words
//! appear in it, and how uncertain each position is.
//!
//! One function draws a pane's futures both on the screen and in a [`picture`].

mod bar;
mod document;
mod entropy;
pub mod picture;
mod sentence;
#[cfg(test)]
mod tests;
mod tree;
mod words;

use std::sync::Arc;

use egui::{
    Align2, Galley, Rect, Role, ScrollArea, Sense, Stroke, TextStyle, TextWrapMode, Ui, WidgetInfo,
    WidgetText, pos2, vec2,
};

pub(in crate::ui) use self::bar::futures_bar_ui;
pub use self::document::FuturesDocument;
use self::entropy::entropy_ui;
use self::sentence::{count_words, reading};
use self::tree::{tree_height, tree_ui};
use self::words::{field_ui, rows_height, rows_ui};
use super::xray::sentence_ui;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::state::{AppState, Command, FuturesRun, RunStatus};

/// The height of a title, with the space below it.
const TITLE: f32 = 22.0;

/// The minimum width of the body for a column beside the tree, and the widths of that column.
const MIN_BODY: f32 = 760.0;
const COLUMN: f32 = 318.0;
const WIDE_COLUMN: f32 = 400.0;

/// The minimum height for figures below the trees of two panes, and the height of the figures.
const MIN_STACKED: f32 = 340.0;
const STACKED: f32 = 190.0;

/// The limits of the height of the entropy plot, and the space around it.
const MIN_ENTROPY: f32 = 76.0;
const MAX_ENTROPY: f32 = 150.0;
const ABOVE_ENTROPY: f32 = 10.0;
const BELOW_ENTROPY: f32 = 8.0;

/// One pane's futures, and where the pane is.
#[derive(Clone, Copy)]
struct Shown<'a> {
    run: &'a FuturesRun,
    /// The pane's index, which determines its color.
    place: usize,
    /// The top of the entropy axis, in bits; the same for panes side by side.
    top_bits: f64,
}

/// Draws the view.
pub(in crate::ui) fn futures_ui(
    ui: &mut Ui,
    body: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let inside = Rect::from_min_max(body.min + vec2(14.0, 8.0), body.max - vec2(14.0, 8.0));
    let mut typed = std::mem::take(&mut state.futures.typed);
    let shown = shown(state);
    match shown.as_slice() {
        [] => {
            let hint = state.futures_blocking_reason().unwrap_or_else(|| {
                "Click a token, then press F to draw what could follow it.".to_owned()
            });
            sentence_ui(ui, inside, &hint);
        }
        [one] if body.width() < MIN_BODY => pane_ui(ui, inside, *one),
        [one] => {
            let width = if body.width() >= 1560.0 {
                WIDE_COLUMN
            } else {
                COLUMN
            };
            let line = body.right() - width;
            paint_edge(ui, body, line);
            pane_ui(ui, inside.with_max_x(line - 14.0), *one);
            let column = inside.with_min_x(line + 14.0);
            column_ui(ui, column, *one, &mut typed, commands);
        }
        many => {
            let width = (inside.width() + 28.0) / many.len() as f32;
            for (index, shown) in many.iter().enumerate() {
                let left = inside.left() + width * index as f32;
                if index > 0 {
                    paint_edge(ui, body, left - 14.0);
                }
                let half = Rect::from_min_max(
                    pos2(left, inside.top()),
                    pos2(left + width - 28.0, inside.bottom()),
                );
                let mut area = child_ui(ui, half, ("half", index));
                // One field is enough: words are counted in both panes.
                let typed = (index == 0).then_some(&mut typed);
                half_ui(&mut area, *shown, typed, commands);
            }
        }
    }
    drop(shown);
    state.futures.typed = typed;
}

/// Returns the futures whose panes still exist.
fn shown(state: &AppState) -> Vec<Shown<'_>> {
    let runs = state.futures.runs().iter();
    let mut shown: Vec<Shown<'_>> = runs
        .filter_map(|run| {
            let place = state.place_of(run.pane)?;
            let top_bits = run.entropy_bits.iter().copied().fold(0.0, f64::max);
            Some(Shown {
                run,
                place,
                top_bits,
            })
        })
        .collect();
    let top_bits = shown.iter().map(|shown| shown.top_bits).fold(0.0, f64::max);
    for shown in &mut shown {
        shown.top_bits = top_bits;
    }
    shown
}

fn paint_edge(ui: &Ui, body: Rect, x: f32) {
    let stroke = Stroke::new(1.0, Theme::of(ui).stroke_1);
    ui.painter().vline(x, body.shrink(1.0).y_range(), stroke);
}

/// Draws one of two panes side by side, with its figures below the tree if they fit.
fn half_ui(ui: &mut Ui, shown: Shown<'_>, typed: Option<&mut String>, commands: &mut Vec<Command>) {
    let rect = ui.max_rect();
    if rect.height() < MIN_STACKED {
        return pane_ui(ui, rect, shown);
    }
    let (above, below) = rect.split_top_bottom_at_y(rect.bottom() - STACKED);
    pane_ui(ui, above, shown);
    let below = below.with_min_y(below.top() + 12.0);
    let (left, right) = below.split_left_right_at_fraction(0.5);
    let mut words = child_ui(ui, left.with_max_x(left.right() - 14.0), "words");
    words_heading_ui(&mut words);
    if let Some(typed) = typed {
        field_ui(&mut words, typed, commands);
    }
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut words, |ui| rows_ui(ui, shown, commands));
    let right = right.with_min_x(right.left() + 14.0);
    entropy_ui(&mut child_ui(ui, right, "entropy"), shown);
}

/// Draws the column beside the tree of one pane.
fn column_ui(
    ui: &mut Ui,
    rect: Rect,
    shown: Shown<'_>,
    typed: &mut String,
    commands: &mut Vec<Command>,
) {
    let mut column = child_ui(ui, rect, "futures column");
    column.spacing_mut().item_spacing.y = 0.0;
    words_heading_ui(&mut column);
    field_ui(&mut column, typed, commands);
    let reading = reading_galley(&column, shown, rect.width());
    let reading_height = reading.as_ref().map_or(0.0, |galley| galley.size().y);
    let taken = rows_height(shown.run) + ABOVE_ENTROPY + BELOW_ENTROPY + reading_height;
    let left = (column.available_height() - taken).floor();
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut column, |ui| {
            rows_ui(ui, shown, commands);
            ui.add_space(ABOVE_ENTROPY);
            // In a low dock, the sentence alone describes the entropies.
            if left >= MIN_ENTROPY {
                let size = vec2(ui.available_width(), left.min(MAX_ENTROPY));
                let (picture, _) = ui.allocate_exact_size(size, Sense::hover());
                entropy_ui(&mut child_ui(ui, picture, "entropy"), shown);
                ui.add_space(BELOW_ENTROPY);
            }
            if let Some(reading) = reading {
                ui.label(reading);
            }
        });
}

fn words_heading_ui(ui: &mut Ui) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), TITLE), Sense::hover());
    heading(ui, rect, "How often a word appears", "95 % interval");
}

/// Lays out the sentence about the futures, if there are any.
fn reading_galley(ui: &Ui, shown: Shown<'_>, width: f32) -> Option<Arc<Galley>> {
    let text = Face::Why
        .text(reading(shown.run)?)
        .color(Theme::of(ui).text_1);
    let wrap = Some(TextWrapMode::Wrap);
    Some(WidgetText::from(text).into_galley(ui, wrap, width, TextStyle::Body))
}

/// Draws the title and the tree of a pane. The tree scrolls if it is taller than `rect`.
fn pane_ui(ui: &mut Ui, rect: Rect, shown: Shown<'_>) {
    let run = shown.run;
    let (title, rest) = rect.split_top_bottom_at_y(rect.top() + TITLE);
    title_ui(ui, title, shown);
    let mut area = child_ui(ui, rest, ("futures", run.pane.0));
    if run.futures().is_empty() {
        let words = match &run.status {
            RunStatus::Failed { error } => error.as_str(),
            RunStatus::Stopped => "Stopped before any future was complete.",
            RunStatus::Waiting | RunStatus::Running | RunStatus::Complete => "",
        };
        area.label(Face::Small.text(words).color(Theme::of(ui).text_3));
        return;
    }
    let height = tree_height(run, rest.height());
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut area, |ui| {
            let width = ui.available_width();
            let (rect, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
            tree_ui(ui, rect, shown);
        });
}

fn title_ui(ui: &Ui, rect: Rect, shown: Shown<'_>) {
    let run = shown.run;
    let title = format!("What could follow ‘{}’", run.quoted());
    let facts = format!("{} · {}", run.plan().config.chain, count_words(run));
    let response = ui.interact(
        rect,
        ui.scope_id().with(("title", shown.place)),
        Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{title}, {facts}")));
    let side = SMALL_BADGE;
    let badge = Rect::from_min_size(
        pos2(rect.right() - side, rect.center().y - 3.0 - side / 2.0),
        vec2(side, side),
    );
    paint_badge(ui.painter(), Theme::of(ui), badge, shown.place);
    heading(ui, rect.with_max_x(badge.left() - 8.0), &title, &facts);
}

/// Paints a heading and a smaller text after it, clipped to `rect`.
fn heading(ui: &Ui, rect: Rect, title: &str, facts: &str) {
    let theme = Theme::of(ui);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let at = pos2(rect.left(), rect.center().y - 3.0);
    let font = Face::SmallMedium.font();
    let painted = painter.text(at, Align2::LEFT_CENTER, title, font, theme.text_1);
    let at = pos2(painted.right() + 8.0, at.y);
    let font = Face::Small.font();
    painter.text(at, Align2::LEFT_CENTER, facts, font, theme.text_3);
}

//! The pictures in the boxes of the loop: tokens, logits, probabilities and the coin, to scale.

use egui::{Align2, Color32, Rect, Shape, Stroke, StrokeKind, Ui, pos2, vec2};

use super::{LoopBox, LoopStep};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::Piece;
use crate::generation::formatting::{grouped, percent, token_word};
use crate::plots::{TokenStyle, token_galley};

/// The heights of a row with a word, and of a bar with the space below it.
const WORD_ROW: f32 = 20.0;
const BAR_ROW: f32 = 10.0;
const PROB_ROW: f32 = 15.5;

/// The width left for a percentage beside a bar.
const NUMBER: f32 = 44.0;

/// Says why a box has no picture, if a server left out tokens on which it depends.
pub(super) fn unknown_words(at: LoopStep<'_>, which: LoopBox) -> Option<&'static str> {
    let trace = &at.step.trace;
    let is_known = match which {
        LoopBox::Stages => super::n_left(at).is_some() || trace.knows_final_probs(),
        LoopBox::Softmax | LoopBox::Coin => trace.knows_final_probs(),
        LoopBox::Tokens | LoopBox::ForwardPass | LoopBox::Logits | LoopBox::Append => true,
    };
    (!is_known).then_some("depends on tokens that the server did not name")
}

/// Draws a box's picture into `rect`.
pub(super) fn picture_ui(ui: &Ui, rect: Rect, at: LoopStep<'_>, which: LoopBox) {
    if rect.height() < WORD_ROW {
        return;
    }
    if let Some(words) = unknown_words(at, which) {
        return paint_unknown(ui, rect, words);
    }
    match which {
        LoopBox::Tokens => paint_tokens(ui, rect, at),
        LoopBox::ForwardPass => paint_batch(ui, rect, at),
        LoopBox::Logits => paint_logits(ui, rect, at, |_| true),
        LoopBox::Stages => {
            let last = at.step.trace.stages.last();
            let kept = |index: usize| {
                last.is_none_or(|last| last.head_probs.get(index).copied().flatten().is_some())
            };
            paint_logits(ui, rect, at, kept);
        }
        LoopBox::Softmax => paint_probs(ui, rect, at),
        LoopBox::Coin => paint_coin(ui, rect, at),
        LoopBox::Append => paint_append(ui, rect, at),
    }
}

/// Paints words in place of a picture.
fn paint_unknown(ui: &Ui, rect: Rect, words: &str) {
    let color = Theme::of(ui).text_3;
    let words = format!("Unknown: {words}");
    let painter = ui.painter().with_clip_rect(rect);
    let galley = painter.layout(words, Face::Micro.font(), color, rect.width());
    painter.galley(rect.min, galley, color);
}

fn n_rows(rect: Rect, row: f32) -> usize {
    let fits = |n: &usize| *n as f32 * row <= rect.height();
    (0..=99).rev().find(fits).unwrap_or(0)
}

/// Paints the last tokens with their ids, the prompt's dimmed.
fn paint_tokens(ui: &Ui, rect: Rect, at: LoopStep<'_>) {
    let theme = Theme::of(ui);
    let prompt = &at.generation.prompt;
    let n_prompt = prompt.tokens.len();
    let skipped = (n_prompt + at.index).saturating_sub(n_rows(rect, WORD_ROW).min(6));
    let of_prompt = prompt.tokens.iter().zip(&prompt.pieces).skip(skipped);
    let generated = at.generation.steps.iter().take(at.index);
    let generated = generated.skip(skipped.saturating_sub(n_prompt));
    let tokens = of_prompt
        .map(|(id, piece)| (*id, piece, theme.text_3))
        .chain(generated.map(|step| (step.token, &step.piece, theme.text_1)));
    let mut y = rect.top() + WORD_ROW / 2.0;
    for (id, piece, color) in tokens {
        let id = ui.painter().text(
            pos2(rect.right(), y),
            Align2::RIGHT_CENTER,
            id.to_string(),
            Face::Special.font(),
            theme.text_3,
        );
        let width = id.left() - rect.left() - 6.0;
        paint_word(ui, pos2(rect.left(), y), piece, color, width);
        y += WORD_ROW;
    }
}

fn paint_word(ui: &Ui, left: egui::Pos2, piece: &Piece, color: Color32, width: f32) {
    let galley = token_galley(ui, piece, TokenStyle::plain(color), width);
    let at = Align2::LEFT_CENTER.anchor_size(left, galley.size());
    ui.painter().galley(at.min, galley, color);
}

/// Paints one bar per sequence of the forward pass.
fn paint_batch(ui: &Ui, rect: Rect, at: LoopStep<'_>) {
    let n = at.step.time.n_batch.max(1).min(n_rows(rect, 16.0));
    for row in 0..n {
        let top = rect.top() + row as f32 * 16.0;
        let bar = Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), 13.0));
        ui.painter().rect_filled(bar, 2, Theme::of(ui).surface_4);
    }
}

/// Paints the highest logits, scaled to their own range. Those that `kept` rejects are hollow.
fn paint_logits(ui: &Ui, rect: Rect, at: LoopStep<'_>, kept: impl Fn(usize) -> bool) {
    let theme = Theme::of(ui);
    let head = &at.step.trace.raw.head;
    let n = n_rows(rect, BAR_ROW).min(14);
    let finite = || {
        let logits = head.iter().map(|known| known.logit);
        logits.filter(|logit| logit.is_finite())
    };
    let Some(best) = finite().next() else {
        return;
    };
    let least = finite().take(n).last().unwrap_or(best);
    let span = (best - least).max(1e-6) * 1.25;
    for (index, known) in head.iter().take(n).enumerate() {
        let share = 1.0 - ((best - known.logit) / span).clamp(0.0, 1.0);
        let top = rect.top() + index as f32 * BAR_ROW;
        let width = (rect.width() * share).max(2.0);
        let bar = Rect::from_min_size(pos2(rect.left(), top), vec2(width, BAR_ROW - 2.0));
        if !kept(index) {
            let edge = Stroke::new(1.0, theme.bar_cut);
            ui.painter().rect_stroke(bar, 1, edge, StrokeKind::Inside);
        } else if known.token == at.step.token {
            ui.painter().rect_filled(bar, 1, theme.pane(at.pane));
        } else {
            ui.painter().rect_filled(bar, 1, theme.bar_before);
        }
    }
}

/// Paints the highest probabilities of the draw.
fn paint_probs(ui: &Ui, rect: Rect, at: LoopStep<'_>) {
    let theme = Theme::of(ui);
    let survivors = &at.step.trace.survivors;
    let largest = survivors.first().map_or(1.0, |best| best.prob).max(1e-9);
    let room = rect.width() - NUMBER;
    for (row, known) in survivors.iter().take(n_rows(rect, PROB_ROW)).enumerate() {
        let y = rect.top() + (row as f32 + 0.5) * PROB_ROW;
        let width = (room * (known.prob / largest) as f32).max(2.0);
        let bar = Rect::from_min_size(pos2(rect.left(), y - 5.5), vec2(width, 11.0));
        let color = if known.token == at.step.token {
            theme.pane(at.pane)
        } else {
            theme.bar_after
        };
        ui.painter().rect_filled(bar, 2, color);
        ui.painter().text(
            pos2(bar.right() + 4.0, y),
            Align2::LEFT_CENTER,
            percent(known.prob),
            Face::Micro.font(),
            theme.text_2,
        );
    }
}

/// Paints the survivors as parts of a column from 0 at the top to 1, and the coin beside it.
fn paint_coin(ui: &Ui, rect: Rect, at: LoopStep<'_>) {
    let theme = Theme::of(ui);
    let trace = &at.step.trace;
    let column = rect.with_min_x(rect.left() + 14.0);
    let y = |share: f64| column.top() + column.height() * share.clamp(0.0, 1.0) as f32;
    let edge = Stroke::new(1.0, theme.bar_cut);
    ui.painter()
        .rect_stroke(column, 2, edge, StrokeKind::Inside);
    let mut below = 0.0;
    for known in &trace.survivors {
        let (top, bottom) = (y(below), y(below + known.prob));
        below += known.prob;
        if bottom - top < 0.5 && known.token != at.step.token {
            continue;
        }
        let gap = if bottom - top > 3.0 { 1.0 } else { 0.0 };
        let part = Rect::from_min_max(
            pos2(column.left(), top),
            pos2(column.right(), (bottom - gap).max(top + 2.0)),
        );
        let (fill, text) = if known.token == at.step.token {
            (theme.pane(at.pane), theme.pane_letter)
        } else {
            (theme.surface_4, theme.text_1)
        };
        ui.painter().rect_filled(part, 2, fill);
        if part.height() >= 13.0 {
            let word = token_word(&at.generation.vocabulary.piece(known.token));
            let clipped = ui.painter().with_clip_rect(part);
            clipped.text(
                part.center(),
                Align2::CENTER_CENTER,
                word,
                Face::Candidate.font(),
                text,
            );
        }
    }
    if let Some(coin) = trace.draw.coin {
        let tip = pos2(column.left() - 3.0, y(coin));
        let corners = vec![tip, tip + vec2(-9.0, -5.0), tip + vec2(-9.0, 5.0)];
        ui.painter()
            .add(Shape::convex_polygon(corners, theme.text_1, Stroke::NONE));
    }
}

/// Paints the token in a frame, and when it was added.
fn paint_append(ui: &Ui, rect: Rect, at: LoopStep<'_>) {
    let theme = Theme::of(ui);
    let room = rect.width() - 16.0;
    let style = TokenStyle::plain(theme.text_1);
    let galley = token_galley(ui, &at.step.piece, style, room);
    let frame = Rect::from_min_size(rect.min, galley.size() + vec2(16.0, 8.0));
    ui.painter().rect_filled(frame, 4, theme.accent_bg);
    let edge = Stroke::new(1.5, theme.accent);
    ui.painter().rect_stroke(frame, 4, edge, StrokeKind::Inside);
    let position = frame.min + vec2(8.0, 4.0);
    ui.painter().galley(position, galley, theme.text_1);
    let time = if at.is_upcoming {
        format!("ID {}", at.step.token)
    } else {
        format!("{} ms after Generate", grouped(at.step.time.at_secs * 1e3))
    };
    let top = pos2(rect.left(), frame.bottom() + 8.0);
    super::row_text(ui, top, rect.width(), (&time, Face::Micro, theme.text_3));
}

//! The card beside a token: the token, its probability, and the most likely alternatives.

use egui::{Color32, Frame, Margin, Pos2, Rect, Response, Tooltip, Ui, Vec2, vec2};

use super::TokenTextInput;
use super::what_if_lines::{WhatIfLines, what_if_lines};
use crate::decoding::{TokenId, Trace};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Button;
use crate::generation::formatting::{percent, token_word};
use crate::generation::{Generation, Step};

/// The hovered token, and since when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hover {
    step: usize,
    since_secs: f64,
}

/// How many candidates the card lists.
const N_ALTERNATIVES: usize = 5;

/// The gap between a token and its card.
const GAP: f32 = 6.0;

const WIDTH: f32 = 252.0;
const BAR_WIDTH: f32 = 96.0;

/// The width of the probability right of the bars, up to "> 99.9 %".
const PROB_WIDTH: f32 = 54.0;

/// Returns the step whose card should show because the pointer has rested on its token long enough.
pub(super) fn due(ui: &Ui, hover: &mut Option<Hover>, hovered: Option<usize>) -> Option<usize> {
    let now = ui.input(|input| input.time);
    let Some(step) = hovered else {
        *hover = None;
        return None;
    };
    let since_secs = match hover {
        Some(hover) if hover.step == step => hover.since_secs,
        _ => now,
    };
    *hover = Some(Hover { step, since_secs });
    let remaining = f64::from(ui.style().interaction.tooltip_delay) - (now - since_secs);
    if remaining > 0.0 {
        let remaining = std::time::Duration::from_secs_f64(remaining);
        ui.ctx().request_repaint_after(remaining);
        return None;
    }
    Some(step)
}

/// A card with a button. It stays open while the pointer is on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OpenCard {
    pub step: usize,
    rect: Rect,
}

impl OpenCard {
    /// Returns whether the pointer is on the card or between it and its token.
    pub(super) fn holds(&self, pointer: Pos2) -> bool {
        self.rect.expand(GAP + 2.0).contains(pointer)
    }
}

/// Shows the card of a step beside its token, which is at `token_rect`. The card of the pinned
/// token has a button that continues from there. Returns that card, and whether the button was
/// clicked.
pub(super) fn show(
    ui: &Ui,
    response: &Response,
    token_rect: Rect,
    input: TokenTextInput<'_>,
    index: usize,
) -> Option<(OpenCard, bool)> {
    let generation = input.generation;
    let step = generation.steps.get(index)?;
    let has_button = input.can_branch && input.pinned == Some(index);
    let what_if_token = input.what_ifs;
    let what_if_token =
        what_if_token.and_then(|what_ifs| what_ifs.what_if_token(generation, index));
    let id = response.id.with("card");
    let shown = Tooltip::always_open(ui.ctx().clone(), response.layer_id, id, token_rect)
        .gap(GAP)
        .width(WIDTH)
        .show(|ui| {
            Frame::new()
                .inner_margin(Margin::symmetric(8, 4))
                .show(ui, |ui| {
                    card_ui(ui, generation, step, index);
                    if let Some(what_if_token) = what_if_token {
                        what_if_ui(ui, &what_if_lines(generation, step, what_if_token));
                    }
                    has_button && continue_ui(ui, step)
                })
                .inner
        })?;
    let rect = shown.response.rect;
    has_button.then_some((OpenCard { step: index, rect }, shown.inner))
}

/// Draws the button that opens the popup. Returns whether it was clicked.
fn continue_ui(ui: &mut Ui, step: &Step) -> bool {
    ui.add_space(6.0);
    let label = format!("Continue from ‘{}’…", token_word(&step.piece));
    ui.add(Button::new(&label).raised().hint("C")).clicked()
}

fn card_ui(ui: &mut Ui, generation: &Generation, step: &Step, index: usize) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing = vec2(8.0, 2.0);
    ui.set_width(WIDTH);
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.y = 24.0;
        let word = format!("‘{}’", token_word(&step.piece));
        ui.label(Face::Read.text(word).color(theme.text_1));
        let id = format!("token {} · ID {}", index + 1, step.token);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(Face::Code.text(id).color(theme.text_3));
        });
    });
    ui.label(
        Face::Small
            .text(probs_label(&step.trace))
            .color(theme.text_2),
    );
    ui.add_space(4.0);
    ui.label(Face::Micro.text("Before the chain").color(theme.text_3));
    let rows = rows(step);
    let largest = rows.iter().map(|row| row.prob).fold(0.0, f64::max);
    for row in rows {
        let piece = if row.chosen {
            step.piece.clone()
        } else {
            generation.vocabulary.piece(row.token)
        };
        candidate_ui(ui, &token_word(&piece), &row, largest);
    }
}

/// A candidate of the card, before the chain.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CardRow {
    token: TokenId,
    prob: f64,
    chosen: bool,
}

/// Returns the most likely candidates, and the chosen token if it is not one of them.
fn rows(step: &Step) -> Vec<CardRow> {
    let top = step.trace.raw.head.iter().take(N_ALTERNATIVES);
    let mut rows: Vec<CardRow> = top
        .map(|candidate| CardRow {
            token: candidate.token,
            prob: candidate.prob,
            chosen: candidate.token == step.token,
        })
        .collect();
    if rows.iter().all(|row| !row.chosen) {
        rows.push(CardRow {
            token: step.token,
            prob: step.trace.known_raw_prob().unwrap_or(f64::NAN),
            chosen: true,
        });
    }
    rows
}

/// Shows what the current settings would have drawn instead.
fn what_if_ui(ui: &mut Ui, lines: &WhatIfLines) {
    let theme = Theme::of(ui);
    ui.add_space(6.0);
    ui.label(Face::Small.text(&lines.outcome).color(theme.changed));
    ui.label(Face::Micro.text(&lines.certainty).color(theme.text_3));
}

/// Formats the token's probabilities before and after the chain: "5.9 % before, 4.3 % after · rank
/// 6".
fn probs_label(trace: &Trace) -> String {
    let Some(before) = trace.known_raw_prob().map(percent) else {
        return "The server reported no probability".to_owned();
    };
    let after = trace
        .known_final_prob()
        .map_or_else(|| "unknown".to_owned(), percent);
    let rank = trace.known_rank();
    let rank = rank.map_or_else(|| "unknown".to_owned(), |rank| rank.to_string());
    if trace.draw.is_by_hand() {
        return format!("Picked by hand · {before} before, {after} after · rank {rank}");
    }
    if !trace.draw.was_possible() {
        return format!("{before} before, cut by the chain · rank {rank}");
    }
    format!("{before} before, {after} after · rank {rank}")
}

/// Draws a candidate; the bar of the `largest` probability has the full width.
fn candidate_ui(ui: &mut Ui, word: &str, row: &CardRow, largest: f64) {
    let CardRow { prob, chosen, .. } = *row;
    let theme = Theme::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), egui::Sense::hover());
    let painter = ui.painter();
    if chosen {
        painter.rect_filled(rect.expand2(vec2(4.0, 0.0)), 3, theme.surface_3);
    }
    let text = |at, align: egui::Align2, text: &str, face: Face, color: Color32| {
        painter.text(at, align, text, face.font(), color);
    };
    let word_color = if chosen { theme.text_1 } else { theme.text_2 };
    let word_rect = rect.with_max_x(rect.right() - BAR_WIDTH - PROB_WIDTH - 8.0);
    let clipped = painter.with_clip_rect(word_rect);
    clipped.text(
        rect.left_center(),
        egui::Align2::LEFT_CENTER,
        word,
        Face::Candidate.font(),
        word_color,
    );
    let bar_left = rect.right() - BAR_WIDTH - PROB_WIDTH;
    let width = (BAR_WIDTH * (prob / largest.max(f64::MIN_POSITIVE)) as f32).max(1.0);
    let bar = Rect::from_min_size(
        egui::pos2(bar_left, rect.center().y - 4.0),
        Vec2::new(width, 8.0),
    );
    let fill = if chosen {
        theme.bar_after
    } else {
        theme.bar_before
    };
    painter.rect_filled(bar, 2, fill);
    text(
        rect.right_center(),
        egui::Align2::RIGHT_CENTER,
        &percent(prob),
        Face::Micro,
        theme.text_2,
    );
}

#[cfg(test)]
mod tests {
    use super::{N_ALTERNATIVES, rows};
    use crate::generation::testing::generation;

    #[test]
    fn the_chosen_token_is_always_listed() {
        let likely = generation(&[(" fox", 0.9)]);
        let top = rows(&likely.steps[0]);
        assert_eq!(top.len(), N_ALTERNATIVES);
        assert!(top[0].chosen);

        let unlikely = generation(&[(" fox", 0.000_1)]);
        let all = rows(&unlikely.steps[0]);
        assert_eq!(all.len(), N_ALTERNATIVES + 1);
        let chosen = all.last().unwrap();
        assert_eq!(chosen.token, unlikely.steps[0].token);
        assert!(chosen.chosen && (chosen.prob - 0.000_1).abs() < 1e-6);
    }
}

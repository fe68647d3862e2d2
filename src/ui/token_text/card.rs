//! The card below a token: how likely it was, and the likeliest other tokens, each of which
//! continues the text from there.

use egui::{
    Align2, Area, Color32, Frame, Key, Label, Margin, Modifiers, Order, Pos2, Rect, Response, Role,
    Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::TokenTextInput;
use super::what_if_lines::{WhatIfLines, what_if_lines};
use crate::analysis::TextLoop;
use crate::decoding::{TokenId, Trace};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;
use crate::generation::formatting::{grouped, percent, token_word};
use crate::generation::{Generation, Step};

/// The hovered token, and since when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hover {
    step: usize,
    since_secs: f64,
}

/// How many other tokens the card offers, and how many at least where little room is left.
const N_ALTERNATIVES: usize = 5;
const MIN_ALTERNATIVES: usize = 2;

/// The gap between a token and its card.
const GAP: f32 = 6.0;

/// The width of the card, and of what is inside its margins.
const WIDTH: f32 = 224.0;
const MARGIN: f32 = 8.0;

/// The heights of the first line with the rule below it, of a row, and of a line at the foot.
const HEAD: f32 = 32.0;
const ROW: f32 = 26.0;
const LINE: f32 = 18.0;

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

/// A card on the screen. It stays open while the pointer is on its token, on it, or between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OpenCard {
    pub step: usize,
    rect: Rect,
    token: Rect,
    /// Whether the pointer is on one of the tokens that it offers.
    pub offers: bool,
}

impl OpenCard {
    /// Returns whether the pointer keeps the card open.
    pub(super) fn holds(&self, pointer: Pos2) -> bool {
        let between = self.token.expand2(vec2(0.0, GAP));
        self.rect.expand(2.0).contains(pointer) || between.contains(pointer)
    }
}

/// A token with which the text continues instead of the card’s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CardChoice {
    /// The step that it replaces.
    pub step: usize,
    pub token: TokenId,
    pub in_new_pane: bool,
}

/// Shows the card of a step below or above its token, which is at `token`. Returns the card, and
/// what was chosen on it.
pub(super) fn show(
    ui: &Ui,
    text: &Response,
    token: Rect,
    input: TokenTextInput<'_>,
    index: usize,
) -> Option<(OpenCard, Option<CardChoice>)> {
    let step = input.generation.steps.get(index)?;
    let foot = Foot::of(input, step, index);
    let place = CardPlace::of(token, ui.clip_rect(), foot.n_lines());
    let mut chosen = None;
    let mut offers = false;
    let shown = Area::new(text.id.with("card"))
        .order(Order::Tooltip)
        .pivot(place.pivot)
        .fixed_pos(place.at)
        .constrain_to(ui.content_rect())
        .fade_in(false)
        .show(ui, |ui| {
            let frame = Frame::popup(ui.style()).inner_margin(Margin::same(MARGIN as i8));
            frame.show(ui, |ui| {
                ui.set_width(WIDTH - 2.0 * MARGIN);
                ui.spacing_mut().item_spacing.y = 0.0;
                head_ui(ui, step);
                for row in alternatives(input.generation, step, place.n_rows) {
                    let response = row_ui(ui, &row, input.can_branch);
                    offers |= response.hovered();
                    if input.can_branch && is_chosen(ui, &response) {
                        chosen = Some(row.token);
                    }
                }
                foot.ui(ui);
            });
        });
    let card = OpenCard {
        step: index,
        rect: shown.response.rect,
        token,
        offers,
    };
    let in_new_pane = ui.input(|input| input.modifiers.shift);
    let choice = chosen.map(|token| CardChoice {
        step: index,
        token,
        in_new_pane,
    });
    Some((card, choice))
}

/// Returns whether a row was clicked, or Enter was pressed while the pointer is on it.
fn is_chosen(ui: &Ui, row: &Response) -> bool {
    let enter = || ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
    row.clicked() || row.hovered() && !ui.text_edit_focused() && enter()
}

/// Where a card is, and how many rows fit there.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CardPlace {
    at: Pos2,
    pivot: Align2,
    n_rows: usize,
}

impl CardPlace {
    /// Places a card below its token, or above it if there is more room, within the pane’s text.
    fn of(token: Rect, pane: Rect, n_lines: usize) -> Self {
        let around = 2.0 * MARGIN + HEAD + LINE * n_lines as f32;
        let full = around + ROW * N_ALTERNATIVES as f32;
        let below = pane.bottom() - token.bottom() - GAP;
        let above = token.top() - GAP - pane.top();
        let is_below = below >= full || below >= above;
        let room = if is_below { below } else { above };
        #[expect(clippy::cast_sign_loss, reason = "a negative number becomes 0 first")]
        let n_fitting = ((room - around) / ROW).floor().max(0.0) as usize;
        let left = token.left().min(pane.right() - WIDTH).max(pane.left());
        let (at, pivot) = if is_below {
            (pos2(left, token.bottom() + GAP), Align2::LEFT_TOP)
        } else {
            (pos2(left, token.top() - GAP), Align2::LEFT_BOTTOM)
        };
        Self {
            at,
            pivot,
            n_rows: n_fitting.clamp(MIN_ALTERNATIVES, N_ALTERNATIVES),
        }
    }
}

/// Draws the token, and how likely the model found it.
fn head_ui(ui: &mut Ui, step: &Step) {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), HEAD);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let (word, prob) = (token_word(&step.piece), prob_words(&step.trace));
    let name = format!("‘{word}’ · {prob}");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
    let line = rect.with_max_y(rect.bottom() - 8.0);
    let right = ui.painter().text(
        line.right_center(),
        Align2::RIGHT_CENTER,
        prob,
        Face::Small.font(),
        theme.text_2,
    );
    let room = line.with_max_x(right.left() - 8.0);
    ui.painter().with_clip_rect(room).text(
        line.left_center(),
        Align2::LEFT_CENTER,
        word,
        Face::Read.font(),
        theme.text_1,
    );
    let rule = Stroke::new(1.0, theme.stroke_1);
    ui.painter()
        .hline(rect.x_range(), rect.bottom() - 4.0, rule);
}

/// Formats how likely the model found a token: "4.7 % · rank 6".
fn prob_words(trace: &Trace) -> String {
    let Some(prob) = trace.known_raw_prob().map(percent) else {
        return "probability unknown".to_owned();
    };
    match trace.known_rank() {
        Some(rank) => format!("{prob} · rank {}", grouped(f64::from(rank))),
        None => prob,
    }
}

/// A token that could have come instead, before the chain.
#[derive(Debug, Clone, PartialEq)]
struct Alternative {
    token: TokenId,
    word: String,
    prob: f64,
}

/// Returns the likeliest tokens other than the one that the step took.
fn alternatives(generation: &Generation, step: &Step, n_rows: usize) -> Vec<Alternative> {
    let others = step.trace.raw.head.iter();
    let others = others.filter(|candidate| candidate.token != step.token);
    others
        .take(n_rows)
        .map(|candidate| Alternative {
            token: candidate.token,
            word: token_word(&generation.vocabulary.piece(candidate.token)),
            prob: candidate.prob,
        })
        .collect()
}

/// Draws another token. Where the text can branch, it is a button.
fn row_ui(ui: &mut Ui, row: &Alternative, can_branch: bool) -> Response {
    let theme = Theme::of(ui);
    let sense = if can_branch {
        Sense::click()
    } else {
        Sense::hover()
    };
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let prob = percent(row.prob);
    if can_branch {
        let spoken = prob.replace(" %", " percent");
        let name = format!("Continue with ‘{}’, {spoken}", row.word);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    } else {
        let name = format!("‘{}’, {prob}", row.word);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
    }
    let is_pointed = can_branch && (response.hovered() || response.has_focus());
    if is_pointed {
        let fill = rect.expand2(vec2(MARGIN - 4.0, 0.0));
        ui.painter().rect_filled(fill, 5, theme.surface_3);
    }
    let (words, aside, color) = if is_pointed {
        let verb = if ui.input(|input| input.modifiers.shift) {
            "as a new pane with"
        } else {
            "continue with"
        };
        (
            format!("{verb} ‘{}’", row.word),
            "↵".to_owned(),
            theme.text_1,
        )
    } else {
        (row.word.clone(), prob, theme.text_1)
    };
    let right = ui.painter().text(
        rect.right_center(),
        Align2::RIGHT_CENTER,
        aside,
        Face::Small.font(),
        theme.text_3,
    );
    let room = rect.with_max_x(right.left() - 6.0);
    ui.painter().with_clip_rect(room).text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        words,
        Face::Candidate.font(),
        color,
    );
    focus_ring(ui, &response, 5);
    response
}

/// What stands below the tokens.
struct Foot {
    /// "The same 7 tokens, 25 times".
    looping: Option<String>,
    what_if: Option<WhatIfLines>,
    /// "token 30 · id 2264 · 4.7 % after the settings".
    token: String,
}

impl Foot {
    fn of(input: TokenTextInput<'_>, step: &Step, index: usize) -> Self {
        let generation = input.generation;
        let looping = input
            .looping
            .filter(|looping| looping.steps.contains(&index));
        let what_if = input.what_ifs;
        let what_if = what_if.and_then(|what_ifs| what_ifs.what_if_token(generation, index));
        let number = grouped((index + 1) as f64);
        let after = after_words(&step.trace);
        Self {
            looping: looping.map(TextLoop::words),
            what_if: what_if.map(|token| what_if_lines(generation, step, token)),
            token: format!("token {number} · id {} · {after}", step.token),
        }
    }

    fn n_lines(&self) -> usize {
        let what_if = if self.what_if.is_some() { 2 } else { 0 };
        usize::from(self.looping.is_some()) + what_if + 1
    }

    fn ui(&self, ui: &mut Ui) {
        let theme = Theme::of(ui);
        let line_ui = |ui: &mut Ui, words: &str, face: Face, color: Color32| {
            ui.add_space(2.0);
            ui.add(Label::new(face.text(words).color(color)).wrap());
        };
        if let Some(words) = &self.looping {
            line_ui(ui, words, Face::Small, theme.text_2);
        }
        if let Some(lines) = &self.what_if {
            line_ui(ui, &lines.outcome, Face::Small, theme.changed);
            line_ui(ui, &lines.certainty, Face::Micro, theme.text_3);
        }
        line_ui(ui, &self.token, Face::Micro, theme.text_3);
    }
}

/// Says how likely a token was after the settings, or how else it came about.
fn after_words(trace: &Trace) -> String {
    if trace.draw.is_by_hand() {
        return "picked by hand".to_owned();
    }
    if !trace.draw.was_possible() {
        return "cut by the settings".to_owned();
    }
    match trace.known_final_prob() {
        Some(prob) => format!("{} after the settings", percent(prob)),
        None => "unknown after the settings".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use egui::{Align2, Rect, pos2, vec2};

    use super::{CardPlace, N_ALTERNATIVES, WIDTH, alternatives};
    use crate::generation::testing::generation;

    #[test]
    fn the_likeliest_other_tokens_are_offered() {
        for prob in [0.9, 0.000_1] {
            let text = generation(&[(" fox", prob)]);
            let step = &text.steps[0];
            let rows = alternatives(&text, step, N_ALTERNATIVES);
            assert_eq!(rows.len(), N_ALTERNATIVES);
            assert!(rows.iter().all(|row| row.token != step.token));
            assert!(rows.is_sorted_by(|one, next| one.prob >= next.prob));
        }
    }

    #[test]
    fn a_card_stays_within_its_pane() {
        let pane = Rect::from_min_size(pos2(10.0, 100.0), vec2(300.0, 280.0));
        let token = |x: f32, y: f32| Rect::from_min_size(pos2(x, y), vec2(40.0, 20.0));
        let below = CardPlace::of(token(20.0, 110.0), pane, 1);
        assert_eq!(
            (below.at, below.pivot),
            (pos2(20.0, 136.0), Align2::LEFT_TOP)
        );
        assert_eq!(below.n_rows, N_ALTERNATIVES);
        let right = CardPlace::of(token(260.0, 110.0), pane, 1);
        assert!((right.at.x - (pane.right() - WIDTH)).abs() < 0.1);
        let above = CardPlace::of(token(20.0, 340.0), pane, 1);
        assert_eq!((above.at.y, above.pivot), (334.0, Align2::LEFT_BOTTOM));
        // Between both, fewer tokens are offered.
        let middle = CardPlace::of(token(20.0, 230.0), pane, 1);
        assert_eq!(middle.n_rows, 2);
    }
}

//! The alternatives that the popup offers, most likely first.

use egui::{Align2, Color32, Response, Role, Sense, Stroke, Ui, WidgetInfo, vec2};

use crate::decoding::{FinalProb, TokenId};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{ControlColors, focus_ring, paint_fill};
use crate::generation::formatting::{percent, token_word};
use crate::generation::{Generation, Step};

/// How many alternatives the popup offers.
const N_ALTERNATIVES: usize = 4;

const HEIGHT: f32 = 28.0;

/// A token that could have been picked instead.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alternative {
    pub token: TokenId,
    word: String,
    /// Its probability before the chain.
    prob: f64,
    /// Whether the chain cut it.
    cut: bool,
    /// Its rank before the chain, from 1, which is also the key that picks it.
    pub rank: usize,
}

/// Returns the most likely tokens other than the chosen one. If the chain cut any recorded token,
/// the last one is such a token.
pub(super) fn alternatives(text: &Generation, step: &Step) -> Vec<Alternative> {
    let head = (0..).zip(&step.trace.raw.head);
    let others = head.filter(|(_, candidate)| candidate.token != step.token);
    let all: Vec<Alternative> = others
        .map(|(index, candidate)| Alternative {
            token: candidate.token,
            word: token_word(&text.vocabulary.piece(candidate.token)),
            prob: candidate.prob,
            // Greedy keeps only the token that it picks, but that is not a cut.
            cut: step.trace.draw.n_kept > 1 && step.trace.known_head_final(index) == FinalProb::Cut,
            rank: index + 1,
        })
        .collect();
    let mut offered: Vec<Alternative> = all.iter().take(N_ALTERNATIVES).cloned().collect();
    let cut = all.into_iter().find(|row| row.cut);
    if let Some(cut) = cut.filter(|cut| !offered.contains(cut)) {
        offered.truncate(N_ALTERNATIVES - 1);
        offered.push(cut);
    }
    offered
}

/// Draws an alternative: the word, its probability, and its rank. Keyboard focus highlights it.
pub(super) fn alternative_ui(ui: &mut Ui, row: &Alternative) -> Response {
    let theme = Theme::of(ui);
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::click());
    let highlighted = response.has_focus();
    let prob = if row.cut {
        format!("cut · {}", percent(row.prob))
    } else {
        percent(row.prob)
    };
    let name = format!("‘{}’ · {prob}", row.word);
    response
        .widget_info(|| WidgetInfo::selected(Role::MenuItem, ui.is_enabled(), highlighted, &name));
    let fill = if highlighted {
        theme.surface_3
    } else {
        Color32::TRANSPARENT
    };
    let text = if row.cut { theme.text_3 } else { theme.text_1 };
    let color = paint_fill(ui, &response, ControlColors { fill, text }, 6);
    let inside = rect.shrink2(vec2(8.0, 0.0));
    let painter = ui.painter();
    let word = painter.text(
        inside.left_center(),
        Align2::LEFT_CENTER,
        &row.word,
        Face::Candidate.font(),
        color,
    );
    if row.cut {
        let strike = Stroke::new(1.0, theme.struck_text);
        painter.hline(word.x_range(), word.center().y, strike);
    }
    let right = |x: f32, text: &str, face: Face, color: Color32| {
        let at = inside.right_center() - vec2(x, 0.0);
        painter.text(at, Align2::RIGHT_CENTER, text, face.font(), color);
    };
    right(0.0, &row.rank.to_string(), Face::Micro, theme.text_3);
    right(26.0, &prob, Face::Small, theme.text_2);
    focus_ring(ui, &response, 6);
    response
}

#[cfg(test)]
mod tests {
    use super::alternatives;
    use crate::generation::testing::generation;

    #[test]
    fn the_most_likely_other_tokens_are_offered_with_their_ranks() {
        let text = generation(&[(" fox", 0.3)]);
        let rows = alternatives(&text, &text.steps[0]);
        let ranks: Vec<usize> = rows.iter().map(|row| row.rank).collect();
        assert_eq!(ranks, [1, 3, 4, 5]);
        assert!(rows.iter().all(|row| !row.cut));
    }
}

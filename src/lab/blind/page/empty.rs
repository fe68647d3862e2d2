//! What the tab shows before the first vote: the cards of the texts, without words.

use egui::{Rect, Stroke, StrokeKind, Ui, vec2};

use super::texts::{PADDING, cards};
use crate::design::theme::Theme;
use crate::lab::frame::empty;
use crate::state::AppState;

/// Draws the cards, and a sentence on them.
pub(super) fn empty_ui(ui: &mut Ui, area: Rect, state: &AppState, words: &str) {
    let (cards, _) = cards(area, state.lab.blind.n_shown);
    let edge = Stroke::new(1.0, Theme::of(ui).stroke_2);
    for card in &cards {
        ui.painter().rect_stroke(*card, 8, edge, StrokeKind::Inside);
        empty::bars_ui(ui, card.shrink2(vec2(PADDING, 20.0)));
    }
    let all = cards.into_iter().reduce(Rect::union).unwrap_or(area);
    empty::about_ui(ui, all, words);
}

//! What the tab shows before the first comparison: the text without tints, and plots without points.

use egui::Ui;

use super::TEXT;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::generation::Generation;
use crate::lab::frame::{Columns, empty};
use crate::lab::models::plot::rects_of;
use crate::lab::models::state::compared_pane;
use crate::plots::Scale;
use crate::state::AppState;

const ABOUT: &str = "Both models will read the same text. Each point will be one token: where their \
    probabilities differ, and whether that changes which token is chosen.";

/// The number of tokens on the axes if no text is chosen.
const N_TOKENS: usize = 200;

/// Draws both columns.
pub(super) fn empty_ui(ui: &mut Ui, columns: Columns, state: &AppState) {
    empty::texts_ui(
        ui,
        columns.right,
        "What the two models make of it, in words",
    );
    let (text, below) = columns.middle.split_top_bottom_at_fraction(TEXT);
    let form = &state.lab.models.form;
    let written = compared_pane(state).and_then(|pane| pane.generation());
    let words = if form.is_typed {
        form.typed.clone()
    } else {
        written.map(Generation::text).unwrap_or_default()
    };
    empty::text_ui(ui, text, &words, Face::Body);
    let n_tokens = written
        .filter(|_| !form.is_typed)
        .map(|text| text.steps.len());
    let n_tokens = n_tokens.unwrap_or(N_TOKENS).max(1) as f64;
    let plots = below.with_min_y(below.top() + 12.0);
    let titles = [
        ["KL divergence of B from A", "nats"],
        ["Margin between A’s first two tokens", "nats"],
    ];
    let rects = rects_of(plots);
    for (rect, title) in rects.into_iter().zip(titles) {
        let ui = child_ui(ui, rect, title[0]);
        let x = Scale::between(0.0, n_tokens);
        empty::plot_ui(&ui, rect, title, x, "tokens of text");
    }
    empty::about_ui(ui, rects[0], ABOUT);
}

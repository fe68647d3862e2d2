//! The Compare tab: how far apart each pair of texts is, where the selected pair diverges, and the
//! metrics of all texts side by side.

mod matrix;
mod measures;
mod pair;
mod picture;
mod then_and_now;

use egui::{Rect, Stroke, Ui, pos2, vec2};

use self::matrix::matrix_ui;
use self::measures::{GrammarBreaks, Measured, measures_ui};
use self::pair::pair_ui;
pub(super) use self::picture::CompareOfRun;
use self::then_and_now::then_and_now_ui;
pub use self::then_and_now::verified_data;
use super::xray::sentence_ui;
use crate::analysis::{TextMetrics, have_different_tokenizers};
use crate::design::child_ui::child_ui;
use crate::design::theme::Theme;
use crate::generation::Generation;
use crate::state::{AppState, Command, ComparedPair, Pane};

/// The widths of the matrix and of the table of measures.
const MATRIX: f32 = 372.0;
const MEASURES: f32 = 424.0;

/// The minimum width for the distributions of the selected pair.
const PAIR: f32 = 280.0;

/// Draws the tab.
pub(super) fn compare_ui(
    ui: &mut Ui,
    body: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let inside = Rect::from_min_max(body.min + vec2(14.0, 8.0), body.max - vec2(14.0, 8.0));
    if let Some(verification) = state.runs.verification.as_ref().filter(|shown| shown.shown) {
        return then_and_now_ui(ui, inside, verification, state, commands);
    }
    let counts_thinking = state.view.compare.counts_thinking;
    let mut prices = state.view.prices;
    let panes = &state.panes;
    let texts: Vec<(usize, &Generation)> = panes
        .placed()
        .filter_map(|(place, pane)| Some((place, pane.generation()?)))
        .filter(|(_, text)| !text.steps.is_empty())
        .collect();
    if texts.len() < 2 {
        let hint = if panes.len() < 2 {
            "Compare needs two panes."
        } else {
            "Generate text in two panes to compare them."
        };
        return sentence_ui(ui, inside, hint);
    }
    let pairs = state.compared_pairs();
    let selected = selected(state.view.compare.pair, pairs);
    let matrix_width = MATRIX.min(inside.width() * 0.5);
    let measures_width = MEASURES.min(inside.width() - matrix_width - 29.0);
    let matrix = inside.with_max_x(inside.left() + matrix_width);
    let measures = inside.with_min_x(inside.right() - measures_width);
    let middle = Rect::from_min_max(
        pos2(matrix.right() + 29.0, inside.top()),
        pos2(measures.left() - 29.0, inside.bottom()),
    );
    let mut area = child_ui(ui, matrix, "matrix");
    let clicked = matrix_ui(&mut area, &texts, pairs, selected);
    if middle.width() >= PAIR {
        let pair = pairs.iter().find(|pair| pair.panes == selected);
        if let Some(pair) = pair {
            pair_ui(&mut child_ui(ui, middle, "pair"), &texts, pair);
        }
        paint_edge(ui, body, matrix.right() + 14.0);
    }
    paint_edge(ui, body, measures.left() - 14.0);
    let breaks = panes.compared_grammar().map(|place| GrammarBreaks {
        place,
        steps: panes.by_place(Pane::breaks_other_grammar_at),
    });
    let mut area = child_ui(ui, measures, "measures");
    let metrics: Vec<(usize, &TextMetrics)> = texts
        .iter()
        .filter_map(|(place, _)| Some((*place, panes.get(*place)?.measures(counts_thinking)?)))
        .collect();
    let has_one_tokenizer = !have_different_tokenizers(texts.iter().map(|(_, text)| *text));
    let shown = Measured {
        metrics: &metrics,
        breaks: breaks.as_ref(),
        has_one_tokenizer,
    };
    measures_ui(
        &mut area,
        &shown,
        &mut state.view.compare.grammar_breaks,
        &mut prices,
    );
    state.view.prices = prices;
    state.view.compare.pair = clicked.or(state.view.compare.pair);
}

fn paint_edge(ui: &Ui, body: Rect, x: f32) {
    let stroke = Stroke::new(1.0, Theme::of(ui).stroke_1);
    ui.painter().vline(x, body.shrink(1.0).y_range(), stroke);
}

/// Returns the pair that the user selected, or else the pair of the first and the last text.
fn selected(chosen: Option<[usize; 2]>, pairs: &[ComparedPair]) -> [usize; 2] {
    let chosen = chosen.filter(|panes| pairs.iter().any(|pair| pair.panes == *panes));
    let first = pairs.first().map_or(0, |pair| pair.panes[0]);
    let last = pairs.last().map_or(1, |pair| pair.panes[1]);
    chosen.unwrap_or([first, last])
}

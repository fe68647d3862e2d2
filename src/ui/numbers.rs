//! The figures behind the pictures, as text that can be selected.

use egui::{Grid, Label, RichText, ScrollArea, Ui};

use super::fonts::Face;
use super::theme::Theme;
use super::widgets::{SMALL_BADGE, badge, letter};
use super::words::{grouped, speed};
use crate::analysis::Metrics;
use crate::decoding::{Selector, TokenId};
use crate::generation::{Generation, Step};
use crate::state::AppState;

/// Draws the tables.
pub(super) fn numbers_ui(ui: &mut Ui, state: &AppState) {
    if state.generations().iter().all(Option::is_none) {
        let words = "The figures of each text stand here once it is written.";
        ui.label(Face::Small.text(words).color(Theme::of(ui).text_3));
        return;
    }
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = ROW;
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| panes_ui(ui, state));
            ui.add_space(32.0);
            ui.vertical(|ui| step_ui(ui, state));
        });
    });
}

fn head_ui(ui: &mut Ui, words: &str) {
    ui.label(Face::Small.text(words).color(Theme::of(ui).text_3));
}

fn cell(ui: &mut Ui, text: RichText) {
    ui.add(Label::new(text).selectable(true));
}

fn figure_ui(ui: &mut Ui, words: impl Into<String>) {
    let text = Face::Small.text(words).color(Theme::of(ui).text_1);
    cell(ui, text);
}

/// The height of a row.
const ROW: f32 = 20.0;

const COLUMNS: [&str; 10] = [
    "",
    "Pane",
    "Prompt tokens",
    "Reused",
    "First token",
    "Prefill",
    "Decode",
    "Tokens",
    "Mean surprise",
    "Ended by",
];

/// A row for each pane.
fn panes_ui(ui: &mut Ui, state: &AppState) {
    let grid = Grid::new("panes").spacing([20.0, 4.0]);
    grid.min_col_width(SMALL_BADGE)
        .min_row_height(ROW)
        .show(ui, |ui| {
            for column in COLUMNS {
                head_ui(ui, column);
            }
            ui.end_row();
            for (place, pane) in state.panes.iter().enumerate() {
                let Some(generation) = pane.generation() else {
                    continue;
                };
                badge(ui, place, SMALL_BADGE);
                for words in figures(generation) {
                    figure_ui(ui, words);
                }
                ui.end_row();
            }
        });
}

/// What stands in a pane's row after its badge.
fn figures(generation: &Generation) -> [String; 9] {
    let metrics = Metrics::of(generation);
    let prompt = &generation.prompt;
    let reused = prompt.tokens.len().saturating_sub(prompt.n_prefilled);
    let speed = |per_sec: Option<f64>| {
        per_sec.map_or_else(
            || "–".to_owned(),
            |per_sec| format!("{} tok/s", speed(per_sec)),
        )
    };
    let first = metrics
        .first_token_secs
        .map_or_else(|| "–".to_owned(), |secs| format!("{:.0} ms", secs * 1e3));
    let surprise = mean_surprise_bits(generation)
        .map_or_else(|| "–".to_owned(), |bits| format!("{bits:.2} bits"));
    let ended = generation
        .finish
        .as_ref()
        .map_or_else(|| "Writing".to_owned(), ToString::to_string);
    [
        generation.name.clone(),
        metrics.n_prompt.to_string(),
        reused.to_string(),
        first,
        speed(metrics.prefill_per_sec),
        speed(metrics.decode_per_sec),
        metrics.n_generated.to_string(),
        surprise,
        ended,
    ]
}

/// How little the model expected its text, on average over the tokens.
fn mean_surprise_bits(generation: &Generation) -> Option<f64> {
    let n = generation.steps.len();
    let bits: f64 = generation
        .steps
        .iter()
        .map(|step| -step.trace.raw_prob.log2())
        .sum();
    (n > 0).then(|| bits / n as f64)
}

/// The candidates of the step that is pinned, or of the newest.
fn step_ui(ui: &mut Ui, state: &AppState) {
    let shown = state.shown_step().and_then(|(place, index)| {
        let generation = state.panes.get(place)?.generation()?;
        Some((place, index, generation, generation.steps.get(index)?))
    });
    let Some((place, index, generation, step)) = shown else {
        return;
    };
    let title = format!(
        "Pane {}, token {} of {}: {}",
        letter(place),
        index + 1,
        generation.steps.len(),
        draw_words(step, generation.config.chain.selector)
    );
    cell(
        ui,
        Face::SmallMedium.text(title).color(Theme::of(ui).text_1),
    );
    ui.add_space(4.0);
    let grid = Grid::new("candidates").spacing([20.0, 2.0]);
    grid.min_col_width(32.0).min_row_height(ROW).show(ui, |ui| {
        for column in ["Rank", "Token", "Id", "Before", "After"] {
            head_ui(ui, column);
        }
        ui.end_row();
        let trace = &step.trace;
        for (index, candidate) in trace.raw.head.iter().enumerate() {
            let rank = index as u32 + 1;
            let after = trace.head_final_prob(index);
            let token = (candidate.token, candidate.token == step.token);
            candidate_ui(ui, generation, rank, token, (candidate.prob, after));
        }
        // What was drawn is told, however unlikely it was.
        if !trace.raw.head.iter().any(|c| c.token == step.token) {
            let probs = (trace.raw_prob, Some(trace.draw.prob));
            candidate_ui(ui, generation, trace.raw_rank, (step.token, true), probs);
        }
    });
}

/// A token's row, with its probabilities before the chain and after it; the one that was drawn is bolder.
fn candidate_ui(
    ui: &mut Ui,
    generation: &Generation,
    rank: u32,
    (token, is_drawn): (TokenId, bool),
    (before, after): (f64, Option<f64>),
) {
    let theme = Theme::of(ui);
    let piece = generation.vocabulary.piece(token).to_string();
    let words = piece
        .replace('\n', "↵")
        .replace('\t', "⇥")
        .replace(' ', "·");
    let face = if is_drawn {
        Face::SmallMedium
    } else {
        Face::Small
    };
    figure_ui(ui, grouped(f64::from(rank)));
    cell(ui, face.text(words).color(theme.text_1));
    cell(ui, Face::Code.text(token.to_string()).color(theme.text_2));
    figure_ui(ui, percent(before));
    figure_ui(ui, after.map_or_else(|| "cut".to_owned(), percent));
    ui.end_row();
}

fn draw_words(step: &Step, selector: Selector) -> String {
    match step.trace.draw.coin {
        Some(coin) => format!("coin {coin:.3}"),
        None if selector == Selector::GumbelMax => "a coin for each token".to_owned(),
        None => "the top token".to_owned(),
    }
}

/// A probability with the figures that mean something.
fn percent(prob: f64) -> String {
    match prob * 100.0 {
        // A sum of probabilities misses 1 by a hair.
        percent if percent >= 99.95 && prob <= 1.0 - 1e-9 => "> 99.9 %".to_owned(),
        percent if percent >= 10.0 => format!("{percent:.1} %"),
        percent if percent >= 0.01 => format!("{percent:.2} %"),
        _ => "< 0.01 %".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{figures, percent};
    use crate::generation::testing::generation;

    #[test]
    fn a_pane_is_told_in_figures() {
        let row = figures(&generation(&[(" a", 0.5), (" fox", 0.25), ("</s>", 0.5)]));
        assert_eq!(row[0], "Top-p");
        assert_eq!(row[1..4], ["3", "0", "20 ms"]);
        assert_eq!(row[4..7], ["150 tok/s", "400 tok/s", "3"]);
        assert_eq!(row[8], "End of text");
    }

    #[test]
    fn probabilities_keep_the_figures_that_mean_something() {
        for (prob, words) in [
            (1.0, "100.0 %"),
            (0.9996, "> 99.9 %"),
            (0.9994, "99.9 %"),
            (0.0591, "5.91 %"),
            (0.000_01, "< 0.01 %"),
        ] {
            assert_eq!(percent(prob), words);
        }
    }
}

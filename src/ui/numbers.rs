//! The Numbers tab: the values behind the plots as tables with selectable text.

use std::sync::Arc;

use egui::{Grid, Label, RichText, ScrollArea, Ui};

use super::explained::explained;
use super::figures::{bits_per_character, of_steps};
use super::numbers_tokens::{ranks_ui, tokens_ui};
use super::numbers_turns::turns_ui;
use super::text_measures::{cost_label, prices_ui, rows_for, saving_words};
use crate::analysis::{Metrics, Prices, have_different_tokenizers};
use crate::decoding::{FinalProb, Selector, TokenId};
use crate::design::fonts::Face;
use crate::design::style::reserve_scroll_bars;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, badge};
use crate::generation::formatting::pane_letter;
use crate::generation::formatting::{grouped, speed};
use crate::generation::{Generation, Step, Vocabulary};
use crate::state::{AppState, Pane, Panes};

/// Draws a table of all panes, and beside it the candidates of the pinned or latest step.
pub(super) fn numbers_ui(ui: &mut Ui, state: &mut AppState) {
    if state.generations().iter().all(Option::is_none) {
        let hint = "Generate text to see the numbers of each pane here";
        ui.label(Face::Small.text(hint).color(Theme::of(ui).text_3));
        return;
    }
    let is_wide = ui.available_width() >= SIDE_BY_SIDE;
    reserve_scroll_bars(ui);
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = ROW;
        if !is_wide {
            tables_ui(ui, state);
            ui.add_space(12.0);
            return step_ui(ui, state);
        }
        ui.horizontal_top(|ui| {
            ui.vertical(|ui| tables_ui(ui, state));
            ui.add_space(32.0);
            ui.vertical(|ui| step_ui(ui, state));
        });
    });
}

/// The minimum width for a step's candidates to be beside the panes' tables, in points.
const SIDE_BY_SIDE: f32 = 1_180.0;

fn tables_ui(ui: &mut Ui, state: &mut AppState) {
    panes_ui(ui, &state.panes);
    ui.add_space(12.0);
    measures_ui(ui, &state.panes, state.view.prices);
    prices_ui(ui, &mut state.view.prices);
    saving_ui(ui, &state.panes, state.view.prices);
    ui.add_space(12.0);
    turns_ui(ui, &state.panes);
    ranks_ui(ui, &state.panes);
    ui.add_space(12.0);
    tokens_ui(ui, state);
}

pub(super) fn heading_ui(ui: &mut Ui, heading: &str) {
    let label = ui.label(Face::Small.text(heading).color(Theme::of(ui).text_3));
    explained(label, heading);
}

pub(super) fn cell_ui(ui: &mut Ui, text: RichText) {
    ui.add(Label::new(text).selectable(true));
}

pub(super) fn value_ui(ui: &mut Ui, value: impl Into<String>) {
    let text = Face::Small.text(value).color(Theme::of(ui).text_1);
    cell_ui(ui, text);
}

/// The height of a row, in points.
pub(super) const ROW: f32 = 20.0;

const MEAN_SURPRISE: &str = "Mean surprise";

const COLUMNS: [&str; 10] = [
    "",
    "Pane",
    "Prompt tokens",
    "Reused",
    "First token",
    "Prefill",
    "Decode",
    "Tokens",
    MEAN_SURPRISE,
    "Stop reason",
];

/// Draws one row per pane that has text.
fn panes_ui(ui: &mut Ui, panes: &Panes) {
    let grid = Grid::new("panes").spacing([20.0, 4.0]);
    grid.min_col_width(SMALL_BADGE)
        .min_row_height(ROW)
        .show(ui, |ui| {
            let has_one_tokenizer = has_one_tokenizer(panes);
            for column in COLUMNS {
                let is_per_token = column == MEAN_SURPRISE && !has_one_tokenizer;
                heading_ui(
                    ui,
                    if is_per_token {
                        "Bits per character"
                    } else {
                        column
                    },
                );
            }
            let texts = panes.iter().filter_map(Pane::generation);
            let means: Vec<Arc<StepMeans>> = texts
                .map(|text| of_steps(ui.ctx(), "step means", text, StepMeans::of))
                .collect();
            let any_network = means.iter().any(|means| means.network_secs.is_some());
            if any_network {
                heading_ui(ui, "Network");
            }
            ui.end_row();
            let texts = panes
                .placed()
                .filter_map(|(place, pane)| Some((place, pane.generation()?)));
            for ((place, generation), means) in texts.zip(means) {
                badge(ui, place, SMALL_BADGE);
                let surprise = if has_one_tokenizer {
                    means.surprise_bits
                } else {
                    bits_per_character(ui.ctx(), generation)
                };
                for value in pane_row(generation, surprise) {
                    value_ui(ui, value);
                }
                if any_network {
                    let secs = means.network_secs;
                    let words = |secs: f64| format!("{:.1} ms/token", secs * 1e3);
                    value_ui(ui, secs.map_or_else(|| "–".to_owned(), words));
                }
                ui.end_row();
            }
        });
}

/// Draws the metrics of every text, one row per pane.
fn measures_ui(ui: &mut Ui, panes: &Panes, prices: Prices) {
    let grid = Grid::new("text metrics").spacing([14.0, 4.0]);
    grid.min_col_width(SMALL_BADGE)
        .min_row_height(ROW)
        .show(ui, |ui| {
            heading_ui(ui, "");
            let texts = || panes.iter().filter_map(Pane::text_metrics);
            let has_one_tokenizer = has_one_tokenizer(panes);
            for (name, ..) in rows_for(texts(), has_one_tokenizer) {
                heading_ui(ui, name);
            }
            if prices.are_set() {
                heading_ui(ui, "Cost");
            }
            ui.end_row();
            for (place, pane) in panes.placed() {
                let Some(metrics) = pane.text_metrics() else {
                    continue;
                };
                badge(ui, place, SMALL_BADGE);
                for (.., value) in rows_for(texts(), has_one_tokenizer) {
                    value_ui(ui, value(metrics));
                }
                if prices.are_set() {
                    value_ui(ui, cost_label(prices.cost(metrics)));
                }
                ui.end_row();
            }
        });
}

/// Shows what a shorter text would have saved, if prices are set.
fn saving_ui(ui: &mut Ui, panes: &Panes, prices: Prices) {
    let texts: Vec<_> = panes
        .placed()
        .filter_map(|(place, pane)| Some((place, pane.text_metrics()?)))
        .collect();
    if let Some(words) = saving_words(&texts, prices) {
        value_ui(ui, words);
    }
}

fn has_one_tokenizer(panes: &Panes) -> bool {
    !have_different_tokenizers(panes.iter().filter_map(Pane::generation))
}

/// Returns the cells of a pane's row, after its badge. The surprise is per token, or per character if
/// the panes have different tokenizers.
fn pane_row(generation: &Generation, surprise_bits: Option<f64>) -> [String; 9] {
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
    let surprise = surprise_bits.map_or_else(|| "–".to_owned(), |bits| format!("{bits:.2} bits"));
    let stop_reason = generation.finish_words();
    let stop_reason = stop_reason.unwrap_or_else(|| "Generating".to_owned());
    [
        generation.shown_name(),
        metrics.n_prompt.to_string(),
        reused.to_string(),
        first,
        speed(metrics.prefill_per_sec),
        speed(metrics.decode_per_sec),
        metrics.n_generated.to_string(),
        surprise,
        stop_reason,
    ]
}

/// Means over the steps of a text.
struct StepMeans {
    /// The mean of −log2(p), where p is the probability before the chain. `None` if one of them is
    /// unknown, or without steps.
    surprise_bits: Option<f64>,
    /// How long a server's responses took beyond its own compute time. `None` for a local model.
    network_secs: Option<f64>,
}

impl StepMeans {
    fn of(text: &Generation) -> Self {
        let n = text.steps.len();
        let bits = text.steps.iter();
        let bits: Option<f64> = bits.map(|step| step.trace.known_surprise_bits()).sum();
        let secs = text.steps.iter();
        let secs: Vec<f64> = secs.filter_map(|step| step.time.network_secs).collect();
        Self {
            surprise_bits: bits.filter(|_| n > 0).map(|bits| bits / n as f64),
            network_secs: (!secs.is_empty()).then(|| secs.iter().sum::<f64>() / secs.len() as f64),
        }
    }
}

/// Draws the candidates of the pinned step, or of the latest one.
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
        pane_letter(place),
        index + 1,
        generation.steps.len(),
        draw_label(step, generation.config.chain.selector)
    );
    cell_ui(
        ui,
        Face::SmallMedium.text(title).color(Theme::of(ui).text_1),
    );
    ui.add_space(4.0);
    let grid = Grid::new("candidates").spacing([20.0, 2.0]);
    grid.min_col_width(32.0).min_row_height(ROW).show(ui, |ui| {
        for column in ["Rank", "Token", "ID", "Before chain", "After chain"] {
            heading_ui(ui, column);
        }
        ui.end_row();
        let trace = &step.trace;
        for (index, candidate) in trace.raw.head.iter().enumerate() {
            let row = CandidateRow {
                rank: Some(index as u32 + 1),
                token: candidate.token,
                sampled: candidate.token == step.token,
                raw_prob: Some(candidate.prob),
                final_prob: trace.known_head_final(index),
            };
            candidate_ui(ui, &generation.vocabulary, row);
        }
        // The sampled token is always listed, however unlikely it was.
        if !trace.raw.head.iter().any(|c| c.token == step.token) {
            let row = CandidateRow {
                rank: trace.known_rank(),
                token: step.token,
                sampled: true,
                raw_prob: trace.known_raw_prob(),
                final_prob: trace.known_draw_final(),
            };
            candidate_ui(ui, &generation.vocabulary, row);
        }
    });
}

/// A row of the table of candidates.
#[derive(Clone, Copy)]
struct CandidateRow {
    /// Counted from 1, before the chain; `None` if the server did not name the token.
    rank: Option<u32>,
    token: TokenId,
    sampled: bool,
    /// Before the chain; `None` if the server did not report it.
    raw_prob: Option<f64>,
    final_prob: FinalProb,
}

/// Draws a candidate's row. The sampled token is set in a heavier weight.
fn candidate_ui(ui: &mut Ui, vocabulary: &Vocabulary, row: CandidateRow) {
    let theme = Theme::of(ui);
    let piece = vocabulary.piece(row.token).to_string();
    let visible = piece
        .replace('\n', "↵")
        .replace('\t', "⇥")
        .replace(' ', "·");
    let face = if row.sampled {
        Face::SmallMedium
    } else {
        Face::Small
    };
    let unknown = || "–".to_owned();
    let rank = row.rank.map(|rank| grouped(f64::from(rank)));
    value_ui(ui, rank.unwrap_or_else(unknown));
    cell_ui(ui, face.text(visible).color(theme.text_1));
    let id = row.token.to_string();
    cell_ui(ui, Face::Code.text(id).color(theme.text_2));
    value_ui(ui, row.raw_prob.map_or_else(unknown, percent));
    let final_prob = match row.final_prob {
        FinalProb::Kept(prob) => percent(prob),
        FinalProb::Cut => "cut".to_owned(),
        FinalProb::Unknown => unknown(),
    };
    value_ui(ui, final_prob);
    ui.end_row();
}

fn draw_label(step: &Step, selector: Selector) -> String {
    match step.trace.draw.coin {
        _ if step.trace.draw.is_by_hand() => "picked by hand".to_owned(),
        _ if step.trace.draw.is_given() => "given".to_owned(),
        _ if step.trace.draw.is_by_beams() => "beam search".to_owned(),
        _ if step.trace.draw.is_by_ratio() => "draft rule".to_owned(),
        _ if step.trace.draw.is_by_server() => "the server’s sampler".to_owned(),
        Some(coin) => format!("coin {coin:.3}"),
        None if selector.has_coin_per_token() => "a coin for each token".to_owned(),
        None => "the top token".to_owned(),
    }
}

/// Formats a probability as a percentage, with more decimals if it is small.
pub(super) fn percent(prob: f64) -> String {
    match prob * 100.0 {
        // A sum of probabilities can miss 1 by a rounding error.
        percent if percent >= 99.95 && prob <= 1.0 - 1e-9 => "> 99.9 %".to_owned(),
        percent if percent >= 10.0 => format!("{percent:.1} %"),
        percent if percent >= 0.01 => format!("{percent:.2} %"),
        _ => "< 0.01 %".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{StepMeans, pane_row, percent};
    use crate::generation::testing::generation;

    #[test]
    fn a_row_holds_the_metrics_of_a_pane() {
        let text = generation(&[(" a", 0.5), (" fox", 0.25), ("</s>", 0.5)]);
        let bits = StepMeans::of(&text).surprise_bits;
        let row = pane_row(&text, bits);
        assert_eq!(row[0], "Top-p");
        assert_eq!(row[1..4], ["3", "0", "20 ms"]);
        assert_eq!(row[4..7], ["150 tok/s", "400 tok/s", "3"]);
        assert_eq!(row[8], "End of text");
    }

    #[test]
    fn probabilities_keep_their_significant_digits() {
        for (prob, text) in [
            (1.0, "100.0 %"),
            (0.9996, "> 99.9 %"),
            (0.9994, "99.9 %"),
            (0.0591, "5.91 %"),
            (0.000_01, "< 0.01 %"),
        ] {
            assert_eq!(percent(prob), text);
        }
    }
}

//! Runs as JSON Lines: one object per step of each pane, with the columns of the CSV table.
//!
//! `pandas.read_json(path, lines=True)` reads it. A value that does not exist is `null`: the coin
//! of a step without one, the piece of a token that is not valid UTF-8, the surprise of an
//! impossible token.

use serde::Serialize;

use super::finish_date::finish_stamp;
use super::runs::runs;
use super::{FileFacts, has_turns_before, settings_words};
use crate::decoding::{GrammarReport, Picked, TokenId};
use crate::generation::{Generation, PieceKind, Step};

/// One step. The fields are the columns of the CSV table, in the same order.
#[derive(Serialize)]
struct Row<'a> {
    run: usize,
    model: &'a str,
    pane: &'a str,
    name: &'a str,
    settings: &'a str,
    seed: u64,
    /// Only in a file with conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<usize>,
    step: usize,
    token: TokenId,
    piece: Option<&'a str>,
    bytes: Option<String>,
    special: bool,
    raw_prob: Option<f64>,
    final_prob: Option<f64>,
    rank: Option<u32>,
    surprise_bits: Option<f64>,
    entropy_bits: Option<f64>,
    entropy_nats: Option<f64>,
    coin: Option<f64>,
    n_kept: Option<u32>,
    at_secs: f64,
    n_batch: usize,
    picked: Picked,
    n_legal: Option<u32>,
    distortion_bits: Option<f64>,
    unconstrained: Option<TokenId>,
    mask_secs: Option<f64>,
    second_model: Option<&'a str>,
    finished_at: Option<String>,
}

/// Renders the lines.
pub(super) fn render(panes: &[Option<&Generation>], facts: FileFacts) -> String {
    let mut lines = String::new();
    let has_turns = has_turns_before(panes);
    for (run_index, run) in runs(panes).iter().enumerate() {
        for (pane, generation) in &run.panes {
            for (number, turn) in (1..).zip(generation.turns()) {
                let settings = settings_words(turn);
                for (step_index, step) in facts.steps_of(turn) {
                    push(
                        &mut lines,
                        &Row {
                            run: run_index + 1,
                            pane,
                            settings: &settings,
                            turn: has_turns.then_some(number),
                            step: step_index + 1,
                            finished_at: facts.finished_at.and_then(finish_stamp),
                            ..Row::of(turn, step)
                        },
                    );
                }
            }
        }
    }
    lines
}

fn push(lines: &mut String, row: &Row<'_>) {
    // A row is made of strings and finite numbers, so it can always be written.
    lines.push_str(&serde_json::to_string(row).unwrap_or_default());
    lines.push('\n');
}

impl<'a> Row<'a> {
    fn of(generation: &'a Generation, step: &'a Step) -> Self {
        let trace = &step.trace;
        let entropy_nats = trace.known_entropy_nats();
        let report = trace.grammar.as_deref();
        let second = generation.second_model.as_deref();
        let piece = step.piece.as_str();
        let surprise_bits = trace.known_surprise_bits();
        Self {
            run: 0,
            model: &generation.model.name,
            pane: "",
            name: &generation.name,
            settings: "",
            seed: generation.config.seed,
            turn: None,
            step: 0,
            token: step.token,
            piece,
            bytes: piece.is_none().then(|| step.piece.to_string()),
            special: step.piece.kind == PieceKind::Special,
            raw_prob: trace.known_raw_prob(),
            final_prob: trace.known_final_prob(),
            rank: trace.known_rank(),
            surprise_bits: surprise_bits.filter(|bits| bits.is_finite()),
            entropy_bits: entropy_nats.map(|nats| nats / std::f64::consts::LN_2),
            entropy_nats,
            coin: trace.draw.coin,
            n_kept: trace.n_known_kept(),
            at_secs: step.time.at_secs,
            n_batch: step.time.n_batch,
            picked: trace.draw.picked,
            n_legal: report.map(GrammarReport::n_legal),
            distortion_bits: report.map(|report| report.distortion_bits(&trace.raw)),
            unconstrained: report.and_then(|report| report.unconstrained),
            mask_secs: step.time.mask_secs,
            second_model: second.map(|second| second.name.as_str()),
            finished_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FileFacts, render};
    use crate::export::csv;
    use crate::generation::Piece;
    use crate::generation::testing::generation_of;

    #[test]
    fn a_line_has_the_columns_of_the_table_in_the_same_order() {
        let text = generation_of(&[(Piece::text(" \"a\"\n"), 0.5), (Piece::text([0xFF]), 0.5)]);
        let lines = render(&[None, Some(&text)], FileFacts::default());
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 2);
        let mut from = 0;
        for column in csv::COLUMNS {
            let key = format!("\"{column}\":");
            let at = lines[0][from..].find(&key);
            from += at.unwrap_or_else(|| panic!("{column} in {}", lines[0]));
        }
        let rows: Vec<serde_json::Value> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(rows[0].as_object().unwrap().len(), csv::COLUMNS.len());
        assert_eq!(rows[0]["pane"], "B");
        assert_eq!(rows[0]["piece"], " \"a\"\n");
        assert_eq!(rows[1]["piece"], serde_json::Value::Null);
        assert_eq!(rows[1]["bytes"], "FF");
        assert_eq!(rows[1]["picked"], "by_chain");
    }
}

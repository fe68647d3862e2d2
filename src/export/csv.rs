//! Runs as a CSV table: one row per step of each pane, quoted according to RFC 4180.
//!
//! Panes with the same `run` continue the same prompt with the same model; `step` counts from 1.
//! `settings` is the pane's description in the `--pane` grammar. If a piece is not valid UTF-8,
//! `piece` is empty and `bytes` contains it in hexadecimal.

use super::runs::runs;
use super::settings_words;
use crate::generation::{Generation, PieceKind, Step};

const COLUMNS: [&str; 20] = [
    "run",
    "model",
    "pane",
    "name",
    "settings",
    "seed",
    "step",
    "token",
    "piece",
    "bytes",
    "special",
    "raw_prob",
    "final_prob",
    "rank",
    "entropy_nats",
    "coin",
    "n_kept",
    "at_secs",
    "n_batch",
    "picked",
];

/// Renders the table with its header row.
pub(super) fn render(generations: &[&Generation]) -> String {
    let mut table = String::new();
    push_row(&mut table, COLUMNS.map(str::to_owned));
    for (run_index, run) in runs(generations).iter().enumerate() {
        for (pane, generation) in &run.panes {
            let settings = settings_words(generation);
            for (step_index, step) in generation.steps.iter().enumerate() {
                let numbers = [run_index + 1, *pane, step_index + 1];
                push_row(&mut table, row(numbers, generation, &settings, step));
            }
        }
    }
    table
}

fn row(numbers: [usize; 3], generation: &Generation, settings: &str, step: &Step) -> [String; 20] {
    let [run, pane, number] = numbers;
    let trace = &step.trace;
    let bytes = match step.piece.as_str() {
        Some(_) => String::new(),
        None => step.piece.to_string(),
    };
    let picked = if trace.draw.is_by_hand() {
        "by_hand"
    } else {
        "by_chain"
    };
    [
        run.to_string(),
        generation.model.name.clone(),
        pane.to_string(),
        generation.name.clone(),
        settings.to_owned(),
        generation.config.seed.to_string(),
        number.to_string(),
        step.token.to_string(),
        step.piece.as_str().unwrap_or_default().to_owned(),
        bytes,
        (step.piece.kind == PieceKind::Special).to_string(),
        trace.raw_prob.to_string(),
        trace.draw.prob.to_string(),
        trace.raw_rank.to_string(),
        trace.raw.entropy_nats.to_string(),
        trace
            .draw
            .coin
            .map(|coin| coin.to_string())
            .unwrap_or_default(),
        trace.draw.n_kept.to_string(),
        step.time.at_secs.to_string(),
        step.time.n_batch.to_string(),
        picked.to_owned(),
    ]
}

fn push_row(table: &mut String, fields: [String; 20]) {
    table.push_str(&fields.map(|field| quoted(&field)).join(","));
    table.push_str("\r\n");
}

/// Quotes a field if RFC 4180 requires it. Fields with leading or trailing spaces are quoted too,
/// because some readers trim unquoted fields.
fn quoted(field: &str) -> String {
    let must_quote =
        field.contains([',', '"', '\r', '\n']) || field.starts_with(' ') || field.ends_with(' ');
    if must_quote {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

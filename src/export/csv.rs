//! A run as a table: one row for each step of each pane, quoted as RFC 4180 asks.
//!
//! Panes with the same `run` continue the same prompt by the same model; `step` counts from 1.
//! The `settings` are the words that describe a pane on the command line.
//! A piece that is no characters leaves `piece` empty and stands in `bytes`, in hexadecimal.

use super::runs::runs;
use super::settings_words;
use crate::generation::{Generation, PieceKind, Step};

const COLUMNS: [&str; 19] = [
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
];

/// The table with its head.
pub(super) fn render(generations: &[&Generation]) -> String {
    let mut table = String::new();
    push_row(&mut table, COLUMNS.map(str::to_owned));
    for (run_index, run) in runs(generations).iter().enumerate() {
        for (pane, generation) in &run.panes {
            let settings = settings_words(generation);
            for (step_index, step) in generation.steps.iter().enumerate() {
                let place = [run_index + 1, *pane, step_index + 1];
                push_row(&mut table, row(place, generation, &settings, step));
            }
        }
    }
    table
}

fn row(place: [usize; 3], generation: &Generation, settings: &str, step: &Step) -> [String; 19] {
    let [run, pane, number] = place;
    let trace = &step.trace;
    let bytes = match step.piece.as_str() {
        Some(_) => String::new(),
        None => step.piece.to_string(),
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
    ]
}

fn push_row(table: &mut String, fields: [String; 19]) {
    table.push_str(&fields.map(|field| quoted(&field)).join(","));
    table.push_str("\r\n");
}

/// A field that means the same to every reader of RFC 4180. Spaces at an end are quoted too, since
/// some readers trim what is bare.
fn quoted(field: &str) -> String {
    let must_quote =
        field.contains([',', '"', '\r', '\n']) || field.starts_with(' ') || field.ends_with(' ');
    if must_quote {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

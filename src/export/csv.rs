//! Runs as a CSV table: one row per step of each pane, quoted according to RFC 4180.
//!
//! Panes with the same `run` continue the same prompt with the same model; `step` counts from 1.
//! A unit follows the name of its quantity: entropy is in bits as on screen, and in nats as in the
//! run file. `settings` is the pane's description in the `--pane` grammar. If a piece is not valid
//! UTF-8, `piece` is empty and `bytes` contains it in hexadecimal.
//!
//! If a text follows others in a conversation, each row has the number of its `turn`, from 1.
//!
//! The pieces of a text, joined, are the text. A table for Excel begins with a byte order mark, without
//! which Excel misreads characters beyond ASCII, and in it an apostrophe marks as text what a spreadsheet
//! would take for a formula.

use serde::{Deserialize, Serialize};

use super::finish_date::finish_stamp;
use super::runs::runs;
use super::{FileFacts, has_turns_before, settings_words};
use crate::decoding::{GrammarReport, Picked};
use crate::generation::{Generation, PieceKind, Step};

pub(super) const COLUMNS: [&str; 28] = [
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
    "surprise_bits",
    "entropy_bits",
    "entropy_nats",
    "coin",
    "n_kept",
    "at_secs",
    "n_batch",
    "picked",
    "n_legal",
    "distortion_bits",
    "unconstrained",
    "mask_secs",
    "second_model",
    "finished_at",
];

/// The program that a CSV table is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CsvReader {
    /// One that takes a table as it stands.
    #[default]
    Any,
    /// Excel, which must be told that a table is UTF-8 and which cells are not formulas.
    Excel,
}

impl CsvReader {
    /// Returns a table without formulas as this program reads it.
    pub fn table(self, table: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Any => table,
            Self::Excel => [MARK.as_bytes(), &table].concat(),
        }
    }
}

/// The UTF-8 byte order mark, without which Excel does not recognize the encoding.
const MARK: &str = "\u{FEFF}";

/// The column of the turn, and the index of the column that it precedes.
pub(super) const TURN: (&str, usize) = ("turn", 6);

/// Renders the table with its header row.
pub(super) fn render(panes: &[Option<&Generation>], facts: FileFacts) -> Vec<u8> {
    let mut table = Table {
        text: String::new(),
        has_turns: has_turns_before(panes),
        facts,
    };
    table.push(TURN.0.to_owned(), COLUMNS.map(str::to_owned));
    for (run_index, run) in runs(panes).iter().enumerate() {
        for (pane, generation) in &run.panes {
            for (number, turn) in (1..).zip(generation.turns()) {
                let place = RowPlace {
                    run: run_index + 1,
                    turn: number,
                    pane,
                    settings: &settings_words(turn),
                };
                table.push_text(&place, turn);
            }
        }
    }
    facts.csv_reader.table(table.text.into_bytes())
}

struct Table {
    text: String,
    has_turns: bool,
    facts: FileFacts,
}

impl Table {
    fn push_text(&mut self, place: &RowPlace<'_>, text: &Generation) {
        for (index, step) in self.facts.steps_of(text) {
            let fields = row(place, text, (index, step), self.facts);
            self.push(place.turn.to_string(), fields);
        }
    }

    /// Appends a row. The turn has a column only in a table of conversations.
    fn push(&mut self, turn: String, fields: [String; 28]) {
        let mut fields = Vec::from(fields);
        if self.has_turns {
            fields.insert(TURN.1, turn);
        }
        push_row(&mut self.text, fields);
    }
}

/// What the rows of a text say besides its steps.
struct RowPlace<'a> {
    /// From 1, as the turn.
    run: usize,
    turn: usize,
    pane: &'a str,
    settings: &'a str,
}

fn row(
    place: &RowPlace<'_>,
    generation: &Generation,
    (index, step): (usize, &Step),
    facts: FileFacts,
) -> [String; 28] {
    let as_text = |text: &str| match facts.csv_reader {
        CsvReader::Any => text.to_owned(),
        CsvReader::Excel => as_text(text),
    };
    let trace = &step.trace;
    let entropy_nats = trace.known_entropy_nats();
    let report = trace.grammar.as_deref();
    let second = generation.second_model.as_deref();
    let bytes = match step.piece.as_str() {
        Some(_) => String::new(),
        None => step.piece.to_string(),
    };
    let picked = match trace.draw.picked {
        Picked::ByChain => "by_chain",
        Picked::ByHand => "by_hand",
        Picked::Given => "given",
        Picked::ByBeams => "by_beams",
        Picked::ByRatio => "by_ratio",
        Picked::ByServer => "by_server",
    };
    [
        place.run.to_string(),
        as_text(&generation.model.name),
        place.pane.to_owned(),
        as_text(&generation.name),
        as_text(place.settings),
        generation.config.seed.to_string(),
        (index + 1).to_string(),
        step.token.to_string(),
        as_text(step.piece.as_str().unwrap_or_default()),
        bytes,
        (step.piece.kind == PieceKind::Special).to_string(),
        text_of(trace.known_raw_prob()),
        text_of(trace.known_final_prob()),
        text_of(trace.known_rank()),
        text_of(trace.known_surprise_bits().filter(|bits| bits.is_finite())),
        text_of(entropy_nats.map(|nats| nats / std::f64::consts::LN_2)),
        text_of(entropy_nats),
        text_of(trace.draw.coin),
        text_of(trace.n_known_kept()),
        step.time.at_secs.to_string(),
        step.time.n_batch.to_string(),
        picked.to_owned(),
        text_of(report.map(GrammarReport::n_legal)),
        text_of(report.map(|report| report.distortion_bits(&trace.raw))),
        text_of(report.and_then(|report| report.unconstrained)),
        text_of(step.time.mask_secs),
        second.map_or_else(String::new, |second| as_text(&second.name)),
        text_of(facts.finished_at.and_then(finish_stamp)),
    ]
}

/// Returns an empty field for a value that does not exist.
fn text_of(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Appends a row to a table.
pub(crate) fn push_row(table: &mut String, fields: impl IntoIterator<Item = String>) {
    let fields = fields.into_iter().map(|field| quoted(&field));
    table.push_str(&fields.collect::<Vec<_>>().join(","));
    table.push_str("\r\n");
}

/// Marks a text that begins like a formula as text. Texts come from models and from files, and a
/// formula can read other cells and send their contents elsewhere.
pub(crate) fn as_text(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
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

#[cfg(test)]
mod tests {
    use super::{CsvReader, FileFacts, render};
    use crate::generation::testing::generation;

    fn table(csv_reader: CsvReader) -> String {
        let mut pane = generation(&[("=1+1", 0.5), ("-", 0.25), (" -x", 0.5), ("\tx", 0.5)]);
        pane.name = "@SUM(A1:A9)".to_owned();
        let facts = FileFacts {
            csv_reader,
            ..FileFacts::default()
        };
        String::from_utf8(render(&[Some(&pane)], facts)).unwrap()
    }

    #[test]
    fn joined_pieces_are_the_text() {
        let table = table(CsvReader::Any);
        assert!(table.starts_with("run,"), "{table}");
        for cell in [",=1+1,", ",-,", ",\" -x\",", ",\tx,", ",@SUM(A1:A9),"] {
            assert!(table.contains(cell), "{cell:?} in {table}");
        }
    }

    #[test]
    fn no_text_of_a_table_for_excel_is_a_formula() {
        let table = table(CsvReader::Excel);
        assert!(table.starts_with("\u{FEFF}run,"), "{table}");
        for cell in [",'=1+1,", ",'-,", ",\" -x\",", ",'\tx,", ",'@SUM(A1:A9),"] {
            assert!(table.contains(cell), "{cell:?} in {table}");
        }
    }
}

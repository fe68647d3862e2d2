//! Texts as tables with one row per text: CSV, quoted according to RFC 4180, and JSON Lines.

use serde::Serialize;

use super::csv::{as_text, push_row};
use super::settings_words;
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;

const COLUMNS: [&str; 11] = [
    "prompt_number",
    "prompt",
    "pane",
    "name",
    "settings",
    "seed",
    "n_tokens",
    "finish",
    "grammar_complete",
    "surprise_bits",
    "text",
];

/// One text. The fields are the columns, in the same order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextRow {
    /// The number of its prompt, from 1.
    pub prompt_number: usize,
    pub prompt: String,
    /// The letter of its pane.
    pub pane: String,
    pub name: String,
    /// The settings in the `--pane` grammar.
    pub settings: String,
    pub seed: u64,
    pub n_tokens: usize,
    /// Why it ended.
    pub finish: String,
    /// Whether its grammar accepts it. `None` without a grammar.
    pub grammar_complete: Option<bool>,
    /// The mean surprise of its tokens before the chain. `None` without tokens.
    pub surprise_bits: Option<f64>,
    pub text: String,
}

impl TextRow {
    /// Returns the row of a text that continues the prompt with this number, from 1, in the pane at
    /// this index.
    pub fn of(text: &Generation, prompt_number: usize, place: usize) -> Self {
        let n_tokens = text.steps.len();
        let steps = text.steps.iter();
        let bits: Option<f64> = steps.map(|step| step.trace.known_surprise_bits()).sum();
        let finish = text.finish_words();
        Self {
            prompt_number,
            prompt: text.prompt.text.clone(),
            pane: pane_letter(place),
            name: text.name.clone(),
            settings: settings_words(text),
            seed: text.config.seed,
            n_tokens,
            finish: finish.unwrap_or_default(),
            grammar_complete: text.grammar_complete,
            // A sum of zeros must not be shown as −0.
            surprise_bits: bits
                .filter(|_| n_tokens > 0)
                .map(|bits| bits / n_tokens as f64),
            text: text.text(),
        }
    }
}

/// Renders the rows as CSV with a header row.
pub fn texts_csv(rows: &[TextRow]) -> Vec<u8> {
    let mut table = String::new();
    push_row(&mut table, COLUMNS.map(str::to_owned));
    for row in rows {
        let bits = row.surprise_bits.map(|bits| bits.to_string());
        let fields = [
            row.prompt_number.to_string(),
            as_text(&row.prompt),
            row.pane.clone(),
            as_text(&row.name),
            as_text(&row.settings),
            row.seed.to_string(),
            row.n_tokens.to_string(),
            row.finish.clone(),
            row.grammar_complete
                .map_or_else(String::new, |complete| complete.to_string()),
            bits.unwrap_or_default(),
            as_text(&row.text),
        ];
        push_row(&mut table, fields);
    }
    table.into_bytes()
}

/// Renders one JSON object per row.
pub fn texts_jsonl(rows: &[TextRow]) -> Vec<u8> {
    let mut lines = Vec::new();
    for row in rows {
        // Strings and numbers are always valid JSON.
        serde_json::to_writer(&mut lines, row).ok();
        lines.push(b'\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{TextRow, texts_csv, texts_jsonl};
    use crate::generation::testing::generation;

    #[test]
    fn every_text_is_a_row_of_both_formats() {
        let text = generation(&[(" a", 0.5), (", \"fox\"", 0.5)]);
        let rows = [TextRow::of(&text, 3, 1)];
        let table = String::from_utf8(texts_csv(&rows)).unwrap();
        let lines: Vec<&str> = table.trim_end().split("\r\n").collect();
        assert!(lines[0].starts_with("prompt_number,prompt,pane"), "{table}");
        let start = "3,Once there was,B,Top-p,T 0.7,42,2,Token limit,,";
        assert!(lines[1].starts_with(start), "{table}");
        assert!(lines[1].ends_with(",\" a, \"\"fox\"\"\""), "{table}");
        let json: serde_json::Value = serde_json::from_slice(&texts_jsonl(&rows)).unwrap();
        assert_eq!(json["text"], " a, \"fox\"");
        assert_eq!(json["prompt_number"], 3);
        assert_eq!(json["surprise_bits"].as_f64(), rows[0].surprise_bits);
    }
}

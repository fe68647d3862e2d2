//! Several prompts for `quartet generate`: each is continued in all panes, and the texts become the
//! rows of a table.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::failure::Failure;
use super::generate::report_failures;
use super::outputs::{OutputFile, check_outputs, write_outputs};
use super::pane_run::{Console, Engine, Pane};
use crate::export::{TextRow, texts_csv, texts_jsonl};
use crate::generation::formatting::without_final_line_break;
use crate::generation::{Continuation, GenerationId, PromptRecord, PromptText};
use crate::worker::{PaneRequest, Request};

/// How many characters of a prompt and of a text the printed table shows.
const N_PROMPT: usize = 28;
const N_TEXT: usize = 60;

/// The arguments for lists of prompts and the tables of their texts.
#[derive(Debug, Clone, Args)]
pub(super) struct TableArguments {
    /// A file with one prompt per line; `-` reads standard input. The texts are printed as a table
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "json", "export", "compare"])]
    pub prompts: Option<PathBuf>,

    /// With --prompts, write one row per text to this file; `-` writes them to standard output
    /// instead of the table
    #[arg(long, value_name = "FILE", requires = "prompts")]
    csv: Option<PathBuf>,

    /// With --prompts, write one JSON object per text to this file; `-` writes them to standard
    /// output instead of the table
    #[arg(long, value_name = "FILE", requires = "prompts")]
    jsonl: Option<PathBuf>,
}

impl TableArguments {
    /// Fails if a file is requested without `--prompts`. With `--prompt`, which excludes
    /// `--prompts`, clap does not enforce `requires`.
    pub(super) fn validate(&self) -> Result<(), Failure> {
        let files = [("--csv", &self.csv), ("--jsonl", &self.jsonl)];
        match files.iter().find(|(_, path)| path.is_some()) {
            Some((option, _)) if self.prompts.is_none() => Err(Failure::usage(format!(
                "{option} needs --prompts; for a single prompt, use --json or --export"
            ))),
            _ => Ok(()),
        }
    }

    /// Fails early if the output files can't be written, before the model is loaded.
    pub(super) fn check_output_paths(&self) -> Result<(), Failure> {
        check_outputs([
            ("--csv", self.csv.as_deref()),
            ("--jsonl", self.jsonl.as_deref()),
        ])
    }

    /// Prints the table and writes the files. A failure of one output does not prevent the others.
    pub(super) fn output(&self, rows: &[TextRow]) -> Result<(), Failure> {
        let outputs = [
            OutputFile {
                path: self.csv.as_deref(),
                render: &|| texts_csv(rows),
            },
            OutputFile {
                path: self.jsonl.as_deref(),
                render: &|| texts_jsonl(rows),
            },
        ];
        write_outputs(&outputs, || table(rows), None)
    }
}

/// Continues each prompt in all panes, one prompt after the other, so that only the rows stay in
/// memory. If a signal arrives, returns the rows so far. Also returns whether all texts succeeded.
pub(super) fn run(
    mut engine: Engine,
    prompts: &[PromptText],
    panes: &[Pane],
    console: &mut Console,
) -> (Vec<TextRow>, bool) {
    let mut rows = Vec::new();
    let mut succeeded = true;
    for (number, prompt) in (1..).zip(prompts) {
        if console.interrupt.is_raised() {
            break;
        }
        let n = prompts.len();
        console
            .progress
            .milestone(&format!("Prompt {number} of {n}"));
        let record = Arc::new(PromptRecord {
            text: prompt.text.clone(),
            ..PromptRecord::default()
        });
        let generations = panes.iter().map(|pane| engine.new_text(pane, &record));
        let generations = generations.collect();
        let texts = engine.run(vec![request(prompt, panes)], generations, console);
        succeeded &= report_failures(&texts.iter().collect::<Vec<_>>());
        let texts = texts.iter().enumerate();
        rows.extend(texts.map(|(place, text)| TextRow::of(text, number, place)));
    }
    (rows, succeeded)
}

fn request(prompt: &PromptText, panes: &[Pane]) -> Request {
    let panes = (0..)
        .map(GenerationId)
        .zip(panes)
        .map(|(id, pane)| PaneRequest {
            id,
            config: pane.config.clone(),
            model: pane.model.clone(),
            continuation: Continuation::default(),
        });
    Request::Generate {
        prompt: prompt.clone(),
        panes: panes.collect(),
        n_detail_bytes: 0,
    }
}

/// Formats one line per text: its prompt, pane, number of tokens, finish reason and beginning.
fn table(rows: &[TextRow]) -> String {
    let heads = ["#", "prompt", "pane", "tokens", "end", "text"].map(str::to_owned);
    let mut lines = vec![heads];
    lines.extend(rows.iter().map(|row| {
        [
            row.prompt_number.to_string(),
            beginning(&row.prompt, N_PROMPT),
            format!("{} {}", row.pane, row.name),
            row.n_tokens.to_string(),
            row.finish.clone(),
            beginning(&row.text, N_TEXT),
        ]
    }));
    let mut widths = [0; 6];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut table = String::new();
    for line in &lines {
        let cells = line.iter().zip(widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            0 | 3 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// Returns the beginning of a text on one line, with "…" if it was cut.
fn beginning(text: &str, n_max: usize) -> String {
    let text = without_final_line_break(text);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(n_max) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::export::TextRow;
    use crate::generation::testing::generation;

    #[test]
    fn a_table_shows_the_beginning_of_each_text_on_one_line() {
        let mut text = generation(&[(" a", 0.5), ("\n\n", 0.5), (" fox", 0.5)]);
        text.name = "Greedy".to_owned();
        let mut row = TextRow::of(&text, 1, 0);
        row.prompt = "A prompt that is much too long for its column".to_owned();
        let found = table(&[row]);
        let expected = "#  prompt                         pane      tokens  end          text\n1  A prompt that is much too lo…  A Greedy       3  Token limit  a fox\n";
        assert_eq!(found, expected);
    }
}

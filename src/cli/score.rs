//! `quartet score`: measures how well a model predicts a given text, token by token, and which of
//! its tokens the settings could not have generated.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::compute::ComputeArguments;
use super::console;
use super::count::{N_MAX_TOKENS, count};
use super::export_style::ExportStyleArguments;
use super::failure::Failure;
use super::files::{
    NewFolder, check_file, export_run, json_file, prepare_export, run_file, write_file,
};
use super::generate::{is_aborted, report_failures};
use super::given_answers::{given_answers, score_answers};
use super::interrupt::Interrupt;
use super::model::{DraftModelArgument, ModelArgument};
use super::outputs::report_error;
use super::pane_run::{Console, Engine, Pane, Task};
use super::panes::pane_settings;
use super::progress::Progress;
use super::text_input::text_of;
use super::text_output::{TextOutput, error_of};
use crate::analysis::{GivenConversation, JoinedTurns, TextScore, have_different_tokenizers};
use crate::generation::formatting::{counted, grouped, pane_letter, quoted};
use crate::generation::{Generation, GenerationConfig, Limits, PaneSettings, Step};
use crate::interop::GRAMMAR;
use crate::state::unix_time_secs;

/// The arguments of `quartet score`.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR.as_str())]
pub(super) struct Arguments {
    /// The text to score; `-` reads it from standard input. A final line break is dropped
    #[arg(value_name = "FILE", required_unless_present = "messages")]
    file: Option<PathBuf>,

    /// Score the answers in this file of messages, as for OpenAI’s API, each after the messages before
    /// it. Only the answers are scored, up to the token that ends each
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "first"])]
    messages: Option<PathBuf>,

    /// Score only the first N tokens of the text, including the first, which is not predicted
    #[arg(long, value_name = "N", value_parser = count::<usize>(1..=N_MAX_TOKENS))]
    first: Option<usize>,

    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    draft_model: DraftModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    /// Settings that may have generated the text, as described below; repeat for more panes. The
    /// default is four panes: greedy, pure sampling, top-k 40, and top-p 0.9 at temperature 0.7
    #[arg(long = "pane", value_name = "SETTINGS")]
    panes: Vec<String>,

    /// Write the full record to this file; `-` writes it to standard output instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Export the scored text to this folder, or to an archive if the name ends in .zip, in every
    /// format, with its plots
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,

    #[command(flatten)]
    style: ExportStyleArguments,
}

/// Runs `quartet score`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let panes = arguments.panes()?;
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.check_output_paths().map_err(Failure::run)?;
    let given = arguments.given()?;
    let source = arguments.model.source();
    let mut console = Console {
        progress: Progress::new(),
        texts: TextOutput::off(),
        interrupt: Interrupt::catch(),
    };
    let mut engine = Engine::open(source, arguments.compute, &mut console)?;
    arguments.draft_model.load(&mut engine, &mut console)?;
    let texts = match given {
        Given::Text(task) => engine.run_task(*task, &panes, &mut console),
        Given::Answers(given) => score_answers(given, &mut engine, &panes, &mut console),
    };
    let limited = |mut text: Generation| {
        text.config.limits.max_new_tokens = text.steps.len();
        text
    };
    let texts: Vec<Generation> = texts.into_iter().map(limited).collect();
    arguments.output(&texts.iter().collect::<Vec<_>>())?;
    if console.interrupt.is_raised() {
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// What is scored.
enum Given {
    Text(Box<Task>),
    Answers(GivenConversation),
}

impl Arguments {
    fn given(&self) -> Result<Given, Failure> {
        if let Some(path) = &self.messages {
            return given_answers(path).map(Given::Answers);
        }
        let path = self.file.as_deref().unwrap_or_else(|| Path::new("-"));
        Ok(Given::Text(Box::new(Task::Score {
            text: text_of(path, "the text")?,
            n_first: self.first,
        })))
    }

    fn panes(&self) -> Result<Vec<Pane>, Failure> {
        let pane = |settings: PaneSettings| Pane {
            model: None,
            name: settings.name,
            config: GenerationConfig {
                chain: settings.chain,
                seed: settings.seed.unwrap_or(GenerationConfig::DEFAULT_SEED),
                limits: Limits::default(),
            },
        };
        Ok(pane_settings(&self.panes)?.into_iter().map(pane).collect())
    }

    /// Fails early if the output files can't be written, before the model is loaded.
    fn check_output_paths(&self) -> Result<Option<NewFolder>, String> {
        let export = self.export.as_deref();
        let new = export.map(|path| prepare_export(path, self.panes.len()));
        json_file(self.json.as_deref()).map_or(Ok(()), check_file)?;
        Ok(new.transpose()?.flatten())
    }

    /// Names the option that shortens a text that is too long.
    fn hint(&self, texts: &[&Generation]) -> Option<String> {
        let text = texts.first()?;
        let is_long = error_of(text)?.contains("the model reads at most");
        let n_max = text.model.n_context;
        (is_long && self.first.is_none_or(|first| first > n_max))
            .then(|| format!("use --first {n_max} to score only its beginning"))
    }

    /// Prints the table and writes the files. A failure of one output does not prevent the others.
    fn output(&self, texts: &[&Generation]) -> Result<(), Failure> {
        let mut succeeded = report_failures(texts);
        if let Some(hint) = self.hint(texts) {
            console::note(&hint);
        }
        if texts.iter().all(|text| is_aborted(text)) {
            return if succeeded {
                Ok(())
            } else {
                Err(Failure::Reported)
            };
        }
        let finished_at = unix_time_secs();
        let json_file = json_file(self.json.as_deref());
        let printed = if self.json.is_some() && json_file.is_none() {
            console::print(&run_file(texts, finished_at))
        } else {
            let joined: Vec<JoinedTurns> = texts.iter().copied().map(JoinedTurns::of).collect();
            let joined: Vec<&Generation> = joined.iter().map(|turns| &turns.text).collect();
            console::print(report(&joined).as_bytes())
        };
        if let Some(path) = json_file {
            succeeded &= report_error(&write_file(path, &run_file(texts, finished_at)));
        }
        if let Some(path) = &self.export {
            succeeded &= report_error(&export_run(path, texts, finished_at, self.style));
        }
        printed.and(if succeeded {
            Ok(())
        } else {
            Err(Failure::Reported)
        })
    }
}

/// Formats the text's figures, what each pane's settings cut, and a row for each token. If the
/// figures differ, because of guidance, each pane has its own.
fn report(texts: &[&Generation]) -> String {
    let scores: Vec<TextScore> = texts.iter().map(|text| TextScore::of(text)).collect();
    // A pane that failed has no tokens.
    let scored = scores.iter().filter(|score| score.n_tokens > 0);
    let has_one_tokenizer = !have_different_tokenizers(texts.iter().copied());
    let figures = |score| figures(score, has_one_tokenizer);
    let mut all_figures: Vec<String> = scored.map(figures).collect();
    all_figures.dedup();
    let mut report = String::new();
    let differ = all_figures.len() > 1;
    // Writing to a string cannot fail.
    if let Some(shared) = all_figures.first().filter(|_| !differ) {
        writeln!(report, "{shared}").ok();
    }
    for (place, (text, score)) in texts.iter().zip(&scores).enumerate() {
        let (letter, words) = (pane_letter(place), score.cut_words());
        let settings = PaneSettings::from(text.config.chain.clone());
        writeln!(report, "{letter}  {settings}: {words}").ok();
        if differ && score.n_tokens > 0 {
            writeln!(report, "   {}", figures(score)).ok();
        }
    }
    report.push('\n');
    let shown = texts.iter().position(|text| !text.steps.is_empty());
    let shown = shown.unwrap_or_default();
    if differ {
        writeln!(report, "Token by token in pane {}", pane_letter(shown)).ok();
    }
    report.push_str(&table(texts, shown));
    report
}

/// Formats the figures: "60 tokens · 312 bytes · perplexity 37.2105 · 5.2176 bits per token · …". Those
/// per token are left out beside texts with another tokenizer.
fn figures(score: &TextScore, has_one_tokenizer: bool) -> String {
    let mut parts = vec![
        counted(score.n_tokens, "token"),
        counted(score.n_bytes, "byte"),
    ];
    let unit = |value: Option<f64>, name: &str| Some(format!("{:.4} {name}", value?));
    if has_one_tokenizer {
        let perplexity = score.perplexity();
        parts.extend(perplexity.map(|value| format!("perplexity {value:.4}")));
        parts.extend(unit(score.bits_per_token(), "bits per token"));
    }
    parts.extend(unit(score.bits_per_byte(), "bits per byte"));
    parts.join(" · ")
}

/// Formats one row per token: its number, text, probability, rank, surprise and entropy in the shown
/// pane, and the panes that could not have generated it.
fn table(texts: &[&Generation], shown: usize) -> String {
    let mut rows = vec![
        [
            "#",
            "token",
            "probability",
            "rank",
            "surprise",
            "entropy",
            "cut in",
        ]
        .map(str::to_owned),
    ];
    let steps = texts.get(shown).into_iter().flat_map(|text| &text.steps);
    rows.extend(steps.enumerate().map(|(index, step)| {
        let cut_in = (0..).zip(texts).filter(|(_, text)| {
            let step = text.steps.get(index);
            step.is_some_and(|step| !step.trace.draw.was_possible())
        });
        let letters = cut_in.map(|(place, _)| pane_letter(place));
        row(index, step, letters.collect::<Vec<_>>().join(" "))
    }));
    let mut widths = [0; 7];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut table = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            1 | 6 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

fn row(index: usize, step: &Step, cut_in: String) -> [String; 7] {
    let trace = &step.trace;
    let entropy_bits = trace.known_entropy_nats().unwrap_or(f64::NAN) / std::f64::consts::LN_2;
    [
        (index + 1).to_string(),
        quoted(&step.piece),
        percent(trace.raw_prob),
        grouped(f64::from(trace.raw_rank)),
        // A certain token has a surprise of 0, not of −0.
        format!("{:.2} bits", 0.0 - trace.raw_prob.log2()),
        format!("{entropy_bits:.2} bits"),
        cut_in,
    ]
}

/// Formats a probability with three significant digits: "41.2 %", "0.0312 %".
fn percent(prob: f64) -> String {
    let percent = prob * 100.0;
    let has_three = |decimals: &u8| percent * 10_f64.powi((*decimals).into()) >= 99.95;
    let smallest = if percent > 0.0 { 9 } else { 0 };
    let decimals = usize::from((0..9).find(has_three).unwrap_or(smallest));
    format!("{percent:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use super::{percent, report};
    use crate::generation::testing::scored;

    #[test]
    fn a_report_has_the_figures_the_cuts_and_a_row_per_token() {
        let pieces = [(" the", 0.5), (" fox", 0.125)];
        let texts = [scored(&pieces, "sample"), scored(&pieces, "greedy")];
        let report = report(&texts.iter().collect::<Vec<_>>());
        let lines: Vec<&str> = report.lines().collect();
        let figures =
            "2 tokens · 8 bytes · perplexity 4.0000 · 2.0000 bits per token · 0.5000 bits per byte";
        assert_eq!(lines[0], figures);
        assert_eq!(
            lines[1],
            "A  sample: All 2 tokens could have been generated"
        );
        assert!(
            lines[2].starts_with("B  greedy: 1 of 2 tokens could not have been generated"),
            "{report}"
        );
        assert_eq!(lines.len(), 7);
        assert!(
            lines[6].contains("‘fox’") && lines[6].ends_with('B'),
            "{report}"
        );
    }

    #[test]
    fn panes_with_different_figures_have_their_own() {
        let texts = [
            scored(&[(" the", 0.5)], "sample"),
            scored(&[(" the", 0.25)], "sample"),
        ];
        let report = report(&texts.iter().collect::<Vec<_>>());
        let lines: Vec<&str> = report.lines().collect();
        let unit = "bits per token";
        for (line, words) in [
            (
                0,
                "A  sample: The only token could have been generated".to_owned(),
            ),
            (
                1,
                format!(
                    "   1 token · 4 bytes · perplexity 2.0000 · 1.0000 {unit} · 0.2500 bits per byte"
                ),
            ),
            (
                2,
                "B  sample: The only token could have been generated".to_owned(),
            ),
            (
                3,
                format!(
                    "   1 token · 4 bytes · perplexity 4.0000 · 2.0000 {unit} · 0.5000 bits per byte"
                ),
            ),
            (5, "Token by token in pane A".to_owned()),
        ] {
            assert_eq!(lines[line], words);
        }
        assert_eq!(lines.len(), 8, "{report}");
    }

    #[test]
    fn probabilities_have_three_digits() {
        for (prob, shown) in [
            (1.0, "100 %"),
            (0.4123, "41.2 %"),
            (0.000_312, "0.0312 %"),
            (0.0, "0 %"),
        ] {
            assert_eq!(percent(prob), shown);
        }
    }
}

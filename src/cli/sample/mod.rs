//! `quartet sample`: runs a chain over given logits, without a model, and shows every stage.

mod draws;
mod rows;
mod table;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::console;
use super::count::{N_MAX_TOKENS, count};
use super::failure::Failure;
use super::files::{check_file, json_file, write_file};
use super::panes::pane_settings;
use super::progress::Progress;
use super::token_rules::{Sampled, broken_bans, broken_repeats, unknown_tokens};
use crate::analysis::by_hand::{Draws, LogitRow};
use crate::analysis::xray::XrayTable;
use crate::decoding::{RankedCandidate, SamplerChain, Selector, TokenId};
use crate::generation::hosts::GIVEN_LOGITS;
use crate::generation::{GenerationConfig, PaneSettings};
use crate::interop::{GRAMMAR, filter_words};

/// The arguments of `quartet sample`.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR.as_str())]
pub(super) struct Arguments {
    /// The scores (logits), such as "2.0, 1.0, 0.5", or JSON, or a JSON file
    #[arg(
        long,
        value_name = "FILE|SCORES",
        allow_hyphen_values = true,
        long_help = "The scores (logits), such as \"2.0, 1.0, 0.5\"; or JSON, or a JSON file: \
                     {\"logits\": […], \"history\": […], \"n_prompt\": n} or a list of such objects. \
                     In JSON, null is a score of −∞. `-` reads JSON from standard input. Rows are \
                     independent: no row sees the token that \
                     another one chose"
    )]
    logits: String,

    /// The names of the tokens, such as "the, a, an"; by default their ids
    #[arg(long, alias = "tokens", value_name = "NAMES")]
    names: Option<String>,

    /// The ids of the preceding tokens, such as "3 1 4"
    #[arg(long, value_name = "IDS")]
    history: Option<String>,

    /// How many of the preceding tokens belong to the prompt
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = count::<usize>(0..=N_MAX_TOKENS))]
    prompt_tokens: usize,

    /// The settings to sample with, as described below; repeat for more. The default is the four
    /// panes of a new window
    #[arg(long = "pane", value_name = "SETTINGS")]
    panes: Vec<String>,

    /// The seed of all panes that do not set their own
    #[arg(long, value_name = "N", default_value_t = GenerationConfig::DEFAULT_SEED)]
    seed: u64,

    /// Draw this many tokens and compare their counts with the exact distribution
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = count::<u32>(0..=100_000_000))]
    draws: u32,

    /// Write the results to this file, as a list with one entry per pane and row; `-` writes them
    /// to standard output instead of the tables
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The result of one chain on one row of logits.
#[derive(Debug, Serialize)]
struct Answer {
    pane: String,
    settings: String,
    /// The row's number, starting at 1.
    row: usize,
    token: TokenId,
    prob: f64,
    coin: Option<f64>,
    below: f64,
    raw_entropy_nats: f64,
    stages: Vec<StageAnswer>,
    /// The candidates left after the filters, most likely first.
    kept: Vec<Kept>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<Draws>,
    /// The probabilities after the selector, in the order in which the coin picks from them.
    #[serde(skip)]
    bar: Vec<f64>,
    #[serde(skip)]
    selector: Selector,
    #[serde(skip)]
    n_candidates: u32,
    #[serde(skip)]
    xray: XrayTable,
}

#[derive(Debug, Serialize)]
struct StageAnswer {
    name: &'static str,
    words: String,
    n_kept: u32,
    mass_removed: f64,
    entropy_nats: f64,
}

#[derive(Debug, Serialize)]
struct Kept {
    id: TokenId,
    logit: f32,
    prob: f64,
}

/// Runs `quartet sample`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let panes = arguments.panes()?;
    if let Some(path) = json_file(arguments.json.as_deref()) {
        check_file(path).map_err(Failure::run)?;
    }
    let rows = rows::read(arguments)?;
    let mut progress = Progress::new();
    let mut answers = Vec::new();
    // Several rows may lead to the same note, which is printed once.
    let mut messages = BTreeSet::new();
    for pane in &panes {
        for (index, row) in rows.iter().enumerate() {
            let answer = arguments.answer(pane, index + 1, row, &mut progress)?;
            let (name, chain) = (&pane.name, &pane.chain);
            messages.extend(unknown_tokens(name, chain, row.logits.len()));
            messages.extend(broken_bans(name, chain, [answer.token]));
            let tokens = [&row.history[..], &[answer.token]].concat();
            let sampled = Sampled {
                tokens: &tokens,
                n_prompt: row.n_prompt,
                n_before: row.history.len(),
            };
            messages.extend(broken_repeats(name, chain, sampled));
            answers.push(answer);
        }
    }
    for message in &messages {
        console::note(message);
    }
    arguments.output(&answers)
}

impl Arguments {
    fn panes(&self) -> Result<Vec<PaneSettings>, Failure> {
        let panes = pane_settings(&self.panes)?;
        match panes
            .iter()
            .try_for_each(|pane| GIVEN_LOGITS.check(&pane.chain))
        {
            Err(refusal) => Err(Failure::usage(format!("{refusal}; use generate"))),
            Ok(()) => Ok(panes),
        }
    }

    fn answer(
        &self,
        pane: &PaneSettings,
        number: usize,
        row: &LogitRow,
        progress: &mut Progress,
    ) -> Result<Answer, Failure> {
        let coins = row.coins(pane.seed.unwrap_or(self.seed));
        let chain = SamplerChain::new(pane.chain.clone());
        let fails = |error| Failure::run(format!("row {number}: {error}"));
        let kept = chain
            .distribution(&row.logits, row.history(), coins)
            .map_err(fails)?;
        let picked_from = chain
            .first_distribution(&row.logits, row.history(), coins)
            .map_err(fails)?;
        let sampled = row.sample(&pane.chain, coins).map_err(fails)?;
        let draws =
            (self.draws > 0).then(|| draws::toss(&pane.chain, row, coins, self.draws, progress));
        let trace = sampled.trace;
        Ok(Answer {
            pane: pane.name.clone(),
            settings: pane.chain.to_string(),
            row: number,
            token: sampled.token,
            prob: trace.draw.prob,
            coin: trace.draw.coin,
            below: trace.draw.below,
            raw_entropy_nats: trace.raw.entropy_nats,
            stages: stages(&trace),
            kept: kept.iter().map(Kept::from).collect(),
            draws: draws.transpose().map_err(fails)?,
            bar: picked_from.iter().map(|candidate| candidate.prob).collect(),
            selector: pane.chain.selector,
            n_candidates: trace.raw.n_candidates,
            xray: XrayTable::recorded(&pane.chain, &trace),
        })
    }

    fn output(&self, answers: &[Answer]) -> Result<(), Failure> {
        let json = || {
            serde_json::to_vec_pretty(answers)
                .map_err(|error| Failure::run(format!("could not encode the results: {error}")))
        };
        match self.json.as_deref() {
            Some(path) if path == Path::new("-") => return console::print(&json()?),
            Some(path) => write_file(path, &json()?).map_err(Failure::run)?,
            None => {}
        }
        let names = self.names.as_deref().unwrap_or_default();
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let tables: Vec<String> = answers
            .iter()
            .map(|answer| table::render(answer, &names))
            .collect();
        console::print(tables.join("\n").as_bytes())
    }
}

fn stages(trace: &crate::decoding::Trace) -> Vec<StageAnswer> {
    let stage = |report: &crate::decoding::StageReport| StageAnswer {
        name: report.filter.name(),
        words: filter_words(&report.filter),
        n_kept: report.n_kept,
        mass_removed: report.mass_removed,
        entropy_nats: report.entropy_nats,
    };
    trace.stages.iter().map(stage).collect()
}

impl From<&RankedCandidate> for Kept {
    fn from(candidate: &RankedCandidate) -> Self {
        Self {
            id: candidate.token,
            logit: candidate.logit,
            prob: candidate.prob,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Arguments, Progress, table};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn arguments(words: &[&str]) -> Arguments {
        let words = std::iter::once("sample").chain(words.iter().copied());
        Line::try_parse_from(words).unwrap().arguments
    }

    fn first_answer(words: &[&str]) -> super::Answer {
        let arguments = arguments(words);
        let row = super::rows::read(&arguments).unwrap().remove(0);
        let pane = arguments.panes().unwrap().remove(0);
        arguments
            .answer(&pane, 1, &row, &mut Progress::Log)
            .unwrap()
    }

    #[test]
    fn a_row_of_logits_is_sampled_and_every_stage_is_shown() {
        let answer = first_answer(&[
            "--logits=-1.0, 2.0, 1.0, 0.5",
            "--pane",
            "top-k 3, temp 0.5, top-p 0.9",
            "--history",
            "3 1 4",
        ]);
        let n_kept: Vec<u32> = answer.stages.iter().map(|stage| stage.n_kept).collect();
        assert_eq!(n_kept, [3, 3, 2]);
        let kept: Vec<u32> = answer.kept.iter().map(|kept| kept.id.0).collect();
        assert_eq!(kept, [1, 2]);
        let mass: f64 = answer.kept.iter().map(|kept| kept.prob).sum();
        assert!((mass - 1.0).abs() < 1e-9);
        assert_eq!(
            answer.coin.map(|coin| (coin * 1e6).round()),
            Some(670_640.0)
        );
        let table = table::render(&answer, &["never", "the", "a", "an"]);
        for expected in [
            "the",
            "cut by top-k 3",
            "cut by top-p 0.9",
            "mass removed",
            "the coin 0.6706",
        ] {
            assert!(table.contains(expected), "{expected} is not in\n{table}");
        }
    }

    #[test]
    fn draws_are_compared_with_the_exact_distribution() {
        for pane in ["sample", "xtc 0.5 threshold 0.1", "gumbel", "temp 0"] {
            let answer =
                first_answer(&["--logits", "2, 1, 0.5", "--pane", pane, "--draws", "20000"]);
            let draws = answer.draws.unwrap();
            let n: u32 = draws.counts.iter().map(|count| count.count).sum();
            assert_eq!(n, 20_000, "{pane}");
            if let Some(test) = draws.chi_squared {
                assert!(
                    test.chi_squared < test.bound_one_in_1000,
                    "{pane}: {test:?}"
                );
            }
        }
    }

    #[test]
    fn the_bar_and_the_counts_follow_the_selector() {
        let table = |pane: &str, n: &str| {
            let answer = first_answer(&["--logits", "3,2,1", "--pane", pane, "--draws", n]);
            table::render(&answer, &["", "b", ""])
        };
        let adaptive = table("adaptive-p 0.5", "1000");
        // Of 60 cells, 0.874 are 52, and 66.52 % after the filters would be 40.
        let bar = format!("0 {}▒", "█".repeat(52));
        assert!(adaptive.contains(&bar), "{adaptive}");
        assert!(
            adaptive.contains("with 1 degree of freedom; fair draws exceed 3.84"),
            "{adaptive}"
        );
        for (pane, n, expected) in [
            (
                "sample",
                "1000",
                "with 2 degrees of freedom; fair draws exceed 5.99",
            ),
            ("bias 1 1e38", "100", "No χ²: only one token is left"),
            (
                "greedy",
                "100",
                "No χ²: the most likely token is always taken",
            ),
            ("sample", "4", "No χ²: too few draws"),
            ("gumbel", "100", " %, with a coin for each token"),
            ("greedy", "100", " %, without a coin"),
        ] {
            let found = table(pane, n);
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn a_token_without_a_name_is_shown_by_its_id() {
        let answer = first_answer(&["--logits", "1,2,0", "--pane", "greedy"]);
        let table = table::render(&answer, &["", "b"]);
        for expected in ["\nb, 100.00 %", "\n#0 ", "\n#2 "] {
            assert!(table.contains(expected), "{table}");
        }
    }

    #[test]
    fn json_may_contain_several_rows() {
        for (json, n_rows, n_history) in [
            ("[1, 2, null]", 1, 0),
            (
                r#"{"logits": [1, "-inf", 2], "history": [1, 2], "n_prompt": 1}"#,
                1,
                2,
            ),
            (
                r#"[{"logits": [1]}, {"logits": [2, 3], "history": [0]}]"#,
                2,
                0,
            ),
        ] {
            let rows = super::rows::read(&arguments(&["--logits", json])).unwrap();
            let found = (rows.len(), rows[0].history.len());
            assert_eq!(found, (n_rows, n_history), "{json}");
        }
    }

    #[test]
    fn settings_that_need_a_model_are_refused() {
        for (pane, expected) in [
            (
                "grammar json, T 1",
                "a grammar needs the vocabulary of a model; use generate",
            ),
            (
                "greedy, guide 1.5 against \"x\"",
                "guidance needs a model; use generate",
            ),
            ("drafts 4, T 1", "drafts need a model; use generate"),
            ("beams 4", "beam search needs a model; use generate"),
        ] {
            let refused = arguments(&["--logits", "3, 2", "--pane", pane]).panes();
            let Err(super::Failure::Usage(message)) = refused else {
                panic!("{pane}: {refused:?}");
            };
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn errors_quote_the_invalid_input() {
        for (words, expected) in [
            (&["--logits", "2, x"][..], "\"x\""),
            (&["--logits", "no/such/file.json"], "no/such/file.json"),
            (&["--logits", "1", "--history", "1 b"], "\"b\""),
        ] {
            let failure = super::rows::read(&arguments(words)).unwrap_err();
            assert!(
                format!("{failure:?}").contains(&expected.replace('"', "\\\"")),
                "{failure:?}"
            );
        }
        let arguments = arguments(&["--logits", "nan, 1", "--pane", "greedy"]);
        let row = super::rows::read(&arguments).unwrap().remove(0);
        let pane = arguments.panes().unwrap().remove(0);
        assert!(
            arguments
                .answer(&pane, 1, &row, &mut Progress::Log)
                .is_err()
        );
    }

    #[test]
    fn malformed_json_is_refused_with_a_reason() {
        for (json, expected) in [
            ("{}", "‘logits’ is missing"),
            ("[{}]", "‘logits’ is missing"),
            (
                "[{\"logits\": [1]}, 2]",
                "the scores are not a list of numbers",
            ),
            ("[[1, 2], [3, 4]]", "row 1: a list is not a number"),
            ("[1, true]", "row 1: true is not a number"),
            (
                "[{\"logits\": [1]}, {\"logits\": [1, \"x\"]}]",
                "row 2: \"x\" is not a number",
            ),
            ("[1, 2", "line 1"),
        ] {
            let refused = super::rows::read(&arguments(&["--logits", json]));
            let Err(super::Failure::Run(message)) = refused else {
                panic!("{json}: {refused:?}");
            };
            assert!(message.contains(expected), "{json}: {message}");
        }
    }
}

//! Replays many runs: a line for each, and a sum.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::console;
use super::failure::Failure;
use super::files::{check_file, write_file};
use super::replay::{Arguments, picture_format};
use super::replay_json::{
    DifferenceRecord, NOT_REPLAYED, first_difference, json_bytes, result_name,
};
use super::replay_report::Report;
use super::replayer::Replayer;
use crate::export::csv::{as_text, push_row};
use crate::generation::formatting::{counted, grouped};
use crate::plots::{ReplayedRun, ReplayedRuns};
use crate::state::PictureFormat;
use crate::ui::pictures::{Look, encode, replayed_drawing};

/// The most runs that one command replays.
const MAX_RUNS: usize = 10_000;

/// Replays the runs. A run that can’t be replayed is a line like any other.
pub(super) fn run(arguments: &Arguments, paths: &[PathBuf]) -> Result<(), Failure> {
    let files = run_files(paths)?;
    for output in [&arguments.picture, &arguments.csv].into_iter().flatten() {
        check_file(output).map_err(Failure::usage)?;
    }
    let mut replayer = Replayer::new(arguments);
    let mut set = ReplaySet::default();
    for file in &files {
        let replayed = match replayer.replay(file) {
            Err(Failure::Interrupted) => break,
            replayed => replayed,
        };
        let result = RunResult::of(file, replayed);
        if !arguments.json {
            let line = format!("{}\n", result.line());
            console::print(console::escape_control(&line).as_bytes())?;
        }
        set.runs.push(result);
    }
    set.write(arguments)?;
    if replayer.is_interrupted() {
        return Err(Failure::Interrupted);
    }
    match set.exit_status() {
        0 => Ok(()),
        status => Err(Failure::Status(status)),
    }
}

/// Returns the run files at these paths: those of a folder in the order of their names.
fn run_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let failed = |error: std::io::Error| {
            let folder = path.display();
            Failure::usage(format!(
                "could not read the folder: {error}\nFolder: {folder}"
            ))
        };
        let mut found = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if is_run_name(&file) && file.is_file() {
                found.push(file);
            }
            if found.len() > MAX_RUNS {
                break;
            }
        }
        found.sort();
        files.append(&mut found);
    }
    match files.len() {
        0 => Err(Failure::usage(
            "there is no run file (.json or .json.gz) in this folder",
        )),
        n if n > MAX_RUNS => {
            let most = grouped(MAX_RUNS as f64);
            Err(Failure::usage(format!(
                "at most {most} runs are replayed at a time"
            )))
        }
        _ => Ok(files),
    }
}

/// Returns whether a file of this name can hold a run. Results of experiments have other names.
fn is_run_name(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = name.strip_suffix(".json");
    stem.is_some_and(|stem| !stem.ends_with(".quartet-lab"))
}

/// What became of a run.
#[derive(Serialize)]
struct RunResult {
    file: String,
    verdict: String,
    exit_status: u8,
    result: &'static str,
    n_tokens: usize,
    n_chosen: usize,
    first_difference: Option<DifferenceRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The difference in words.
    #[serde(skip)]
    difference: Option<String>,
    /// How many tokens the longest text has.
    #[serde(skip)]
    n_longest: usize,
}

impl RunResult {
    fn of(file: &Path, replayed: Result<Report, Failure>) -> Self {
        let file = file.display().to_string();
        let report = match replayed {
            Ok(report) => report,
            Err(failure) => return Self::failed(file, failure),
        };
        let written = report.verdict.written();
        let lengths = report.then.iter().map(|text| text.steps.len());
        Self {
            file,
            verdict: report.verdict.to_string(),
            exit_status: report.verdict.exit_status(),
            result: result_name(&report.verdict),
            n_tokens: written.n_tokens(),
            n_chosen: written.n_by_settings,
            first_difference: first_difference(&report),
            error: None,
            difference: report.difference(),
            n_longest: lengths.max().unwrap_or_default(),
        }
    }

    fn failed(file: String, failure: Failure) -> Self {
        let error = match failure {
            Failure::Usage(error) | Failure::Run(error) => error,
            Failure::Reported | Failure::Status(_) | Failure::Interrupted => String::new(),
        };
        Self {
            file,
            verdict: "This run can’t be replayed.".to_owned(),
            exit_status: 2,
            result: NOT_REPLAYED,
            n_tokens: 0,
            n_chosen: 0,
            first_difference: None,
            error: Some(error),
            difference: None,
            n_longest: 0,
        }
    }

    /// Returns whether all tokens are the same.
    fn is_same(&self) -> bool {
        ["identical", "same_tokens"].contains(&self.result)
    }

    /// Describes it in one line: "runs/a.json  48 tokens  first different at token 41, …".
    fn line(&self) -> String {
        let words = match (&self.error, &self.difference, self.result) {
            (Some(error), ..) => format!("can’t be replayed: {}", error.replace('\n', " ")),
            (None, Some(difference), "different") => match self.pane() {
                Some(pane) => format!("{pane} {difference}"),
                None => difference.clone(),
            },
            (None, _, "contradiction") => self.verdict.clone(),
            (None, _, "identical") => "identical".to_owned(),
            (None, ..) => "same tokens".to_owned(),
        };
        let tokens = counted(self.n_tokens, "token");
        format!("{}  {tokens}  {words}", self.file)
    }

    fn pane(&self) -> Option<&str> {
        self.first_difference.as_ref()?.pane()
    }

    fn row(&self) -> [String; 11] {
        let first = self.first_difference.as_ref();
        let word = |word: Option<&String>| as_text(word.map_or("", String::as_str));
        [
            as_text(&self.file),
            self.result.to_owned(),
            self.exit_status.to_string(),
            self.n_tokens.to_string(),
            self.n_chosen.to_string(),
            self.pane().unwrap_or_default().to_owned(),
            first.map_or(String::new(), |first| first.token.to_string()),
            word(first.and_then(|first| first.then.as_ref())),
            word(first.and_then(|first| first.now.as_ref())),
            first
                .and_then(|first| first.logit_gap)
                .map_or(String::new(), |gap| gap.to_string()),
            as_text(
                &self
                    .error
                    .as_ref()
                    .unwrap_or(&self.verdict)
                    .replace('\n', " "),
            ),
        ]
    }
}

/// The columns of the table.
const COLUMNS: [&str; 11] = [
    "file",
    "result",
    "exit_status",
    "n_tokens",
    "n_chosen",
    "pane",
    "token",
    "then",
    "now",
    "logit_gap",
    "verdict",
];

/// The runs that were replayed.
#[derive(Default)]
struct ReplaySet {
    runs: Vec<RunResult>,
}

#[derive(Serialize)]
struct SetRecord<'a> {
    verdict: String,
    exit_status: u8,
    n_runs: usize,
    n_same: usize,
    runs: &'a [RunResult],
}

impl ReplaySet {
    fn n_same(&self) -> usize {
        self.runs.iter().filter(|run| run.is_same()).count()
    }

    fn exit_status(&self) -> u8 {
        let statuses = self.runs.iter().map(|run| run.exit_status);
        statuses.max().unwrap_or_default()
    }

    /// Sums up: "38 of 40 runs are the same, token for token; 1 differs, 1 can’t be replayed".
    fn sum(&self) -> String {
        let [n_same, n_runs] = [self.n_same(), self.runs.len()].map(|n| grouped(n as f64));
        let verb = if self.n_same() == 1 { "is" } else { "are" };
        let count = |result: &str| self.runs.iter().filter(|run| run.result == result).count();
        let others = [
            (count("different"), "differs", "differ"),
            (
                count("contradiction"),
                "contradicts itself",
                "contradict themselves",
            ),
            (
                count(NOT_REPLAYED),
                "can’t be replayed",
                "can’t be replayed",
            ),
        ];
        let others = others.into_iter().filter(|(n, ..)| *n > 0);
        let others: Vec<String> = others
            .map(|(n, one, many)| {
                let verb = if n == 1 { one } else { many };
                format!("{} {verb}", grouped(n as f64))
            })
            .collect();
        let same = format!("{n_same} of {n_runs} runs {verb} the same, token for token");
        if others.is_empty() {
            same
        } else {
            format!("{same}; {}", others.join(", "))
        }
    }

    /// Prints the sum, and writes the files.
    fn write(&self, arguments: &Arguments) -> Result<(), Failure> {
        if arguments.json {
            console::print(&json_bytes(&SetRecord {
                verdict: self.sum(),
                exit_status: self.exit_status(),
                n_runs: self.runs.len(),
                n_same: self.n_same(),
                runs: &self.runs,
            }))?;
        } else {
            console::print(format!("\n{}\n", self.sum()).as_bytes())?;
        }
        if let Some(path) = &arguments.csv {
            let mut table = String::new();
            push_row(&mut table, COLUMNS.map(str::to_owned));
            for run in &self.runs {
                push_row(&mut table, run.row());
            }
            write_file(path, table.as_bytes()).map_err(Failure::usage)?;
        }
        match &arguments.picture {
            Some(path) => self.draw(path, arguments).map_err(Failure::usage),
            None => Ok(()),
        }
    }

    fn draw(&self, path: &Path, arguments: &Arguments) -> Result<(), String> {
        let runs = self.runs.iter().map(|run| ReplayedRun {
            name: Path::new(&run.file).file_stem().map_or_else(
                || run.file.clone(),
                |name| name.to_string_lossy().into_owned(),
            ),
            n_tokens: run.n_longest,
            first_difference: run.first_difference.as_ref().map(|first| first.token - 1),
            is_compared: run.is_same() || run.result == "different",
        });
        let look = Look {
            style: arguments.pictures.style(),
            ..Look::default()
        };
        let drawing = replayed_drawing(&ReplayedRuns::of(runs), &self.sum(), look);
        let format = picture_format(path).unwrap_or(PictureFormat::Svg);
        let bytes = encode(&drawing, format, look.style).map_err(|error| error.to_string())?;
        write_file(path, &bytes)
    }
}

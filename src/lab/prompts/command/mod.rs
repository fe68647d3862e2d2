//! `quartet prompts`: answers a list of tasks under several settings, and judges the answers.

mod hosts;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use self::hosts::{AnswerHosts, served_model};
use super::figures::checks::{Answer, Check, Verdict};
use super::figures::tasks::{N_MAX_BYTES, TaskFile, TaskList};
use super::figures::{JudgedPane, SweepReading, TaskResults, TaskSweep, TasksReading};
use super::picture::tasks_drawing;
use super::plan::{RunSize, TaskText, TasksPlan};
use super::record::TasksRecord;
use super::state::task_text;
use crate::cli::compute::ComputeArguments;
use crate::cli::console;
use crate::cli::count::{N_MAX_TOKENS, count};
use crate::cli::failure::Failure;
use crate::cli::model::{DraftModelArgument, ModelArgument};
use crate::cli::pane_models::PaneModelArgument;
use crate::cli::pane_run::Console;
use crate::cli::panes::pane_settings;
use crate::cli::prompts::ChatArguments;
use crate::cli::report_output::{Output, OutputArguments};
use crate::cli::server::ServerArguments;
use crate::cli::stopping::StopArguments;
use crate::cli::text_input::read_text;
use crate::cli::vary::axes_of;
use crate::decoding::ChainConfig;
use crate::generation::formatting::pane_letter;
use crate::generation::{GenerationConfig, PaneModel};
use crate::interop::GRAMMAR;
use crate::ui::pictures::Look;

/// The base name of the exported files.
const NAME: &str = "prompts";

/// The arguments of `quartet prompts`.
#[derive(Debug, Args)]
#[command(after_help = GRAMMAR.as_str())]
pub(crate) struct Arguments {
    /// The tasks: one prompt per line, CSV, JSON or JSON Lines, also those of promptfoo and OpenAI
    /// evals; `-` reads standard input
    #[arg(value_name = "FILE", required_unless_present = "try_text")]
    file: Option<PathBuf>,

    /// Builds the prompt from the columns of a task, as in 'Question: {question}\nAnswer:'
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    template: Option<String>,

    /// What counts as a right answer, in addition to the file’s own checks, as in 'equals: {answer}';
    /// repeat for more, all of which must hold
    #[arg(long = "check", value_name = "CHECK", allow_hyphen_values = true)]
    checks: Vec<String>,

    /// Judge this text by each --check instead of running anything
    #[arg(
        long = "try",
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "checks",
        conflicts_with = "file"
    )]
    try_text: Option<String>,

    #[command(flatten)]
    chat: ChatArguments,

    #[command(flatten)]
    model: ModelArgument,

    #[command(flatten)]
    draft_model: DraftModelArgument,

    #[command(flatten)]
    compute: ComputeArguments,

    #[command(flatten)]
    pane_models: PaneModelArgument,

    #[command(flatten)]
    server: ServerArguments,

    /// The settings of a pane, as described below; repeat for more panes. The default is four
    /// panes: greedy, pure sampling, top-k 40, and top-p 0.9 at temperature 0.7
    #[arg(long = "pane", value_name = "SETTINGS")]
    panes: Vec<String>,

    /// How many answers to draw for each task, each pane and each value of --vary, each with its own
    /// seed. Greedy decoding and beam search need one. With 0, only exact probabilities are computed
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = count::<usize>(0..=256))]
    seeds: usize,

    /// The seed of the list, from which each task’s own seeds are derived
    #[arg(long, value_name = "N", default_value_t = GenerationConfig::DEFAULT_SEED)]
    seed: u64,

    /// Also find the share of right answers over the values of a number, as in 'temp 0.1..1.6/16':
    /// exactly where it can be, and drawn with --seeds; everything else is as in the last pane that
    /// is not greedy. Repeat it for a map over two numbers
    #[arg(long, value_name = "NUMBER")]
    vary: Vec<String>,

    /// Maximum number of tokens in each answer
    #[arg(long, alias = "tokens", value_name = "N", default_value_t = 64)]
    #[arg(value_parser = count::<usize>(1..=N_MAX_TOKENS))]
    max_tokens: usize,

    #[command(flatten)]
    stop: StopArguments,

    #[command(flatten)]
    output: OutputArguments,
}

/// Runs `quartet prompts`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(text) = &arguments.try_text {
        return try_checks(&arguments.checks, text);
    }
    let Some(file) = &arguments.file else {
        return Err(Failure::usage("name a file with tasks"));
    };
    let list = arguments.tasks(file)?;
    let mut panes = arguments.panes()?;
    let hosts = arguments.server.hosts(panes.len())?;
    arguments.pane_models.check_hosts(&hosts.of_panes)?;
    let own = (arguments.pane_models).sources(&arguments.model.source(), panes.len())?;
    for ((pane, host), own) in panes.iter_mut().zip(&hosts.of_panes).zip(own) {
        let config = host.and_then(|index| hosts.servers.get(index));
        let served = config.map(|config| PaneModel::Server(served_model(config)));
        pane.host = served.or(own.map(PaneModel::Local));
    }
    arguments.check_served(&panes)?;
    let sweep = arguments.sweep(panes.len())?;
    let cells = cells_of(sweep.as_ref(), &panes)?;
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.output.check(NAME)?;
    for note in &list.notes {
        console::note(note);
    }
    let plan = arguments.plan(&list, &panes, &cells)?;
    let mut console = Console::quiet();
    let mut hosts = AnswerHosts::open(arguments, hosts.servers, &panes, &mut console)?;
    let mut results = TaskResults::new(list.tasks.into(), panes, &plan, &hosts.vocabulary())
        .with_cells(cells)
        .with_models(|source| hosts.other(source));
    let limits = plan.limits.clone();
    let failure = hosts.answer(&plan, &mut results, &mut console);
    let reading = TasksReading::of(&results);
    let swept = sweep
        .as_ref()
        .map(|sweep| SweepReading::of(&results, sweep));
    let record = TasksRecord {
        results: &results,
        reading: &reading,
        model: results.first_model(hosts.main()),
        limits: &limits,
        sweep: sweep.as_ref().zip(swept.as_ref()),
    };
    arguments.output.write(&Output {
        name: NAME,
        report: &report::report(&record),
        json: &record.json(),
        csv: &record.csv(),
        drawing: &|style| tasks_drawing(&record, Look::of_command(style)),
    })?;
    failure.map_or(Ok(()), Err)
}

/// Returns the settings of each cell of a sweep.
fn cells_of(sweep: Option<&TaskSweep>, panes: &[JudgedPane]) -> Result<Vec<JudgedPane>, Failure> {
    let Some(sweep) = sweep else {
        return Ok(Vec::new());
    };
    let base = TaskSweep::base_of(panes)
        .and_then(|base| panes.get(base))
        .ok_or_else(|| Failure::usage("--vary needs a pane that leaves something to chance"))?;
    let cells: Vec<JudgedPane> = sweep.settings(base).collect();
    for cell in &cells {
        let valid = cell.chain.validate();
        valid.map_err(|error| Failure::usage(error.to_string()))?;
    }
    Ok(cells)
}

/// Judges a text by each check.
fn try_checks(checks: &[String], text: &str) -> Result<(), Failure> {
    let mut is_right = true;
    let mut lines = Vec::new();
    for spec in checks {
        let check = Check::parse(spec).map_err(|error| Failure::usage(error.to_string()))?;
        let verdict = check.judge(Answer {
            text,
            is_complete: true,
        });
        let words = match &verdict {
            Verdict::Right => "right".to_owned(),
            Verdict::Wrong { why } => format!("wrong: {why}"),
        };
        is_right &= verdict == Verdict::Right;
        lines.push(format!("{}  {words}\n", check.spec()));
    }
    console::print(lines.concat().as_bytes())?;
    if is_right {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

impl Arguments {
    fn tasks(&self, path: &Path) -> Result<TaskList, Failure> {
        let text = read_text(path, "the tasks", N_MAX_BYTES as u64)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        let invalid = |error: super::figures::tasks::TaskError| {
            Failure::run(format!("{error}\nFile: {}", path.display()))
        };
        let file = TaskFile::read(&name.to_string_lossy(), &text).map_err(invalid)?;
        let template = self.template.as_deref().map(with_line_breaks);
        let list = file
            .tasks(template.as_deref(), &self.checks)
            .map_err(invalid)?;
        if list.tasks.is_empty() {
            let path = path.display();
            return Err(Failure::run(format!("the file has no tasks\nFile: {path}")));
        }
        Ok(list)
    }

    fn panes(&self) -> Result<Vec<JudgedPane>, Failure> {
        let settings = pane_settings(&self.panes)?.into_iter();
        let panes = settings.enumerate().map(|(index, settings)| JudgedPane {
            letter: pane_letter(index),
            name: settings.name,
            chain: settings.chain,
            host: None,
            model: None,
            not_applied: Vec::new(),
        });
        Ok(panes.collect())
    }

    /// Fails if a server would have to compute what only a model on this computer can.
    fn check_served(&self, panes: &[JudgedPane]) -> Result<(), Failure> {
        let Some(pane) = panes.iter().find(|pane| pane.served().is_some()) else {
            return Ok(());
        };
        let letter = &pane.letter;
        if !self.vary.is_empty() {
            return Err(Failure::usage(format!(
                "--vary runs with a model on this computer only, but pane {letter} runs on a server"
            )));
        }
        if self.seeds == 0 {
            return Err(Failure::usage(format!(
                "a server reports only part of each distribution, so the answers of pane {letter} can \
                 only be drawn; use --seeds 1 or more"
            )));
        }
        Ok(())
    }

    fn sweep(&self, n_panes: usize) -> Result<Option<TaskSweep>, Failure> {
        if self.vary.is_empty() {
            return Ok(None);
        }
        let (axis, columns) = axes_of(&self.vary, "a list of tasks")?;
        let sweep = TaskSweep::new(axis, columns, n_panes);
        sweep
            .refusal()
            .map_or(Ok(Some(sweep)), |refusal| Err(Failure::usage(refusal)))
    }

    fn plan(
        &self,
        list: &TaskList,
        panes: &[JudgedPane],
        cells: &[JudgedPane],
    ) -> Result<TasksPlan, Failure> {
        let settings = panes.iter().chain(cells);
        let chains: Vec<ChainConfig> = settings.map(|pane| pane.chain.clone()).collect();
        let form = self.chat.prompt("").form;
        let tasks: Result<Arc<[TaskText]>, String> = list
            .tasks
            .iter()
            .map(|task| task_text(task, &form))
            .collect();
        let tasks = tasks.map_err(Failure::run)?;
        let size = RunSize {
            n_tasks: tasks.len(),
            n_settings: chains.len(),
            n_answers: self.seeds,
            n_tokens: self.max_tokens,
            is_exact: tasks.iter().any(|task| !task.right.is_empty()),
        };
        if let Some(refusal) = size.refusal() {
            return Err(Failure::usage(refusal));
        }
        Ok(TasksPlan {
            tasks,
            drawn: chains.clone(),
            n_answers: self.seeds,
            exact: chains,
            elsewhere: Vec::new(),
            part: 0,
            seed: self.seed,
            limits: self.stop.limits(self.max_tokens),
        })
    }
}

/// Turns `\n` and `\t` in an argument into a line break and a tab, and `\\` into a backslash: shells
/// differ in how these are typed.
fn with_line_breaks(text: &str) -> String {
    let mut written = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (char, char == '\\') {
            (_, true) => match chars.next() {
                Some('n') => written.push('\n'),
                Some('t') => written.push('\t'),
                Some('\\') | None => written.push('\\'),
                Some(other) => written.extend(['\\', other]),
            },
            (char, false) => written.push(char),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::with_line_breaks;

    #[test]
    fn a_template_has_line_breaks() {
        assert_eq!(with_line_breaks(r"Q: {q}\nA:"), "Q: {q}\nA:");
        assert_eq!(with_line_breaks(r"a\\n\t\x\"), "a\\n\t\\x\\");
    }
}

//! `quartet prompts`: answers a list of tasks under several settings, and judges the answers.

mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::figures::checks::{Answer, Check, Verdict};
use super::figures::tasks::{N_MAX_BYTES, TaskFile, TaskList};
use super::figures::{JudgedPane, SweepReading, TaskResults, TaskSweep, TasksReading};
use super::picture::tasks_drawing;
use super::plan::{RunSize, TaskText, TaskUpdate, TasksPlan};
use super::record::TasksRecord;
use super::state::task_text;
use crate::cli::compute::ComputeArguments;
use crate::cli::console;
use crate::cli::count::{N_MAX_TOKENS, count};
use crate::cli::failure::Failure;
use crate::cli::job::run_job;
use crate::cli::model::{DraftModelArgument, ModelArgument};
use crate::cli::pane_run::{Console, Engine};
use crate::cli::panes::pane_settings;
use crate::cli::prompts::ChatArguments;
use crate::cli::report_output::{Output, OutputArguments};
use crate::cli::stopping::StopArguments;
use crate::cli::text_input::read_text;
use crate::cli::vary::axes_of;
use crate::decoding::ChainConfig;
use crate::generation::GenerationConfig;
use crate::generation::formatting::{grouped, pane_letter};
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

    /// The settings of a pane, as described below; repeat for more panes. The default is four
    /// panes: greedy, pure sampling, top-k 40, and top-p 0.9 at temperature 0.7
    #[arg(long = "pane", value_name = "SETTINGS")]
    panes: Vec<String>,

    /// How many answers to draw for each task, each pane and each value of --vary, each with its own
    /// seed. Greedy decoding needs one. With 0, only exact probabilities are computed
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
    let panes = arguments.panes()?;
    let sweep = arguments.sweep(panes.len())?;
    let cells = cells_of(sweep.as_ref(), &panes)?;
    // Removed at the end if nothing was exported to it.
    let _new_folder = arguments.output.check(NAME)?;
    for note in &list.notes {
        console::note(note);
    }
    let plan = arguments.plan(&list, &panes, &cells)?;
    let mut console = Console::quiet();
    let mut engine = Engine::open(arguments.model.source(), arguments.compute, &mut console)?;
    arguments.draft_model.load(&mut engine, &mut console)?;
    let vocabulary = Arc::clone(&engine.vocabulary);
    let mut results =
        TaskResults::new(list.tasks.into(), panes, &plan, vocabulary).with_cells(cells);
    let limits = plan.limits.clone();
    let failure = answer(&mut engine, plan, &mut results, &mut console);
    let reading = TasksReading::of(&results);
    let swept = sweep
        .as_ref()
        .map(|sweep| SweepReading::of(&results, sweep));
    let record = TasksRecord {
        results: &results,
        reading: &reading,
        model: &engine.info,
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

/// Answers the tasks. Returns why it ended early, if it did.
fn answer(
    engine: &mut Engine,
    plan: TasksPlan,
    results: &mut TaskResults,
    console: &mut Console,
) -> Option<Failure> {
    let n_tasks = plan.tasks.len();
    let failure = run_job(plan, engine, console, |update: TaskUpdate, progress| {
        let task = update.task;
        results.add(update);
        progress.update(|| {
            let (done, all) = results.n_done();
            let (done, all) = (grouped(done as f64), grouped(all as f64));
            format!("Task {} of {n_tasks}, {done} of {all} answers", task + 1)
        });
    });
    console.progress.clear();
    failure
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
        });
        Ok(panes.collect())
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
        let tasks: Result<Vec<TaskText>, String> = list
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

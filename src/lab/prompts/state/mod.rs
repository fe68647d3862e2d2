//! A list of tasks, each answered under the settings of all panes.

mod asked;
mod examples;
mod fork;
mod form;
mod kept;
mod lesson;
mod parts;
mod prepared;
mod run;

pub use self::examples::EXAMPLES;
pub use self::fork::ForkRun;
pub(super) use self::form::{N_MAX_ANSWERS, N_MAX_TOKENS};
pub use self::form::{PromptsSettings, StopAt, TaskSource, TasksForm};
pub use self::kept::KeptAnswers;
pub use self::run::{SweepRun, TaskRuns, TasksRun};

use self::asked::AskedTasks;
pub(super) use self::form::task_text;
pub(super) use self::parts::{RunPart, RunParts};
use self::prepared::PreparedTasks;
use crate::generation::formatting::pane_letter;
use crate::generation::{PaneModel, in_sentence};
use crate::lab::open_pane::{NewPane, open_pane_with, open_prompt_with};
use crate::lab::prompts::figures::TaskSweep;
use crate::lab::prompts::plan::RunSize;
use crate::lab::{Experiment, Group, LabTab, MadeBy, ResultFacts};
use crate::state::{AppState, Effect, JobRun, Notice, Pane};

/// The list of tasks, and their answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptsTab {
    pub form: TasksForm,
    pub view: TaskView,
    /// What it showed before results from the history. `None` without those.
    own_view: Option<TaskView>,
    pub runs: TaskRuns,
}

/// What the tab shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskView {
    /// The answers that were drawn.
    #[default]
    Table,
    /// The share of right answers over one or two numbers that are varied.
    AnySetting,
}

/// What the user can do with the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptsCommand {
    /// Write an answer again in a new pane.
    Open {
        view: TaskView,
        task: usize,
        /// The index of the settings.
        pane: usize,
        /// The index of the answer.
        answer: usize,
    },
    /// Look into the choice at which the right and the wrong answers to a task part.
    ExplainFork {
        view: TaskView,
        task: usize,
        pane: usize,
    },
    /// Use one of the lists that come with Quartet.
    UseExample(usize),
    /// Use the typed list.
    UseTyped,
    /// Use settings of the table or of the sweep in a new pane.
    UseSettings {
        /// The index of the settings.
        pane: usize,
        view: TaskView,
    },
}

impl Experiment for PromptsTab {
    const NAME: &'static str = "Prompts";
    const GROUP: Group = Group::WriteMany;
    const FILE_TITLE: &'static str = "Open a list of tasks";
    type Command = PromptsCommand;
    type Settings = PromptsSettings;
    type Result = KeptAnswers;

    fn result(&self) -> Option<(ResultFacts, KeptAnswers)> {
        self.runs.kept()
    }

    fn show(&mut self, result: KeptAnswers) -> Result<(), String> {
        let (runs, view) = TaskRuns::of_kept(result)?;
        self.own_view.get_or_insert(self.view);
        (self.runs, self.view) = (runs, view);
        Ok(())
    }

    fn made_by(&self) -> Option<MadeBy<'_>> {
        self.runs.made_by()
    }

    fn again_refusal(state: &AppState) -> Option<String> {
        let runs = &state.lab.prompts.runs;
        let missing = runs.missing_model(&state.models);
        missing.or_else(|| runs.size()?.refusal())
    }

    fn run_again(state: &mut AppState) -> Vec<Effect> {
        let asked = AskedTasks::of_runs(&state.lab.prompts.runs, &state.models.source);
        asked.map_or_else(Vec::new, |asked| asked.begin(state))
    }

    fn run(&self) -> Option<&dyn JobRun> {
        Some(&self.runs)
    }

    fn run_mut(&mut self) -> Option<&mut dyn JobRun> {
        Some(&mut self.runs)
    }

    fn start(state: &mut AppState) -> Vec<Effect> {
        state.lab.prompts.form.prepare_all();
        if state.lab.is_running(LabTab::Prompts) || blocking_reason(state).is_some() {
            return Vec::new();
        }
        state.lab.prompts.own_view = None;
        let asked = AskedTasks::of_form(state);
        asked.map_or_else(Vec::new, |asked| asked.begin(state))
    }

    fn close(&mut self) {
        self.runs = TaskRuns::default();
        self.view = self.own_view.take().unwrap_or(self.view);
    }

    fn apply(state: &mut AppState, command: PromptsCommand) -> Vec<Effect> {
        match command {
            PromptsCommand::Open {
                view,
                task,
                pane,
                answer,
            } => open_answer(state, view, (task, pane), answer),
            PromptsCommand::ExplainFork { view, task, pane } => {
                fork::explain_fork(state, view, (task, pane))
            }
            PromptsCommand::UseExample(index) => {
                state.lab.prompts.use_source(TaskSource::Example(index));
                Vec::new()
            }
            PromptsCommand::UseTyped => {
                state.lab.prompts.use_source(TaskSource::Typed);
                Vec::new()
            }
            PromptsCommand::UseSettings { pane, view } => use_settings(state, pane, view),
        }
    }

    fn use_path(&mut self, path: std::path::PathBuf) {
        self.use_source(TaskSource::File(path));
    }

    fn use_text(&mut self, text: String) {
        self.form.typed = text;
        self.use_source(TaskSource::Typed);
    }

    fn settings(&self) -> PromptsSettings {
        (&self.form).into()
    }

    fn restored(settings: PromptsSettings) -> Self {
        Self {
            form: settings.form(),
            ..Self::default()
        }
    }
}

impl PromptsTab {
    /// Uses another list. The template and the checks of the last one don't fit it.
    fn use_source(&mut self, source: TaskSource) {
        if source != self.form.source {
            self.form.template.clear();
            self.form.checks.clear();
        }
        if let TaskSource::Example(index) = source
            && let Some(example) = EXAMPLES.get(index)
        {
            example.template.clone_into(&mut self.form.template);
            self.form.checks = example.checks.iter().map(ToString::to_string).collect();
            self.form.n_tokens = example.n_tokens;
            self.form.stop = example.stop;
        }
        self.form.source = source;
        self.form.reload();
        self.form.prepare();
    }
}

/// Returns why the tasks can't be run now, or `None` if they can.
pub(super) fn blocking_reason(state: &AppState) -> Option<String> {
    let main = &state.models.main;
    let is_needed = |pane: &Pane| state.models.chosen(&pane.settings).is_none();
    let needs_main = state.panes.is_empty() || state.panes.iter().any(is_needed);
    if let Some(reason) = main.blocking_reason().filter(|_| needs_main) {
        return Some(reason.to_owned());
    }
    if state.panes.is_empty() {
        return Some("Add a pane first".to_owned());
    }
    let prompts = &state.lab.prompts;
    let prepared = match prompts.form.tasks() {
        Ok(prepared) => prepared,
        Err(error) => return Some(error.to_owned()),
    };
    if let Some(refusal) = &prepared.refusal {
        return Some(refusal.clone());
    }
    if let Some(refusal) = size_refusal(prompts, prepared, state.panes.len()) {
        return Some(refusal);
    }
    let chains = state.panes.iter().map(|pane| &pane.settings.chain);
    let mut errors = chains.filter_map(|chain| chain.validate().err());
    let error = errors.next().map(|error| error.to_string());
    error.or_else(|| hosts_reason(state))
}

/// Returns why one of the panes can't answer a list where it runs. A model that could not be loaded
/// does not keep the other panes from answering.
fn hosts_reason(state: &AppState) -> Option<String> {
    let is_sweep = state.lab.prompts.view == TaskView::AnySetting;
    let mut reasons = Vec::new();
    for pane in &state.panes {
        let letter = pane_letter(pane.place);
        let chosen = state.models.chosen(&pane.settings);
        if is_sweep && chosen.is_some_and(|model| model.served().is_some()) {
            return Some(format!(
                "Any setting runs on this computer only, but {letter} runs on a server"
            ));
        }
        let reason = state.models.own_blocking_reason(pane, state.prompt.mode);
        let reason = reason.map(|reason| format!("{letter}: {}", in_sentence(&reason)));
        let source = chosen.and_then(PaneModel::local);
        let has_failed = source.is_some_and(|it| state.models.of_panes.failure(it).is_some());
        if reason.is_some() && (is_sweep || !has_failed) {
            return reason;
        }
        reasons.push(reason);
    }
    let are_all = reasons.iter().all(Option::is_some);
    reasons.into_iter().flatten().next().filter(|_| are_all)
}

/// Returns why a run can't have what is varied, or this size.
fn size_refusal(prompts: &PromptsTab, prepared: &PreparedTasks, n_panes: usize) -> Option<String> {
    let form = &prompts.form;
    let size = RunSize {
        n_tasks: prepared.tasks.len(),
        n_settings: n_panes,
        n_answers: form.n_answers,
        n_tokens: form.n_tokens,
        is_exact: prepared.is_exact,
    };
    if prompts.view == TaskView::Table {
        return size.refusal();
    }
    let (axis, columns) = match form.axes() {
        Ok(axes) => axes,
        Err(error) => return Some(error),
    };
    let sweep = TaskSweep::new(axis, columns, n_panes);
    let n_settings = sweep.settings_at(sweep.n_cells());
    let n_answers = form.n_swept_answers();
    let size = RunSize {
        n_settings,
        n_answers,
        ..size
    };
    let not_judged = || {
        let words = "Add a check: without one, there is no share of right answers to plot";
        (!prepared.is_judged).then(|| words.to_owned())
    };
    sweep
        .refusal()
        .or_else(|| size.refusal())
        .or_else(not_judged)
}

/// Opens an answer as a pane: with its prompt, its settings and its seed.
fn open_answer(
    state: &mut AppState,
    view: TaskView,
    (task, pane): (usize, usize),
    answer: usize,
) -> Vec<Effect> {
    let found = state.lab.prompts.runs.shown(view);
    let found = found.and_then(|(results, limits)| {
        let settings = results.settings_at(pane)?.clone();
        let task_text = task_text(results.tasks().get(task)?, &results.form).ok()?;
        let seed = results.answers(task, pane).get(answer)?.seed;
        Some((task_text.prompt, settings, seed, limits.clone()))
    });
    let Some((prompt, settings, seed, limits)) = found else {
        return Vec::new();
    };
    if state.limits != limits {
        // The text would go on where the answer ended.
        state.limits = limits;
        let words = "The token limit and the stop strings are those of the list now";
        state.notify(Notice::hint(words));
    }
    let pane = NewPane::of(settings, seed);
    open_prompt_with(state, prompt, pane)
}

/// Adds a pane with settings of the table or the sweep.
fn use_settings(state: &mut AppState, pane: usize, view: TaskView) -> Vec<Effect> {
    let shown = state.lab.prompts.runs.shown(view);
    let settings = shown.and_then(|(results, _)| results.settings_at(pane).cloned());
    match settings {
        Some(settings) => open_pane_with(state, NewPane::of(settings, state.seed)),
        None => Vec::new(),
    }
}

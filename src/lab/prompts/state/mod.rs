//! A list of tasks, each answered under the settings of all panes.

mod examples;
mod fork;
mod form;
mod kept;
mod lesson;
mod parts;
mod prepared;
mod run;

use std::sync::Arc;

pub use self::examples::EXAMPLES;
pub use self::fork::ForkRun;
pub(super) use self::form::{N_MAX_ANSWERS, N_MAX_TOKENS};
pub use self::form::{PromptsSettings, StopAt, TaskSource, TasksForm};
pub use self::kept::KeptAnswers;
pub use self::run::{SweepRun, TaskRuns, TasksRun};

pub(super) use self::form::task_text;
pub(super) use self::parts::{RunPart, RunParts};
use self::prepared::PreparedTasks;
use crate::decoding::ChainConfig;
use crate::generation::formatting::pane_letter;
use crate::generation::{GenerationId, PaneModel, in_sentence};
use crate::lab::open_pane::{NewPane, open_pane_with, open_prompt_with};
use crate::lab::prompts::TasksPlan;
use crate::lab::prompts::figures::tasks::Task;
use crate::lab::prompts::figures::{JudgedPane, TaskResults, TaskSweep};
use crate::lab::prompts::plan::RunSize;
use crate::lab::{Experiment, Group, LabTab, ResultFacts};
use crate::state::{AppState, Effect, JobRun, Notice, ReadyModel};
use crate::worker::Request;

/// The list of tasks, and their answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptsTab {
    pub form: TasksForm,
    pub view: TaskView,
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
        self.view = self.runs.show(result)?;
        Ok(())
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
        match state.lab.prompts.view {
            TaskView::Table => run_table(state),
            TaskView::AnySetting => run_sweep(state),
        }
    }

    fn close(&mut self) {
        self.runs.table = None;
        self.runs.sweep = None;
        self.runs.fork = None;
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
    if let Some(reason) = state.models.main.blocking_reason() {
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

/// Returns why one of the panes can't answer a list where it runs. Servers draw answers; what is
/// computed needs the main model.
fn hosts_reason(state: &AppState) -> Option<String> {
    if state.lab.prompts.view == TaskView::AnySetting {
        return state.several_models_reason(&state.panes);
    }
    let mut chosen = state.panes.iter().filter_map(|pane| {
        let model = state.models.chosen(&pane.settings)?;
        Some((pane, model))
    });
    chosen.find_map(|(pane, model)| {
        let letter = pane_letter(pane.place);
        if model.served().is_none() {
            return Some(format!(
                "A list runs with the main model and on servers, but {letter} uses another model"
            ));
        }
        let reason = state.models.own_blocking_reason(pane, state.prompt.mode)?;
        Some(format!("{letter}: {}", in_sentence(&reason)))
    })
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

/// What both kinds of runs begin with.
struct Ready {
    tasks: Arc<[Task]>,
    panes: Vec<JudgedPane>,
    plan: TasksPlan,
    model: ReadyModel,
    id: GenerationId,
}

fn ready(state: &mut AppState) -> Option<Ready> {
    let model = state.models.main.ready()?.clone();
    let prompts = &state.lab.prompts;
    let tasks = Arc::clone(&prompts.form.tasks().ok()?.tasks);
    let panes = state.panes.placed().map(|(place, pane)| {
        let chosen = state.models.chosen(&pane.settings);
        JudgedPane {
            letter: pane_letter(place),
            name: pane.settings.name.clone(),
            chain: pane.settings.chain.clone(),
            served: chosen.and_then(PaneModel::served).cloned(),
            model: None,
            not_applied: Vec::new(),
        }
    });
    let panes: Vec<JudgedPane> = panes.collect();
    let served = (0..panes.len()).filter(|index| {
        let pane = panes.get(*index);
        pane.is_some_and(|pane| pane.served.is_some())
    });
    let chains: Vec<ChainConfig> = panes.iter().map(|pane| pane.chain.clone()).collect();
    let form = &state.prompt.to_text().form;
    let plan = TasksPlan {
        tasks: tasks
            .iter()
            .map(|task| task_text(task, form))
            .collect::<Result<_, _>>()
            .ok()?,
        exact: chains.clone(),
        served: served.collect(),
        drawn: chains,
        n_answers: prompts.form.n_answers,
        seed: state.seed,
        limits: prompts.form.limits(&state.limits),
    };
    state.last_id += 1;
    Some(Ready {
        tasks,
        panes,
        plan,
        model,
        id: GenerationId(state.last_id),
    })
}

/// Draws answers under the settings of all panes.
fn run_table(state: &mut AppState) -> Vec<Effect> {
    let Some(Ready {
        tasks,
        panes,
        plan,
        model,
        id,
    }) = ready(state)
    else {
        return Vec::new();
    };
    let last_id = &mut state.last_id;
    let parts = RunPart::all(&plan, &panes, || {
        *last_id += 1;
        GenerationId(*last_id)
    });
    let mut effects = Vec::new();
    for part in &parts {
        match &part.server {
            None => effects.push(Effect::Send(Request::run_job(part.id, plan.clone()))),
            Some(served) => {
                let list = (part.id, Arc::new(part.list(&plan)));
                effects.extend(state.answer_list(served, list));
            }
        }
    }
    let results = TaskResults::new(tasks, panes, &plan, Arc::clone(&model.vocabulary));
    let run = TasksRun::new(id, results, plan.limits, model).with_parts(parts);
    state.lab.prompts.runs.table = Some(run);
    effects
}

/// Computes the share of right answers over what is varied: draws answers, or only adds up
/// probabilities.
fn run_sweep(state: &mut AppState) -> Vec<Effect> {
    let form = &state.lab.prompts.form;
    let n_answers = form.n_swept_answers();
    let Ok((axis, columns)) = form.axes() else {
        return Vec::new();
    };
    let Some(Ready {
        tasks,
        panes,
        mut plan,
        model,
        id,
    }) = ready(state)
    else {
        return Vec::new();
    };
    let sweep = TaskSweep::new(axis, columns, panes.len());
    let base = TaskSweep::base_of(&panes).unwrap_or(0);
    let Some(shared) = panes.get(base) else {
        return Vec::new();
    };
    let cells: Vec<JudgedPane> = sweep.settings(shared).collect();
    plan.exact
        .extend(cells.iter().map(|cell| cell.chain.clone()));
    plan.n_answers = n_answers;
    plan.drawn = match n_answers {
        0 => Vec::new(),
        _ => plan.exact.clone(),
    };
    let vocabulary = Arc::clone(&model.vocabulary);
    let results = TaskResults::new(tasks, panes, &plan, vocabulary).with_cells(cells);
    let run = SweepRun::new(id, results, (base, sweep), plan.limits.clone(), model);
    state.lab.prompts.runs.sweep = Some(run);
    vec![Effect::Send(Request::run_job(id, plan))]
}

/// Opens an answer as a pane: with its prompt, its settings and its seed.
fn open_answer(
    state: &mut AppState,
    view: TaskView,
    (task, pane): (usize, usize),
    answer: usize,
) -> Vec<Effect> {
    let form = state.prompt.to_text().form;
    let found = state.lab.prompts.runs.shown(view);
    let found = found.and_then(|(results, limits)| {
        let settings = results.settings_at(pane)?.clone();
        let task_text = task_text(results.tasks().get(task)?, &form).ok()?;
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

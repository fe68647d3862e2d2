//! A list of tasks, each answered under the settings of all panes.

mod examples;
mod form;
mod kept;
mod lesson;
mod run;

use std::sync::Arc;

pub use self::examples::EXAMPLES;
pub(super) use self::form::{N_MAX_ANSWERS, N_MAX_TOKENS};
pub use self::form::{PromptsSettings, StopAt, TaskSource, TasksForm};
pub use self::kept::KeptAnswers;
pub use self::run::{CurveRun, TaskRuns, TasksRun};

pub(super) use self::form::task_text;
use crate::decoding::ChainConfig;
use crate::generation::GenerationId;
use crate::generation::formatting::{grouped, pane_letter};
use crate::lab::open_pane::{open_pane_with, open_prompt_with};
use crate::lab::prompts::TasksPlan;
use crate::lab::prompts::figures::tasks::Task;
use crate::lab::prompts::figures::{Curve, JudgedPane, TaskResults};
use crate::lab::prompts::plan::N_MAX_RUN;
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
    /// Exact probabilities over a number that is varied.
    AnySetting,
}

/// What the user can do with the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptsCommand {
    /// Write an answer of the table again in a new pane.
    Open {
        task: usize,
        pane: usize,
        /// The index of the answer.
        answer: usize,
    },
    /// Use one of the lists that come with Quartet.
    UseExample(usize),
    /// Use the typed list.
    UseTyped,
    /// Use settings of the table, or those at a value of the curve, in a new pane.
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
        state.lab.prompts.form.prepare();
        if state.lab.is_running(LabTab::Prompts) || blocking_reason(state).is_some() {
            return Vec::new();
        }
        match state.lab.prompts.view {
            TaskView::Table => run_table(state),
            TaskView::AnySetting => run_curve(state),
        }
    }

    fn apply(state: &mut AppState, command: PromptsCommand) -> Vec<Effect> {
        match command {
            PromptsCommand::Open { task, pane, answer } => open_answer(state, task, pane, answer),
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
    match prompts.view {
        TaskView::Table => {
            let n_tasks = prepared.tasks.len();
            let n = prompts.form.n_answers * state.panes.len() * n_tasks;
            if n > N_MAX_RUN {
                return Some(format!(
                    "These are {} answers, and at most {} are kept; choose fewer answers to each \
                     task",
                    grouped(n as f64),
                    grouped(N_MAX_RUN as f64)
                ));
            }
        }
        TaskView::AnySetting => {
            if let Err(error) = prompts.form.axis.axis() {
                return Some(error);
            }
            if !prepared.is_exact {
                return Some("These checks can only be drawn: see Table".to_owned());
            }
        }
    }
    let chains = state.panes.iter().map(|pane| &pane.settings.chain);
    let mut errors = chains.filter_map(|chain| chain.validate().err());
    let error = errors.next().map(|error| error.to_string());
    error.or_else(|| state.several_models_reason(&state.panes))
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
    let panes = (0..).zip(&state.panes).map(|(index, pane)| JudgedPane {
        letter: pane_letter(index),
        name: pane.settings.name.clone(),
        chain: pane.settings.chain.clone(),
    });
    let panes: Vec<JudgedPane> = panes.collect();
    let chains: Vec<ChainConfig> = panes.iter().map(|pane| pane.chain.clone()).collect();
    let form = &state.prompt.to_text().form;
    let plan = TasksPlan {
        tasks: tasks
            .iter()
            .map(|task| task_text(task, form))
            .collect::<Result<_, _>>()
            .ok()?,
        exact: chains.clone(),
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
    let results = TaskResults::new(tasks, panes, &plan, Arc::clone(&model.vocabulary));
    state.lab.prompts.runs.table = Some(TasksRun::new(id, results, plan.limits.clone(), model));
    vec![Effect::Send(Request::run_job(id, plan))]
}

/// Computes the probabilities of right answers over a number that is varied.
fn run_curve(state: &mut AppState) -> Vec<Effect> {
    let Ok(axis) = state.lab.prompts.form.axis.axis() else {
        return Vec::new();
    };
    let Some(Ready {
        tasks,
        mut panes,
        mut plan,
        model,
        id,
    }) = ready(state)
    else {
        return Vec::new();
    };
    let curve = Curve::new(axis, panes.len());
    let base = Curve::base_of(&panes).unwrap_or(0);
    let Some(shared) = panes.get(base).cloned() else {
        return Vec::new();
    };
    panes.extend(curve.settings(&shared));
    plan.exact = panes.iter().map(|pane| pane.chain.clone()).collect();
    plan.drawn.clear();
    plan.n_answers = 0;
    let results = TaskResults::new(tasks, panes, &plan, Arc::clone(&model.vocabulary));
    let run = CurveRun::new(id, results, (base, curve), plan.limits.clone(), model);
    state.lab.prompts.runs.curve = Some(run);
    vec![Effect::Send(Request::run_job(id, plan))]
}

/// Opens an answer as a pane: with its prompt, its settings and its seed.
fn open_answer(state: &mut AppState, task: usize, pane: usize, answer: usize) -> Vec<Effect> {
    let form = state.prompt.to_text().form;
    let run = state.lab.prompts.runs.table.as_ref();
    let found = run.and_then(|run| {
        let chain = run.results.panes.get(pane)?.chain.clone();
        let task_text = task_text(run.results.tasks().get(task)?, &form).ok()?;
        let seed = run.results.answers(task, pane).get(answer)?.seed;
        Some((task_text.prompt, chain, seed, run.limits.clone()))
    });
    let Some((prompt, chain, seed, limits)) = found else {
        return Vec::new();
    };
    if state.limits != limits {
        // The text would go on where the answer ended.
        state.limits = limits;
        let words = "The token limit and the stop strings are those of the list now";
        state.notify(Notice::hint(words));
    }
    open_prompt_with(state, prompt, chain, seed)
}

/// Adds a pane with settings of the table or the curve.
fn use_settings(state: &mut AppState, pane: usize, view: TaskView) -> Vec<Effect> {
    let runs = &state.lab.prompts.runs;
    let results = match view {
        TaskView::Table => runs.table.as_ref().map(|run| &run.results),
        TaskView::AnySetting => runs.curve.as_ref().map(|run| &run.results),
    };
    let chain = results.and_then(|results| Some(results.panes.get(pane)?.chain.clone()));
    match chain {
        Some(chain) => open_pane_with(state, chain, state.seed),
        None => Vec::new(),
    }
}

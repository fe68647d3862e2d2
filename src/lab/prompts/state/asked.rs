//! What a run over the tasks is asked to do: what the form says, or what a run on screen was asked.

use std::sync::Arc;

use super::parts::RunPart;
use super::{SweepRun, TaskRuns, TaskView, TasksRun, task_text};
use crate::decoding::ChainConfig;
use crate::generation::formatting::pane_letter;
use crate::generation::{GenerationId, Limits, ModelSource, PaneModel, PromptForm};
use crate::lab::MadeBy;
use crate::lab::prompts::TasksPlan;
use crate::lab::prompts::figures::tasks::Task;
use crate::lab::prompts::figures::{JudgedPane, TaskResults, TaskSweep};
use crate::lab::prompts::plan::RunSize;
use crate::state::{AppState, Effect, JobRun, Models, RunStatus};
use crate::worker::Request;

/// What a run is asked to do.
pub(super) struct AskedTasks {
    tasks: Arc<[Task]>,
    panes: Vec<JudgedPane>,
    n_answers: usize,
    seed: u64,
    limits: Limits,
    /// The form that prompts take.
    form: PromptForm,
    /// The index of the pane whose other settings all values share, and what is varied; `None` for a
    /// table.
    curve: Option<(usize, TaskSweep)>,
}

impl AskedTasks {
    /// Returns what the form and the panes say: to draw answers, or to compute the share of right
    /// answers over what is varied.
    pub(super) fn of_form(state: &AppState) -> Option<Self> {
        let prompts = &state.lab.prompts;
        let form = &prompts.form;
        let panes = state.panes.placed().map(|(place, pane)| {
            let chosen = state.models.chosen(&pane.settings);
            JudgedPane {
                letter: pane_letter(place),
                name: pane.settings.name.clone(),
                chain: pane.settings.chain.clone(),
                host: chosen.cloned(),
                model: None,
                not_applied: Vec::new(),
            }
        });
        let panes: Vec<JudgedPane> = panes.collect();
        let (n_answers, curve) = match prompts.view {
            TaskView::Table => (form.n_answers, None),
            TaskView::AnySetting => {
                let (axis, columns) = form.axes().ok()?;
                let base = TaskSweep::base_of(&panes).unwrap_or(0);
                let sweep = TaskSweep::new(axis, columns, panes.len());
                (form.n_swept_answers(), Some((base, sweep)))
            }
        };
        Some(Self {
            tasks: Arc::clone(&form.tasks().ok()?.tasks),
            panes,
            n_answers,
            seed: state.seed,
            limits: form.limits(&state.limits),
            form: state.prompt.to_text().form,
            curve,
        })
    }

    /// Returns what the only run on screen was asked to do. `main` is where the main model is from.
    pub(super) fn of_runs(runs: &TaskRuns, main: &ModelSource) -> Option<Self> {
        let (results, limits) = runs.any()?;
        let panes = results.panes.iter().cloned().map(|mut pane| {
            let is_main = |host: &mut PaneModel| host.local() == Some(main);
            pane.host.take_if(is_main);
            pane
        });
        let sweep = runs.sweep.as_ref();
        Some(Self {
            tasks: results.shared_tasks(),
            panes: panes.collect(),
            n_answers: results.n_answers,
            seed: results.seed,
            limits: limits.clone(),
            form: results.form.clone(),
            curve: sweep.map(|run| (run.base, run.sweep.clone())),
        })
    }

    /// Returns the settings at each of the values.
    fn cells(&self) -> Vec<JudgedPane> {
        let cells = self.curve.as_ref().and_then(|(base, sweep)| {
            let shared = self.panes.get(*base)?;
            Some(sweep.settings(shared).collect())
        });
        cells.unwrap_or_default()
    }

    /// Returns the plan under the settings of the panes and of these cells.
    fn plan(&self, cells: &[JudgedPane]) -> Option<TasksPlan> {
        let texts = self.tasks.iter().map(|task| task_text(task, &self.form));
        let settings = self.panes.iter().chain(cells);
        let chains: Vec<ChainConfig> = settings.map(|pane| pane.chain.clone()).collect();
        Some(TasksPlan {
            tasks: texts.collect::<Result<_, _>>().ok()?,
            // Each part leaves out what the others do.
            elsewhere: Vec::new(),
            part: 0,
            drawn: match self.n_answers {
                0 => Vec::new(),
                _ => chains.clone(),
            },
            exact: chains,
            n_answers: self.n_answers,
            seed: self.seed,
            limits: self.limits.clone(),
        })
    }

    /// Runs it with the models that the panes use. Does nothing if the main one is needed and not
    /// loaded.
    pub(super) fn begin(self, state: &mut AppState) -> Vec<Effect> {
        let cells = self.cells();
        let Some(plan) = self.plan(&cells) else {
            return Vec::new();
        };
        let main = state.models.main.ready();
        let vocabulary = main.map(|main| Arc::clone(&main.vocabulary));
        let models = &state.models;
        let results = TaskResults::new(
            self.tasks,
            self.panes,
            &plan,
            &vocabulary.unwrap_or_default(),
        )
        .with_cells(cells)
        .with_form(self.form)
        .with_models(|source| {
            let ready = models.of_panes.ready(source)?;
            Some((&ready.info, &ready.vocabulary))
        });
        let model = main.filter(|_| results.uses_main());
        let model = model.map(|main| Arc::clone(&main.info));
        if results.uses_main() && model.is_none() {
            return Vec::new();
        }
        let second = &state.models.second;
        let second_model = plan.exact.iter().find_map(|chain| second.guiding(chain));
        state.last_id += 1;
        let id = GenerationId(state.last_id);
        let last_id = &mut state.last_id;
        let parts = RunPart::all(&results, || {
            *last_id += 1;
            GenerationId(*last_id)
        });
        let asked: Vec<Asked> = parts
            .iter()
            .map(|part| Asked::of(state, part, &plan))
            .collect();
        let runs = &mut state.lab.prompts.runs;
        if let Some(curve) = self.curve {
            let run = SweepRun {
                second_model,
                ..SweepRun::new(id, results, curve, self.limits, model)
            };
            runs.sweep = Some(run.with_parts(parts));
        } else {
            let run = TasksRun {
                second_model,
                ..TasksRun::new(id, results, self.limits, model)
            };
            runs.table = Some(run.with_parts(parts));
        }
        let effects = asked.into_iter().flat_map(|asked| match asked {
            Asked::Requested(effects) => effects,
            Asked::Refused(id, error) => {
                runs.end(id, RunStatus::Failed { error });
                Vec::new()
            }
        });
        effects.collect()
    }
}

/// What became of the request for a part.
enum Asked {
    Requested(Vec<Effect>),
    /// Its model could not be loaded, for this reason.
    Refused(GenerationId, String),
}

impl Asked {
    /// Asks the host of a part for its answers.
    fn of(state: &mut AppState, part: &RunPart, plan: &TasksPlan) -> Self {
        let request = |source| Effect::Send(Request::run_job_on(source, part.id, part.plan(plan)));
        Self::Requested(match &part.host {
            None => vec![request(None)],
            Some(PaneModel::Local(source)) => match state.models.of_panes.failure(source) {
                Some(error) => return Self::Refused(part.id, error.to_owned()),
                None => vec![request(Some(source.clone()))],
            },
            Some(PaneModel::Server(served)) => {
                state.answer_list(served, (part.id, Arc::new(part.list(plan))))
            }
        })
    }
}

impl TaskRuns {
    /// Returns the results of the table or, without one, of the sweep, and the limits of its answers.
    fn any(&self) -> Option<(&TaskResults, &Limits)> {
        let table = self.shown(TaskView::Table);
        table.or_else(|| self.shown(TaskView::AnySetting))
    }

    /// Returns the models of the table or, without one, of the sweep.
    pub(super) fn made_by(&self) -> Option<MadeBy<'_>> {
        let table = self.table.as_ref();
        let table = table.map(|run| (&run.model, &run.second_model));
        let sweep = self.sweep.as_ref();
        let sweep = sweep.map(|run| (&run.model, &run.second_model));
        let (model, second) = table.or(sweep)?;
        Some(MadeBy {
            model: model.as_deref()?,
            second: second.as_deref(),
        })
    }

    /// Names a model of panes that the table or, without one, the sweep needs and that is not loaded.
    pub(super) fn missing_model(&self, models: &Models) -> Option<String> {
        let (results, _) = self.any()?;
        let mut sources = results.hosts().flatten().filter_map(PaneModel::local);
        let is_missing = |source: &&ModelSource| {
            **source != models.source && models.of_panes.ready(source).is_none()
        };
        let missing = sources.find(is_missing)?;
        Some(format!("Needs {} in a pane", missing.name()))
    }

    /// Returns how large the table or, without one, the sweep can become.
    pub(super) fn size(&self) -> Option<RunSize> {
        let (results, limits) = self.any()?;
        Some(RunSize {
            n_tasks: results.tasks().len(),
            n_settings: results.settings().count(),
            n_answers: results.n_answers,
            n_tokens: limits.max_new_tokens,
            is_exact: true,
        })
    }
}

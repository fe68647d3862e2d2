//! What a run over the tasks is asked to do: what the form says, or what a run on screen was asked.

use std::sync::Arc;

use super::parts::RunPart;
use super::{SweepRun, TaskRuns, TaskView, TasksRun, task_text};
use crate::decoding::ChainConfig;
use crate::generation::formatting::pane_letter;
use crate::generation::{GenerationId, Limits, PaneModel, PromptForm};
use crate::lab::MadeBy;
use crate::lab::prompts::TasksPlan;
use crate::lab::prompts::figures::tasks::Task;
use crate::lab::prompts::figures::{JudgedPane, TaskResults, TaskSweep};
use crate::lab::prompts::plan::RunSize;
use crate::state::{AppState, Effect};
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
                served: chosen.and_then(PaneModel::served).cloned(),
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

    /// Returns what the only run on screen was asked to do.
    pub(super) fn of_runs(runs: &TaskRuns) -> Option<Self> {
        let (results, limits) = runs.any()?;
        let sweep = runs.sweep.as_ref();
        Some(Self {
            tasks: results.shared_tasks(),
            panes: results.panes.clone(),
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
        let panes = self.panes.iter().enumerate();
        let served = panes.filter(|(_, pane)| pane.served.is_some());
        Some(TasksPlan {
            tasks: texts.collect::<Result<_, _>>().ok()?,
            drawn: match self.n_answers {
                0 => Vec::new(),
                _ => chains.clone(),
            },
            exact: chains,
            served: served.map(|(index, _)| index).collect(),
            n_answers: self.n_answers,
            seed: self.seed,
            limits: self.limits.clone(),
        })
    }

    /// Runs it with the loaded model.
    pub(super) fn begin(self, state: &mut AppState) -> Vec<Effect> {
        let cells = self.cells();
        let (Some(model), Some(plan)) = (state.models.main.ready().cloned(), self.plan(&cells))
        else {
            return Vec::new();
        };
        let second = &state.models.second;
        let second_model = plan.exact.iter().find_map(|chain| second.guiding(chain));
        state.last_id += 1;
        let id = GenerationId(state.last_id);
        let vocabulary = Arc::clone(&model.vocabulary);
        let results = TaskResults::new(self.tasks, self.panes, &plan, vocabulary)
            .with_cells(cells)
            .with_form(self.form);
        if let Some(curve) = self.curve {
            state.lab.prompts.runs.sweep = Some(SweepRun {
                second_model,
                ..SweepRun::new(id, results, curve, self.limits, model)
            });
            return vec![Effect::Send(Request::run_job(id, plan))];
        }
        let last_id = &mut state.last_id;
        let parts = RunPart::all(&plan, &results.panes, || {
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
        let run = TasksRun {
            second_model,
            ..TasksRun::new(id, results, self.limits, model)
        };
        state.lab.prompts.runs.table = Some(run.with_parts(parts));
        effects
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
            model: &model.info,
            second: second.as_deref(),
        })
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

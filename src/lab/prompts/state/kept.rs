//! Answers to tasks as the history keeps them: the table or the curve, whichever was made last.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{SweepRun, TaskRuns, TaskView, TasksRun, task_text};
use crate::generation::formatting::counted;
use crate::generation::{GenerationId, Limits, ModelInfo};
use crate::lab::ResultFacts;
use crate::lab::prompts::figures::{KeptTasks, SweepReading, TaskResults, TaskSweep, TasksReading};
use crate::state::RunStatus;

/// Answers to tasks as the history keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswers {
    results: KeptTasks,
    /// The main model, if it answers.
    model: Option<ModelInfo>,
    /// The model that guides, if settings use guidance.
    second_model: Option<ModelInfo>,
    limits: Limits,
    status: RunStatus,
    /// The pane whose other settings all values share, and what was varied; `None` for a table.
    curve: Option<(usize, TaskSweep)>,
}

impl TaskRuns {
    /// Returns what the history keeps, and what it says about it.
    pub(super) fn kept(&self) -> Option<(ResultFacts, KeptAnswers)> {
        let sweep = self.sweep.as_ref();
        let is_last = |run: &&TasksRun| sweep.is_none_or(|sweep| sweep.id.0 < run.id.0);
        let table = self.table.as_ref().filter(is_last);
        let (results, words, kept) = match (table, sweep) {
            (Some(run), _) => {
                let answers = counted(run.results.n_done().0, "answer");
                let n_tasks = counted(run.results.tasks().len(), "task");
                (&run.results, format!("{answers} to {n_tasks}"), run.kept())
            }
            (None, Some(run)) => {
                let n_tasks = counted(run.results.tasks().len(), "task");
                let axes = std::iter::once(&run.sweep.axis).chain(&run.sweep.columns);
                let names: Vec<String> = axes.map(|axis| axis.parameter.name()).collect();
                let names = names.join(" and ");
                (&run.results, format!("{n_tasks} over {names}"), run.kept())
            }
            (None, None) => return None,
        };
        let first = results.tasks().first()?;
        let facts = ResultFacts {
            words,
            model: results
                .first_model(kept.model.as_ref())
                .map_or_else(String::new, |model| model.name.clone()),
            prompt: first.prompt_words(),
        };
        let is_empty = results.n_done().0 == 0 && results.n_tasks_done() == 0;
        (!is_empty).then_some((facts, kept))
    }

    /// Returns what the history has kept, and the view that shows it. Fails, with the reason, if it
    /// contradicts itself.
    pub(super) fn of_kept(kept: KeptAnswers) -> Result<(Self, TaskView), String> {
        let status = kept.status.ended();
        let n_panes = kept.curve.as_ref().map(|(_, sweep)| sweep.n_panes());
        let results = TaskResults::of_kept(kept.results, n_panes)?;
        for task in results.tasks() {
            task_text(task, &results.form)?;
        }
        let second_model = kept.second_model.map(Arc::new);
        let model = kept.model.map(Arc::new);
        // No job has this id.
        let id = GenerationId(0);
        let Some((base, sweep)) = kept.curve else {
            let table = TasksRun {
                reading: TasksReading::of(&results),
                n_tasks_done: results.n_tasks_done(),
                second_model,
                status,
                ..TasksRun::new(id, results, kept.limits, model)
            };
            let runs = Self {
                table: Some(table),
                ..Self::default()
            };
            return Ok((runs, TaskView::Table));
        };
        if !sweep.fits(&results) || base >= results.panes.len() {
            return Err("its settings do not fit its curve".to_owned());
        }
        let curve = SweepRun {
            reading: SweepReading::of(&results, &sweep),
            second_model,
            status,
            ..SweepRun::new(id, results, (base, sweep), kept.limits, model)
        };
        let runs = Self {
            sweep: Some(curve),
            ..Self::default()
        };
        Ok((runs, TaskView::AnySetting))
    }
}

/// Returns what the history keeps of a table, which a curve completes.
fn kept(
    results: &TaskResults,
    model: Option<&ModelInfo>,
    limits: &Limits,
    status: &RunStatus,
) -> KeptAnswers {
    KeptAnswers {
        results: results.kept(),
        model: model.cloned(),
        second_model: None,
        limits: limits.clone(),
        status: status.ended(),
        curve: None,
    }
}

impl TasksRun {
    fn kept(&self) -> KeptAnswers {
        KeptAnswers {
            second_model: self.second_model.as_deref().cloned(),
            ..kept(
                &self.results,
                self.model.as_deref(),
                &self.limits,
                &self.status,
            )
        }
    }
}

impl SweepRun {
    fn kept(&self) -> KeptAnswers {
        KeptAnswers {
            second_model: self.second_model.as_deref().cloned(),
            curve: Some((self.base, self.sweep.clone())),
            ..kept(
                &self.results,
                self.model.as_deref(),
                &self.limits,
                &self.status,
            )
        }
    }
}

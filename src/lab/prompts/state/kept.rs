//! Answers to tasks as the history keeps them: the table or the curve, whichever was made last.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CurveRun, TaskRuns, TaskView, TasksRun};
use crate::generation::formatting::counted;
use crate::generation::{ChatSupport, GenerationId, Limits, ModelInfo};
use crate::lab::ResultFacts;
use crate::lab::prompts::figures::{Curve, CurveReading, KeptTasks, TaskResults, TasksReading};
use crate::state::{ReadyModel, RunStatus};

/// Answers to tasks as the history keeps them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswers {
    results: KeptTasks,
    model: ModelInfo,
    limits: Limits,
    status: RunStatus,
    /// How long the engine worked on the tasks, in seconds; 0 for a curve.
    secs: f64,
    /// The number that was varied, and the pane whose other settings its values share; `None` for a
    /// table.
    curve: Option<(usize, Curve)>,
}

impl TaskRuns {
    /// Returns what the history keeps, and what it says about it.
    pub(super) fn kept(&self) -> Option<(ResultFacts, KeptAnswers)> {
        let curve = self.curve.as_ref();
        let is_last = |run: &&TasksRun| curve.is_none_or(|curve| curve.id.0 < run.id.0);
        let table = self.table.as_ref().filter(is_last);
        let (results, words, kept) = match (table, curve) {
            (Some(run), _) => {
                let answers = counted(run.results.n_done().0, "answer");
                let n_tasks = counted(run.results.tasks().len(), "task");
                (&run.results, format!("{answers} to {n_tasks}"), run.kept())
            }
            (None, Some(run)) => {
                let n_tasks = counted(run.results.tasks().len(), "task");
                let name = run.curve.axis.parameter.name();
                (&run.results, format!("{n_tasks} over {name}"), run.kept())
            }
            (None, None) => return None,
        };
        let first = results.tasks().first()?;
        let facts = ResultFacts {
            words,
            model: kept.model.name.clone(),
            prompt: first.prompt_words(),
        };
        let is_empty = results.n_done().0 == 0 && results.n_tasks_done() == 0;
        (!is_empty).then_some((facts, kept))
    }

    /// Shows what the history has kept. Returns the view that shows it.
    pub(super) fn show(&mut self, kept: KeptAnswers) -> Result<TaskView, String> {
        let status = kept.status.ended();
        let results = TaskResults::of_kept(kept.results)?;
        let model = ReadyModel {
            info: Arc::new(kept.model),
            vocabulary: Arc::clone(results.vocabulary()),
            recommended_sampling: None,
            chat: ChatSupport::Missing,
            load_warning: None,
        };
        // No job has this id.
        let id = GenerationId(0);
        let Some((base, curve)) = kept.curve else {
            self.table = Some(TasksRun {
                reading: TasksReading::of(&results),
                n_tasks_done: results.n_tasks_done(),
                status,
                secs: kept.secs,
                ..TasksRun::new(id, results, kept.limits, model)
            });
            return Ok(TaskView::Table);
        };
        if !curve.fits(&results.panes) || base >= results.panes.len() {
            return Err("its settings do not fit its curve".to_owned());
        }
        self.curve = Some(CurveRun {
            reading: CurveReading::of(&results, &curve),
            status,
            ..CurveRun::new(id, results, (base, curve), kept.limits, model)
        });
        Ok(TaskView::AnySetting)
    }
}

impl TasksRun {
    fn kept(&self) -> KeptAnswers {
        KeptAnswers {
            results: self.results.kept(),
            model: ModelInfo::clone(&self.model.info),
            limits: self.limits.clone(),
            status: self.status.ended(),
            secs: self.secs,
            curve: None,
        }
    }
}

impl CurveRun {
    fn kept(&self) -> KeptAnswers {
        KeptAnswers {
            results: self.results.kept(),
            model: ModelInfo::clone(&self.model.info),
            limits: self.limits.clone(),
            status: self.status.ended(),
            secs: 0.0,
            curve: Some((self.base, self.curve.clone())),
        }
    }
}

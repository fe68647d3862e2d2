//! A run over the tasks: the answers as they arrive, and what they say.

use std::sync::Arc;

use super::parts::{RunPart, RunParts};
use super::{ForkRun, TaskView};
use crate::generation::formatting::{counted, grouped};
use crate::generation::{GenerationId, Limits, ModelInfo, ModelSource, ServedModel};
use crate::lab::prompts::figures::{SweepReading, TaskResults, TaskSweep, TasksReading};
use crate::lab::prompts::{ForkFound, TaskUpdate};
use crate::state::{JobRun, RunStatus};
use crate::worker::JobReport;

/// Answers to tasks, as far as they were drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct TasksRun {
    /// Orders the runs.
    pub(super) id: GenerationId,
    pub(super) parts: RunParts,
    pub results: TaskResults,
    /// The main model, if it answers.
    pub model: Option<Arc<ModelInfo>>,
    /// The model that guides, if settings use guidance.
    pub(super) second_model: Option<Arc<ModelInfo>>,
    pub limits: Limits,
    /// What the answers say. Computed when a task is done, not in every frame.
    pub reading: TasksReading,
    pub status: RunStatus,
    pub(super) n_tasks_done: usize,
    /// The selected task and pane.
    pub selected: Option<(usize, usize)>,
    /// The selected answer of that cell, by its index.
    pub selected_answer: Option<usize>,
}

impl TasksRun {
    pub(super) fn new(
        id: GenerationId,
        results: TaskResults,
        limits: Limits,
        model: Option<Arc<ModelInfo>>,
    ) -> Self {
        Self {
            id,
            parts: RunParts::default(),
            reading: TasksReading::of_running(&results),
            results,
            model,
            second_model: None,
            limits,
            status: RunStatus::Waiting,
            n_tasks_done: 0,
            selected: None,
            selected_answer: None,
        }
    }

    /// Divides the run among models and servers.
    pub(super) fn with_parts(self, parts: Vec<RunPart>) -> Self {
        Self {
            parts: RunParts::new(parts),
            ..self
        }
    }

    /// Returns whether more answers will arrive.
    pub const fn is_running(&self) -> bool {
        self.status.is_running()
    }

    /// "212 of 640 answers, about 16 s left".
    pub fn summary(&self) -> String {
        let (done, all) = self.results.n_done();
        let of_all = format!("{} of {}", grouped(done as f64), counted(all, "answer"));
        match self.status {
            RunStatus::Complete => counted(done, "answer"),
            RunStatus::Waiting | RunStatus::Running => match self.parts.secs_left() {
                Some(secs) => format!("{of_all}, about {:.0} s left", secs.max(1.0)),
                None => of_all,
            },
            RunStatus::Stopped => format!("Stopped after {of_all}"),
            RunStatus::Failed { .. } => format!("Failed after {of_all}"),
        }
    }

    /// Returns how much is done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        let (done, all) = self.results.n_done();
        done as f32 / all.max(1) as f32
    }

    /// Moves the selection by this many rows and panes, within the table.
    pub fn move_selection(&mut self, rows: isize, panes: isize) {
        let order = &self.reading.order;
        let (task, pane) = self.selected.unwrap_or_default();
        let row = order.iter().position(|other| *other == task).unwrap_or(0);
        let last = order.len().saturating_sub(1);
        let row = if self.selected.is_some() {
            row.saturating_add_signed(rows).min(last)
        } else {
            0
        };
        let last = self.results.panes.len().saturating_sub(1);
        let pane = pane.saturating_add_signed(panes).min(last);
        if let Some(task) = order.get(row) {
            self.select(*task, pane);
        }
    }

    /// Selects a cell.
    pub fn select(&mut self, task: usize, pane: usize) {
        self.selected = Some((task, pane));
        self.selected_answer = None;
    }

    /// Returns the index of the answer to read first: the selected one, or else the first wrong one.
    pub fn shown_answer(&self) -> usize {
        let at = self.selected.unwrap_or_default();
        self.results.shown_answer(at, self.selected_answer)
    }

    fn add(&mut self, update: TaskUpdate) {
        self.results.add(update);
        let n_done = self.results.n_tasks_done();
        if n_done > self.n_tasks_done {
            self.n_tasks_done = n_done;
            self.reading.advance(&self.results);
        }
    }
}

impl JobRun for TasksRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        self.parts.ids()
    }

    fn server_of(&self, id: GenerationId) -> Option<&ServedModel> {
        self.parts.server_of(id)
    }

    fn models_of_panes(&self) -> Vec<&ModelSource> {
        self.parts.models_of_panes()
    }

    fn on_report(&mut self, id: GenerationId, report: JobReport) {
        self.status.begin();
        if let Some(update) = self.parts.read(id, report, &mut self.results) {
            self.add(update);
        }
    }

    fn end(&mut self, id: GenerationId, status: RunStatus) {
        let (missing, ended) = self.parts.end(id, status);
        for update in missing {
            self.add(update);
        }
        if let Some(status) = ended {
            self.status = status;
            self.reading = TasksReading::of(&self.results);
        }
    }
}

/// The share of right answers over one or two numbers that are varied.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRun {
    pub(super) id: GenerationId,
    pub(super) parts: RunParts,
    /// Its cells are the settings at each value.
    pub results: TaskResults,
    /// The index of the pane whose other settings all values share.
    pub base: usize,
    pub sweep: TaskSweep,
    /// What the sweep shows. Computed when tasks are done, not in every frame.
    pub reading: SweepReading,
    /// The main model, if it answers.
    pub model: Option<Arc<ModelInfo>>,
    /// The model that guides, if settings use guidance.
    pub(super) second_model: Option<Arc<ModelInfo>>,
    pub limits: Limits,
    pub status: RunStatus,
    /// The selected task.
    pub selected: Option<usize>,
    /// The selected cell.
    pub selected_cell: Option<usize>,
    /// The selected answer to that task in that cell, by its index.
    pub selected_answer: Option<usize>,
}

impl SweepRun {
    pub(super) fn new(
        id: GenerationId,
        results: TaskResults,
        (base, sweep): (usize, TaskSweep),
        limits: Limits,
        model: Option<Arc<ModelInfo>>,
    ) -> Self {
        Self {
            id,
            parts: RunParts::default(),
            results,
            base,
            sweep,
            reading: SweepReading::default(),
            model,
            second_model: None,
            limits,
            status: RunStatus::Waiting,
            selected: None,
            selected_cell: None,
            selected_answer: None,
        }
    }

    /// Divides the run among models.
    pub(super) fn with_parts(self, parts: Vec<RunPart>) -> Self {
        Self {
            parts: RunParts::new(parts),
            ..self
        }
    }

    /// Returns whether more tasks follow.
    pub const fn is_running(&self) -> bool {
        self.status.is_running()
    }

    /// Returns whether answers are drawn.
    pub const fn is_drawn(&self) -> bool {
        self.results.n_answers > 0
    }

    /// "12 of 40 tasks, about 16 s left", or how it ended.
    pub fn summary(&self) -> String {
        let n = self.results.tasks().len();
        let done = self.results.n_tasks_done();
        let of_all = format!("{} of {}", grouped(done as f64), counted(n, "task"));
        match self.status {
            RunStatus::Complete => counted(n, "task"),
            RunStatus::Waiting | RunStatus::Running => {
                let secs = self.parts.secs_left().filter(|_| self.is_drawn());
                match secs {
                    Some(secs) => format!("{of_all}, about {:.0} s left", secs.max(1.0)),
                    None => of_all,
                }
            }
            RunStatus::Stopped => format!("Stopped after {of_all}"),
            RunStatus::Failed { .. } => format!("Failed after {of_all}"),
        }
    }

    /// Returns how much is done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        let n = self.results.tasks().len();
        self.results.n_tasks_done() as f32 / n.max(1) as f32
    }

    /// Returns the task to describe: the selected one, or else the first that decides the sweep, or
    /// the first.
    pub fn shown_task(&self) -> Option<usize> {
        let first = || (self.is_drawn() && !self.results.tasks().is_empty()).then_some(0);
        let deciding = self.reading.deciding.first().copied();
        self.selected.or(deciding).or_else(first)
    }

    /// Returns the index of the settings to describe: those of the selected cell, or else those of
    /// the pane that all cells share, or of the best cell of a map.
    pub fn shown_settings(&self) -> usize {
        let is_map = self.sweep.columns.is_some();
        let best = || self.reading.best_cell().filter(|_| is_map);
        let cell = self.selected_cell.or_else(best);
        cell.map_or(self.base, |cell| self.sweep.settings_at(cell))
    }

    /// Returns the index of the answer to read first.
    pub fn shown_answer(&self) -> usize {
        let task = self.shown_task().unwrap_or_default();
        let at = (task, self.shown_settings());
        self.results.shown_answer(at, self.selected_answer)
    }

    /// Selects a task.
    pub const fn select_task(&mut self, task: usize) {
        self.selected = Some(task);
        self.selected_answer = None;
    }

    /// Selects a cell.
    pub const fn select_cell(&mut self, cell: usize) {
        self.selected_cell = Some(cell);
        self.selected_answer = None;
    }

    /// Moves the selection: over one number up and down through the deciding tasks and sideways
    /// through the values, over two through the cells of the map.
    pub fn move_selection(&mut self, rows: isize, columns: isize) {
        if self.sweep.columns.is_some() {
            self.move_in_map(rows, columns);
            return;
        }
        if rows != 0 {
            let deciding = &self.reading.deciding;
            let shown = self.shown_task();
            let index = deciding.iter().position(|task| Some(*task) == shown);
            let last = deciding.len().saturating_sub(1);
            let index = index.map_or(0, |index| index.saturating_add_signed(rows).min(last));
            if let Some(task) = deciding.get(index) {
                self.select_task(*task);
            }
        }
        if columns != 0 {
            let last = self.sweep.n_cells().saturating_sub(1);
            let moved = |cell: usize| cell.saturating_add_signed(columns).min(last);
            self.select_cell(self.selected_cell.map_or(0, moved));
        }
    }

    /// The largest value of the rows is at the top of the map.
    fn move_in_map(&mut self, rows: isize, columns: isize) {
        let values = self.sweep.axis.values();
        let is_rising = values.first() < values.last();
        let n_columns = self.sweep.n_columns();
        let shown = self.selected_cell.or_else(|| self.reading.best_cell());
        let cell = shown.unwrap_or(0);
        let down = if is_rising { -rows } else { rows };
        let row = (cell / n_columns).saturating_add_signed(down);
        let row = row.min(values.len().saturating_sub(1));
        let column = (cell % n_columns).saturating_add_signed(columns);
        self.select_cell(row * n_columns + column.min(n_columns - 1));
    }
}

impl JobRun for SweepRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        self.parts.ids()
    }

    fn models_of_panes(&self) -> Vec<&ModelSource> {
        self.parts.models_of_panes()
    }

    fn on_report(&mut self, id: GenerationId, report: JobReport) {
        self.status.begin();
        if let Some(update) = self.parts.read(id, report, &mut self.results) {
            self.results.add(update);
            self.reading.advance(&self.results, &self.sweep);
        }
    }

    fn end(&mut self, id: GenerationId, status: RunStatus) {
        let (missing, ended) = self.parts.end(id, status);
        for update in missing {
            self.results.add(update);
        }
        if let Some(status) = ended {
            self.status = status;
            self.reading = SweepReading::of(&self.results, &self.sweep);
        }
    }
}

/// What the tab shows: a table of answers, and a sweep. One of them runs at a time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskRuns {
    pub table: Option<TasksRun>,
    pub sweep: Option<SweepRun>,
    /// The choice that the user looks into.
    pub fork: Option<ForkRun>,
}

impl TaskRuns {
    /// Returns the results of a view, and the limits of its answers.
    pub(super) fn shown(&self, view: TaskView) -> Option<(&TaskResults, &Limits)> {
        match view {
            TaskView::Table => {
                let run = self.table.as_ref()?;
                Some((&run.results, &run.limits))
            }
            TaskView::AnySetting => {
                let run = self.sweep.as_ref()?;
                Some((&run.results, &run.limits))
            }
        }
    }

    /// Returns both, the running one first.
    fn all(&self) -> Vec<&dyn JobRun> {
        let table = self.table.as_ref().map(|run| run as &dyn JobRun);
        let sweep = self.sweep.as_ref().map(|run| run as &dyn JobRun);
        let mut all: Vec<&dyn JobRun> = table.into_iter().chain(sweep).collect();
        all.sort_by_key(|run| !run.status().is_running());
        all
    }

    fn owner(&mut self, id: GenerationId) -> Option<&mut dyn JobRun> {
        if let Some(table) = &mut self.table
            && table.running_jobs().contains(&id)
        {
            return Some(table);
        }
        let sweep = self.sweep.as_mut();
        let sweep = sweep.filter(|run| run.running_jobs().contains(&id));
        sweep.map(|run| run as _)
    }
}

impl JobRun for TaskRuns {
    fn status(&self) -> &RunStatus {
        self.all()
            .first()
            .map_or(&RunStatus::Complete, |run| run.status())
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        let fork = self.fork.as_ref().filter(|fork| fork.status.is_running());
        let all = self.all();
        let jobs = all.iter().flat_map(|run| run.running_jobs());
        jobs.chain(fork.map(|fork| fork.id)).collect()
    }

    fn server_of(&self, id: GenerationId) -> Option<&ServedModel> {
        self.table.as_ref()?.server_of(id)
    }

    fn models_of_panes(&self) -> Vec<&ModelSource> {
        let all = self.all().into_iter();
        all.flat_map(JobRun::models_of_panes).collect()
    }

    fn on_report(&mut self, id: GenerationId, report: JobReport) {
        if let Some(fork) = self.fork.as_ref().filter(|fork| fork.id == id) {
            let view = fork.view;
            let found: Option<ForkFound> = report.take();
            let results = match view {
                TaskView::Table => self.table.as_ref().map(|run| &run.results),
                TaskView::AnySetting => self.sweep.as_ref().map(|run| &run.results),
            };
            if let (Some(fork), Some(results), Some(found)) = (&mut self.fork, results, found) {
                fork.add(results, found);
            }
        } else if let Some(run) = self.owner(id) {
            run.on_report(id, report);
        }
    }

    fn end(&mut self, id: GenerationId, status: RunStatus) {
        if let Some(fork) = self.fork.as_mut().filter(|fork| fork.id == id) {
            fork.status = status;
        } else if let Some(run) = self.owner(id) {
            run.end(id, status);
        }
    }
}

//! A run over the tasks: the answers as they arrive, and what they say.

use crate::generation::formatting::{counted, grouped};
use crate::generation::{GenerationId, Limits};
use crate::lab::prompts::figures::{Curve, CurveReading, JudgedAnswer, TaskResults, TasksReading};
use crate::lab::prompts::{TaskNews, TaskUpdate};
use crate::state::{JobRun, ReadyModel, RunStatus};
use crate::worker::JobReport;

/// Answers to tasks, as far as they were drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct TasksRun {
    pub(super) id: GenerationId,
    pub results: TaskResults,
    pub model: ReadyModel,
    pub limits: Limits,
    /// What the answers say. Computed when a task is done, not in every frame.
    pub reading: TasksReading,
    pub status: RunStatus,
    /// How long the engine has worked on the tasks that are done, in seconds.
    pub(super) secs: f64,
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
        model: ReadyModel,
    ) -> Self {
        Self {
            id,
            reading: TasksReading::of_running(&results),
            results,
            model,
            limits,
            status: RunStatus::Waiting,
            secs: 0.0,
            n_tasks_done: 0,
            selected: None,
            selected_answer: None,
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
            RunStatus::Waiting | RunStatus::Running => match self.secs_left() {
                Some(secs) => format!("{of_all}, about {:.0} s left", secs.max(1.0)),
                None => of_all,
            },
            RunStatus::Stopped => format!("Stopped after {of_all}"),
            RunStatus::Failed { .. } => format!("Failed after {of_all}"),
        }
    }

    /// Estimates how many seconds are left from the tasks so far.
    fn secs_left(&self) -> Option<f64> {
        let n_left = self.results.tasks().len().saturating_sub(self.n_tasks_done);
        (self.n_tasks_done >= 2).then(|| self.secs / self.n_tasks_done as f64 * n_left as f64)
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
        let (task, pane) = self.selected.unwrap_or_default();
        let answers = self.results.answers(task, pane);
        let selected = self.selected_answer.filter(|index| *index < answers.len());
        let is_wrong = |answer: &JudgedAnswer| !answer.is_right();
        let wrong = || answers.iter().position(is_wrong);
        selected.or_else(wrong).unwrap_or(0)
    }

    fn add(&mut self, update: TaskUpdate) {
        let done = match update.news {
            TaskNews::Done { secs } => Some(secs),
            TaskNews::Refused { .. } => Some(0.0),
            _ => None,
        };
        self.results.add(update);
        if let Some(secs) = done {
            self.secs += secs;
            self.n_tasks_done += 1;
            self.reading.advance(&self.results);
        }
    }
}

impl JobRun for TasksRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        self.is_running().then_some(self.id).into_iter().collect()
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        self.status.begin();
        if let Some(update) = report.take() {
            self.add(update);
        }
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        self.status = status;
        self.reading = TasksReading::of(&self.results);
    }
}

/// The probability of right answers over a number that is varied.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveRun {
    pub(super) id: GenerationId,
    /// Its panes are the window's, followed by one for each value of the axis.
    pub results: TaskResults,
    /// The index of the pane whose other settings all values share.
    pub base: usize,
    pub curve: Curve,
    /// What the curve shows. Computed when tasks are done, not in every frame.
    pub reading: CurveReading,
    pub model: ReadyModel,
    pub limits: Limits,
    pub status: RunStatus,
    /// The selected task.
    pub selected: Option<usize>,
}

impl CurveRun {
    pub(super) fn new(
        id: GenerationId,
        results: TaskResults,
        (base, curve): (usize, Curve),
        limits: Limits,
        model: ReadyModel,
    ) -> Self {
        Self {
            id,
            results,
            base,
            curve,
            reading: CurveReading::default(),
            model,
            limits,
            status: RunStatus::Waiting,
            selected: None,
        }
    }

    /// Returns whether more tasks follow.
    pub const fn is_running(&self) -> bool {
        self.status.is_running()
    }

    /// "12 of 40 tasks", or how it ended.
    pub fn summary(&self) -> String {
        let n = self.results.tasks().len();
        let done = self.results.n_tasks_done();
        let of_all = format!("{} of {}", grouped(done as f64), counted(n, "task"));
        match self.status {
            RunStatus::Complete => counted(n, "task"),
            RunStatus::Waiting | RunStatus::Running => of_all,
            RunStatus::Stopped => format!("Stopped after {of_all}"),
            RunStatus::Failed { .. } => format!("Failed after {of_all}"),
        }
    }

    /// Returns how much is done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        let n = self.results.tasks().len();
        self.results.n_tasks_done() as f32 / n.max(1) as f32
    }

    /// Returns the task to describe: the selected one, or else the first that decides the curve.
    pub fn shown_task(&self) -> Option<usize> {
        self.selected.or(self.reading.deciding.first().copied())
    }

    /// Moves the selection by this many of the deciding tasks.
    pub fn move_selection(&mut self, by: isize) {
        let deciding = &self.reading.deciding;
        let shown = self.shown_task();
        let index = deciding.iter().position(|task| Some(*task) == shown);
        let last = deciding.len().saturating_sub(1);
        let index = index.map_or(0, |index| index.saturating_add_signed(by).min(last));
        self.selected = deciding.get(index).copied();
    }
}

impl JobRun for CurveRun {
    fn status(&self) -> &RunStatus {
        &self.status
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        self.is_running().then_some(self.id).into_iter().collect()
    }

    fn on_report(&mut self, _id: GenerationId, report: JobReport) {
        self.status.begin();
        if let Some(update) = report.take() {
            self.results.add(update);
            self.reading.advance(&self.results, &self.curve);
        }
    }

    fn end(&mut self, _id: GenerationId, status: RunStatus) {
        self.status = status;
        self.reading = CurveReading::of(&self.results, &self.curve);
    }
}

/// What the tab shows: a table of answers, and a curve of probabilities. One of them runs at a time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskRuns {
    pub table: Option<TasksRun>,
    pub curve: Option<CurveRun>,
}

impl TaskRuns {
    /// Returns both, the running one first.
    fn all(&self) -> Vec<&dyn JobRun> {
        let table = self.table.as_ref().map(|run| run as &dyn JobRun);
        let curve = self.curve.as_ref().map(|run| run as &dyn JobRun);
        let mut all: Vec<&dyn JobRun> = table.into_iter().chain(curve).collect();
        all.sort_by_key(|run| !run.status().is_running());
        all
    }

    fn owner(&mut self, id: GenerationId) -> Option<&mut dyn JobRun> {
        if let Some(table) = &mut self.table
            && table.id == id
        {
            return Some(table);
        }
        let curve = self.curve.as_mut().filter(|run| run.id == id);
        curve.map(|run| run as _)
    }
}

impl JobRun for TaskRuns {
    fn status(&self) -> &RunStatus {
        self.all()
            .first()
            .map_or(&RunStatus::Complete, |run| run.status())
    }

    fn running_jobs(&self) -> Vec<GenerationId> {
        self.all()
            .iter()
            .flat_map(|run| run.running_jobs())
            .collect()
    }

    fn on_report(&mut self, id: GenerationId, report: JobReport) {
        if let Some(run) = self.owner(id) {
            run.on_report(id, report);
        }
    }

    fn end(&mut self, id: GenerationId, status: RunStatus) {
        if let Some(run) = self.owner(id) {
            run.end(id, status);
        }
    }
}

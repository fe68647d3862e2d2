//! The jobs of experiments, which wait while any pane is busy.

use std::any::Any;

use super::Session;
use crate::engine::job::{Job, JobContext, JobPlan, JobPriority, JobUpdate};
use crate::engine::{EngineError, LoadedModel};
use crate::generation::GenerationId;

/// The jobs that are waiting or running.
pub(super) struct Jobs {
    /// By priority, then in the order of their requests. The first one runs.
    queue: Vec<QueuedJob>,
    /// What the last job left for the next of its kind.
    kept: Option<Box<dyn Any + Send>>,
}

struct QueuedJob {
    id: GenerationId,
    priority: JobPriority,
    stops_with_panes: bool,
    job: Box<dyn Job>,
}

impl Jobs {
    pub(super) const fn new() -> Self {
        Self {
            queue: Vec::new(),
            kept: None,
        }
    }
}

impl Session {
    /// Queues a job. Fails if it can't start with this model.
    pub fn run_job(
        &mut self,
        id: GenerationId,
        plan: &dyn JobPlan,
        other: Option<LoadedModel>,
    ) -> Result<(), EngineError> {
        let job = plan.start(&self.model, other)?;
        let priority = plan.priority();
        let queue = &mut self.jobs.queue;
        let index = queue.partition_point(|queued| queued.priority <= priority);
        let queued = QueuedJob {
            id,
            priority,
            stops_with_panes: plan.stops_with_panes(),
            job,
        };
        queue.insert(index, queued);
        Ok(())
    }

    /// Returns whether any job is running or queued.
    pub const fn has_jobs(&self) -> bool {
        !self.jobs.queue.is_empty()
    }

    /// Returns the priority of the job that runs, if there is one.
    pub fn job_priority(&self) -> Option<JobPriority> {
        let running = self.jobs.queue.first();
        running.map(|queued| queued.priority)
    }

    /// Runs one forward pass of the first job, and returns what happened.
    pub fn advance_job(&mut self) -> Option<(GenerationId, JobUpdate)> {
        let queued = self.jobs.queue.first_mut()?;
        let id = queued.id;
        let advanced = queued.job.advance(&mut JobContext {
            model: &mut self.model,
            prefix_cache: &mut self.prefix_cache,
            kept: &mut self.jobs.kept,
        });
        let update = advanced.unwrap_or_else(|error| Some(JobUpdate::failed(error)))?;
        if update.is_end() {
            self.stop_job(id);
        }
        Some((id, update))
    }

    /// Stops a job, and drops what is incomplete. Returns whether it was present.
    pub fn stop_job(&mut self, id: GenerationId) -> bool {
        let queue = &mut self.jobs.queue;
        let Some(index) = queue.iter().position(|queued| queued.id == id) else {
            return false;
        };
        queue.remove(index).job.retire(&mut JobContext {
            model: &mut self.model,
            prefix_cache: &mut self.prefix_cache,
            kept: &mut self.jobs.kept,
        });
        true
    }

    /// Returns the ids of all jobs, in the order in which they run.
    pub fn job_ids(&self) -> Vec<GenerationId> {
        self.jobs.queue.iter().map(|queued| queued.id).collect()
    }

    /// Returns the ids of the jobs that stop together with the panes.
    pub fn ids_of_pane_jobs(&self) -> Vec<GenerationId> {
        let queue = self.jobs.queue.iter();
        let with_panes = queue.filter(|queued| queued.stops_with_panes);
        with_panes.map(|queued| queued.id).collect()
    }
}

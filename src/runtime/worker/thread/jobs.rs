//! The jobs of experiments, which the main model does while no pane is busy.

use super::{EngineThread, NO_MODEL};
use crate::engine::{AnyPlan, Compute, EngineError, JobUpdate, LoadProgress, LoadedModel, Session};
use crate::generation::{GenerationId, ModelSource};
use crate::worker::event_sender::Disconnected;
use crate::worker::loading::{self, LoadOutcome};
use crate::worker::{Event, OtherModel, Request};

impl<L> EngineThread<L>
where
    L: Fn(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
        + Send
        + Sync
        + 'static,
{
    /// Queues a job, or reports why it can't start.
    pub(super) fn run_job(
        &mut self,
        id: GenerationId,
        plan: &AnyPlan,
        other: Option<&OtherModel>,
    ) -> Result<(), Disconnected> {
        let mut chains = plan.chains().iter();
        let end = match chains.find_map(|chain| chain.validate().err()) {
            Some(invalid) => Some(JobUpdate::failed(invalid)),
            None if self.sessions.main.is_none() => Some(JobUpdate::failed(NO_MODEL)),
            None => self.queue_job(id, plan, other)?,
        };
        end.map_or(Ok(()), |update| self.events.send(Event::Job { id, update }))
    }

    /// Loads the other model that a job needs, and queues the job. Returns how the job ended, if it
    /// was not queued.
    fn queue_job(
        &mut self,
        id: GenerationId,
        plan: &AnyPlan,
        other: Option<&OtherModel>,
    ) -> Result<Option<JobUpdate>, Disconnected> {
        let other = match other.map(|other| self.load_other(id, other)).transpose()? {
            Some(LoadOutcome::Loaded(model)) => Some(*model),
            Some(LoadOutcome::Cancelled) => return Ok(Some(JobUpdate::Stopped)),
            Some(LoadOutcome::Failed(error)) => return Ok(Some(JobUpdate::failed(error))),
            None => None,
        };
        let session = self.sessions.main.as_mut();
        let queued = session.map(|session| session.run_job(id, &**plan, other));
        Ok(queued.and_then(Result::err).map(JobUpdate::failed))
    }

    /// Loads a model for a job, until it is stopped.
    fn load_other(
        &mut self,
        id: GenerationId,
        other: &OtherModel,
    ) -> Result<LoadOutcome, Disconnected> {
        let compute = other.way.of(self.compute()?);
        let loader = |progress: LoadProgress<'_>| (self.loader)(&other.source, &compute, progress);
        let loading = |fraction| {
            let update = JobUpdate::Loading { fraction };
            Event::Job { id, update }
        };
        let cancel = &Request::StopJob(id);
        loading::load(loader, loading, cancel, (&self.events, &mut self.incoming))
    }

    /// Runs one forward pass of the job that is next.
    pub(super) fn advance_job(&mut self) -> Result<(), Disconnected> {
        let session = self.sessions.main.as_mut();
        let advanced = session.and_then(Session::advance_job);
        advanced.map_or(Ok(()), |(id, update)| {
            self.events.send(Event::Job { id, update })
        })
    }

    pub(super) fn stop_job(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        let session = self.sessions.main.as_mut();
        if session.is_some_and(|session| session.stop_job(id)) {
            let update = JobUpdate::Stopped;
            self.events.send(Event::Job { id, update })?;
        }
        Ok(())
    }
}

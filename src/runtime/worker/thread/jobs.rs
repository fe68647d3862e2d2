//! The jobs of experiments, which models do while no pane is busy.

use super::{EngineThread, NO_MODEL};
use crate::engine::{AnyPlan, Compute, EngineError, JobUpdate, LoadProgress, LoadedModel};
use crate::generation::hosts::OWN_MODEL;
use crate::generation::{GenerationId, ModelSource};
use crate::worker::event_sender::Disconnected;
use crate::worker::loading::{self, LoadOutcome};
use crate::worker::{Event, OtherModel, Request};

const NO_PANE_MODEL: &str = "the model is not loaded; a pane must use it";

/// The models of a job.
#[derive(Clone, Copy)]
pub(super) struct JobModels<'a> {
    /// The model of panes that does it; `None` for the main model.
    pub own: Option<&'a ModelSource>,
    /// The model that is loaded for it.
    pub other: Option<&'a OtherModel>,
}

impl<L> EngineThread<L>
where
    L: Fn(&ModelSource, &Compute, LoadProgress<'_>) -> Result<Option<LoadedModel>, EngineError>
        + Send
        + Sync
        + 'static,
{
    /// Queues a job for a model of panes or the main one, or reports why it can't start.
    pub(super) fn run_job(
        &mut self,
        id: GenerationId,
        plan: &AnyPlan,
        models: JobModels<'_>,
    ) -> Result<(), Disconnected> {
        let mut chains = plan.chains().iter();
        let invalid = chains.find_map(|chain| {
            let valid = chain.validate().map_err(|error| error.to_string());
            let fits = valid.and_then(|()| match models.own {
                Some(_) => OWN_MODEL.check(chain).map_err(|error| error.to_string()),
                None => Ok(()),
            });
            fits.err()
        });
        let end = match invalid {
            Some(invalid) => Some(JobUpdate::failed(invalid)),
            None if self.sessions.of(models.own).is_none() => {
                let missing = models.own.map_or(NO_MODEL, |_| NO_PANE_MODEL);
                Some(JobUpdate::failed(missing))
            }
            None => self.queue_job(id, plan, models)?,
        };
        end.map_or(Ok(()), |update| self.events.send(Event::Job { id, update }))
    }

    /// Loads the other model that a job needs, and queues the job. Returns how the job ended, if it
    /// was not queued.
    fn queue_job(
        &mut self,
        id: GenerationId,
        plan: &AnyPlan,
        models: JobModels<'_>,
    ) -> Result<Option<JobUpdate>, Disconnected> {
        let other = match models
            .other
            .map(|other| self.load_other(id, other))
            .transpose()?
        {
            Some(LoadOutcome::Loaded(model)) => Some(*model),
            Some(LoadOutcome::Cancelled) => return Ok(Some(JobUpdate::Stopped)),
            Some(LoadOutcome::Failed(error)) => return Ok(Some(JobUpdate::failed(error))),
            None => None,
        };
        let session = self.sessions.of_mut(models.own);
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
        let advanced = self.sessions.advance_job();
        advanced.map_or(Ok(()), |(id, update)| {
            self.events.send(Event::Job { id, update })
        })
    }

    pub(super) fn stop_job(&mut self, id: GenerationId) -> Result<(), Disconnected> {
        if self.sessions.iter_mut().any(|session| session.stop_job(id)) {
            let update = JobUpdate::Stopped;
            self.events.send(Event::Job { id, update })?;
        }
        Ok(())
    }
}

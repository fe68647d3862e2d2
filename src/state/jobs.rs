//! Runs of experiments: which jobs the engine does for them, and how they end.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{AppState, Effect, ModelStatus, ReadyModel};
use crate::generation::{ModelSource, ServedModel};
use crate::lab::LabTab;
use crate::worker::{GenerationId, JobReport, JobUpdate, ListPlan, Request, ServerRequest};

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunStatus {
    /// Nothing has begun yet.
    Waiting,
    Running,
    Complete,
    /// It was stopped. What was found stays.
    Stopped,
    /// It could not begin or go on. What was found stays.
    Failed {
        /// Can be shown to the user.
        error: String,
    },
}

impl RunStatus {
    /// Returns whether more results will arrive.
    pub const fn is_running(&self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }

    /// Returns how a run has ended whose results are kept. One that goes on is stopped: the window is
    /// being closed.
    pub(crate) fn ended(&self) -> Self {
        if self.is_running() {
            Self::Stopped
        } else {
            self.clone()
        }
    }

    /// Notes that the first results have arrived.
    pub(crate) fn begin(&mut self) {
        if *self == Self::Waiting {
            *self = Self::Running;
        }
    }
}

/// A run of an experiment, as its jobs see it.
pub trait JobRun {
    /// Returns how far it has come.
    fn status(&self) -> &RunStatus;

    /// Returns the ids of its jobs that have not ended, oldest first.
    fn running_jobs(&self) -> Vec<GenerationId>;

    /// Returns the server that does a job, or `None` for the engine.
    fn server_of(&self, _id: GenerationId) -> Option<&ServedModel> {
        None
    }

    /// Returns the models of panes that its jobs run on, which stay loaded until these end.
    fn models_of_panes(&self) -> Vec<&ModelSource> {
        Vec::new()
    }

    /// Notes how much of the other model that it needs is loaded, from 0 to 1.
    fn on_loading(&mut self, _fraction: f32) {}

    /// Adds what a job has found.
    fn on_report(&mut self, id: GenerationId, report: JobReport);

    /// Ends a job that has done everything. Returns the request for the next one, if the run goes
    /// on.
    fn on_finished(&mut self, id: GenerationId, _next: &mut NextJob<'_>) -> Option<Request> {
        self.end(id, RunStatus::Complete);
        None
    }

    /// Ends a job, and the run with it unless other jobs are still running.
    fn end(&mut self, id: GenerationId, status: RunStatus);

    /// Ends the jobs of a host that has died: a server, or the engine.
    fn fail(&mut self, host: Option<&ServedModel>, error: &str) {
        let jobs = self.running_jobs().into_iter();
        let lost: Vec<GenerationId> = jobs.filter(|id| self.server_of(*id) == host).collect();
        for id in lost {
            let error = error.to_owned();
            self.end(id, RunStatus::Failed { error });
        }
    }
}

/// What a run needs to request its next job.
pub struct NextJob<'a> {
    last_id: &'a mut u64,
    /// The loaded model.
    pub model: Option<&'a ReadyModel>,
}

impl<'a> NextJob<'a> {
    pub(crate) const fn new(last_id: &'a mut u64, model: &'a ModelStatus) -> Self {
        let model = model.ready();
        Self { last_id, model }
    }

    /// Returns an id that no other job has.
    pub(crate) const fn new_id(&mut self) -> GenerationId {
        *self.last_id += 1;
        GenerationId(*self.last_id)
    }
}

impl AppState {
    /// Hands an update to the run that its job belongs to. Updates of abandoned jobs are ignored.
    pub(super) fn on_job(&mut self, id: GenerationId, update: JobUpdate) -> Vec<Effect> {
        let was_running = LabTab::ALL.map(|tab| self.lab.is_running(tab));
        let Self {
            futures,
            lab,
            models,
            last_id,
            ..
        } = self;
        let mut next = NextJob::new(last_id, &models.main);
        let request = {
            let mut runs = futures.runs_mut().chain(lab.runs_mut());
            let run = runs.find(|run| run.running_jobs().contains(&id));
            run.and_then(|run| updated(run, id, update, &mut next))
        };
        let mut effects: Vec<Effect> = request.map(Effect::Send).into_iter().collect();
        for (tab, was_running) in LabTab::ALL.into_iter().zip(was_running) {
            if was_running && !self.lab.is_running(tab) {
                effects.extend(self.keep_found(tab));
            }
        }
        effects
    }

    /// Ends all jobs of a host that has died: a server, or the engine. Returns the requests to keep
    /// what the runs that end with them have found.
    pub(super) fn fail_runs(&mut self, host: Option<&ServedModel>, error: &str) -> Vec<Effect> {
        let tabs = LabTab::ALL.into_iter();
        let running: Vec<LabTab> = tabs.filter(|tab| self.lab.is_running(*tab)).collect();
        let runs = self.futures.runs_mut().chain(self.lab.runs_mut());
        for run in runs.filter(|run| run.status().is_running()) {
            run.fail(host, error);
        }
        let ended = running.into_iter();
        let ended: Vec<LabTab> = ended.filter(|tab| !self.lab.is_running(*tab)).collect();
        let tabs = ended.into_iter();
        tabs.filter_map(|tab| self.keep_found(tab)).collect()
    }

    /// Lets a server answer a list of prompts.
    pub(crate) fn answer_list(
        &mut self,
        served: &ServedModel,
        list: (GenerationId, Arc<ListPlan>),
    ) -> Vec<Effect> {
        self.models.servers.answer_list(served, list, &self.panes)
    }

    /// Ends the lists of servers whose threads these effects end.
    pub(super) fn end_lost_lists(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        let ended = effects.iter().filter_map(|effect| match effect {
            Effect::EndServer(served) => Some(served.clone()),
            _ => None,
        });
        let ended: Vec<ServedModel> = ended.collect();
        let kept = ended.into_iter().flat_map(|served| {
            self.models.servers.forget_lists(&served);
            self.fail_runs(Some(&served), "the connection to the server was closed")
        });
        let kept: Vec<Effect> = kept.collect();
        effects.into_iter().chain(kept).collect()
    }
}

/// Applies an update to its run. Returns the request for the next job, if the run goes on.
fn updated(
    run: &mut dyn JobRun,
    id: GenerationId,
    update: JobUpdate,
    next: &mut NextJob<'_>,
) -> Option<Request> {
    match update {
        JobUpdate::Loading { fraction } => run.on_loading(fraction),
        JobUpdate::Reported(report) => run.on_report(id, report),
        JobUpdate::Finished => return run.on_finished(id, next),
        JobUpdate::Stopped => run.end(id, RunStatus::Stopped),
        JobUpdate::Failed { error } => run.end(id, RunStatus::Failed { error }),
    }
    None
}

/// Stops the jobs of these runs. They end once the engine has stopped them.
pub(crate) fn stop_jobs<'a>(runs: impl IntoIterator<Item = &'a dyn JobRun>) -> Vec<Effect> {
    let running = runs.into_iter().filter(|run| run.status().is_running());
    let effects = running.flat_map(|run| {
        let jobs = run.running_jobs().into_iter();
        jobs.map(|id| match run.server_of(id) {
            Some(served) => Effect::Server(served.clone(), ServerRequest::Stop(id)),
            None => Effect::Send(Request::StopJob(id)),
        })
    });
    effects.collect()
}

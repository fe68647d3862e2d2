//! Runs jobs on the engine's thread and on those of servers, whatever their experiment.

use std::time::Duration;

use super::failure::Failure;
use super::pane_run::{Console, Engine, SIGNAL_PAUSE};
use super::progress::Progress;
use crate::generation::GenerationId;
use crate::worker::{
    Event, JobData, JobPlan, JobUpdate, Request, ServerEvent, ServerRequest, ServerWorker, Worker,
};

const ID: GenerationId = GenerationId(0);

/// How long one of several hosts is waited for while the others may have updates.
const TURN: Duration = Duration::from_millis(5);

/// The maximum number of updates that one host hands over before it is the others' turn.
const MAX_UPDATES_PER_TURN: usize = 256;

/// What does a job.
pub(crate) enum JobHost<'a> {
    Engine(&'a mut Worker),
    Server(&'a mut ServerWorker),
}

impl JobHost<'_> {
    fn stop(&mut self, id: GenerationId) {
        match self {
            Self::Engine(worker) => worker.send(Request::StopJob(id)),
            Self::Server(worker) => worker.send(ServerRequest::Stop(id)),
        }
    }

    /// Waits for the next update, but at most this long. Fails if the host is lost.
    fn update(&mut self, wait: Duration) -> Result<Option<(GenerationId, JobUpdate)>, String> {
        let lost = match self {
            Self::Engine(worker) => match worker.wait_at_most(wait) {
                Some(Some(Event::Job { id, update })) => return Ok(Some((id, update))),
                Some(Some(Event::Panicked { message })) => {
                    format!("the engine stopped unexpectedly: {message}")
                }
                Some(_) => return Ok(None),
                None => "the engine stopped unexpectedly".to_owned(),
            },
            Self::Server(worker) => match worker.wait_at_most(wait) {
                Some(Some(ServerEvent::Job { id, update })) => return Ok(Some((id, update))),
                Some(Some(ServerEvent::Panicked { message })) => {
                    format!("Quartet failed unexpectedly: {message}")
                }
                Some(_) => return Ok(None),
                None => "the connection ended unexpectedly".to_owned(),
            },
        };
        Err(lost)
    }
}

/// Jobs of one host, which were requested already.
pub(crate) struct HostJobs<'a> {
    pub host: JobHost<'a>,
    /// The jobs that have not ended.
    pub ids: Vec<GenerationId>,
}

impl HostJobs<'_> {
    /// Hands over the updates that have arrived, after waiting for the first one at most this long.
    fn hand_over(&mut self, pause: Duration, mut on_update: impl FnMut(GenerationId, JobUpdate)) {
        for index in 0..MAX_UPDATES_PER_TURN {
            let wait = if index == 0 { pause } else { Duration::ZERO };
            match self.host.update(wait) {
                Ok(None) => return,
                Ok(Some((id, update))) => {
                    if update.is_end() {
                        self.ids.retain(|other| *other != id);
                    }
                    on_update(id, update);
                }
                Err(lost) => {
                    for id in self.ids.drain(..) {
                        on_update(id, JobUpdate::failed(&lost));
                    }
                }
            }
            if self.ids.is_empty() {
                return;
            }
        }
    }
}

/// Hands over everything that jobs report until all have ended. Ctrl+C stops them and keeps what they
/// have reported.
pub(crate) fn run_jobs(
    mut jobs: Vec<HostJobs<'_>>,
    console: &mut Console,
    mut on_update: impl FnMut(GenerationId, JobUpdate, &mut Progress),
) {
    let mut stopping = false;
    let pause = if jobs.len() > 1 { TURN } else { SIGNAL_PAUSE };
    loop {
        jobs.retain(|of_host| !of_host.ids.is_empty());
        if jobs.is_empty() {
            return;
        }
        for of_host in &mut jobs {
            of_host.hand_over(pause, |id, update| {
                on_update(id, update, &mut console.progress);
            });
        }
        if console.interrupt.is_raised() && !stopping {
            for HostJobs { host, ids } in &mut jobs {
                for id in ids {
                    host.stop(*id);
                }
            }
            stopping = true;
        }
    }
}

/// Runs a plan and hands everything that the job reports to `on_report`. Ctrl+C stops the job and
/// keeps what it has reported. Returns why it ended early, if it did.
pub(crate) fn run_job<T: JobData + Clone>(
    plan: impl JobPlan,
    engine: &mut Engine,
    console: &mut Console,
    mut on_report: impl FnMut(T, &mut Progress),
) -> Option<Failure> {
    engine.worker.send(Request::run_job(ID, plan));
    let mut failure = None;
    let job = HostJobs {
        host: JobHost::Engine(&mut engine.worker),
        ids: vec![ID],
    };
    run_jobs(vec![job], console, |_, update, progress| match update {
        JobUpdate::Loading { .. } | JobUpdate::Finished => {}
        JobUpdate::Reported(report) => {
            if let Some(report) = report.take() {
                on_report(report, progress);
            }
        }
        JobUpdate::Stopped => failure = Some(Failure::Interrupted),
        JobUpdate::Failed { error } => failure = Some(Failure::run(error)),
    });
    failure
}

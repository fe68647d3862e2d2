//! Runs a job on the engine's thread, whatever its experiment.

use super::failure::Failure;
use super::pane_run::{Console, Engine, SIGNAL_PAUSE};
use super::progress::Progress;
use crate::generation::GenerationId;
use crate::worker::{Event, JobData, JobPlan, JobUpdate, Request};

const ID: GenerationId = GenerationId(0);

/// Runs a plan and hands everything that the job reports to `on_report`. Ctrl+C stops the job and
/// keeps what it has reported. Returns why it ended early, if it did.
pub(crate) fn run_job<T: JobData + Clone>(
    plan: impl JobPlan,
    engine: &mut Engine,
    console: &mut Console,
    mut on_report: impl FnMut(T, &mut Progress),
) -> Option<Failure> {
    engine.worker.send(Request::run_job(ID, plan));
    let mut stopping = false;
    loop {
        match engine.worker.wait_at_most(SIGNAL_PAUSE) {
            Some(Some(Event::Job { update, .. })) => match update {
                JobUpdate::Loading { .. } => {}
                JobUpdate::Reported(report) => {
                    if let Some(report) = report.take() {
                        on_report(report, &mut console.progress);
                    }
                }
                JobUpdate::Finished => return None,
                JobUpdate::Stopped => return Some(Failure::Interrupted),
                JobUpdate::Failed { error } => return Some(Failure::run(error)),
            },
            Some(Some(Event::Panicked { message })) => {
                let error = format!("the engine stopped unexpectedly: {message}");
                return Some(Failure::run(error));
            }
            Some(_) => {}
            None => return Some(Failure::run("the engine stopped unexpectedly")),
        }
        if console.interrupt.is_raised() && !stopping {
            engine.worker.send(Request::StopJob(ID));
            stopping = true;
        }
    }
}

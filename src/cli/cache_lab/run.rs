//! Measures on the engine's thread, shows progress, and keeps partial results if interrupted.

use crate::analysis::cache_lab::CacheLab;
use crate::cli::failure::Failure;
use crate::cli::pane_run::{Console, Engine, SIGNAL_PAUSE};
use crate::generation::{CachePlan, CacheUpdate, GenerationId};
use crate::worker::{Event, Request};

const ID: GenerationId = GenerationId(0);

/// Returns what was measured, and why it ended early, if it did.
pub(super) fn measure(
    engine: &mut Engine,
    plan: CachePlan,
    console: &mut Console,
) -> (Option<CacheLab>, Option<Failure>) {
    engine.worker.send(Request::MeasureCache { id: ID, plan });
    let mut lab = None;
    let failure = follow(engine, &mut lab, console);
    console.progress.clear();
    (lab, failure)
}

fn follow(
    engine: &mut Engine,
    lab: &mut Option<CacheLab>,
    console: &mut Console,
) -> Option<Failure> {
    let mut stopping = false;
    loop {
        match engine.worker.wait_at_most(SIGNAL_PAUSE) {
            Some(Some(Event::Cache { update, .. })) => match update {
                CacheUpdate::Started(facts) => *lab = Some(CacheLab::new(facts)),
                CacheUpdate::Measured(sample) => {
                    if let Some(lab) = lab {
                        lab.add(&sample);
                        let (on, off) = (lab.on.len(), lab.off.len());
                        let words =
                            || format!("{on} tokens with the cache, {off} lengths without it");
                        console.progress.update(words);
                    }
                }
                CacheUpdate::Advanced {
                    stage,
                    n_done,
                    n_all,
                } => console
                    .progress
                    .update(|| format!("{}, {n_done} of {n_all}", stage.name())),
                CacheUpdate::Finished => return None,
                CacheUpdate::Stopped => return Some(Failure::Interrupted),
                CacheUpdate::Failed { error } => return Some(Failure::run(error)),
            },
            Some(Some(Event::Panicked { message })) => {
                let error = format!("the engine stopped unexpectedly: {message}");
                return Some(Failure::run(error));
            }
            Some(_) => {}
            None => return Some(Failure::run("the engine stopped unexpectedly")),
        }
        if console.interrupt.is_raised() && !stopping {
            engine.worker.send(Request::StopCache(ID));
            stopping = true;
        }
    }
}

//! Measures on the engine's thread, shows progress, and keeps partial results if interrupted.

use crate::cli::failure::Failure;
use crate::cli::job::run_job;
use crate::cli::pane_run::{Console, Engine};
use crate::lab::cache::figures::CacheLab;
use crate::lab::cache::{CachePlan, CacheUpdate};

/// Returns what was measured, and why it ended early, if it did.
pub(super) fn measure(
    engine: &mut Engine,
    plan: CachePlan,
    console: &mut Console,
) -> (Option<CacheLab>, Option<Failure>) {
    let mut measured: Option<CacheLab> = None;
    let failure = run_job(plan, engine, console, |update, progress| match update {
        CacheUpdate::Started(facts) => measured = Some(CacheLab::new(facts)),
        CacheUpdate::Measured(sample) => {
            if let Some(lab) = &mut measured {
                lab.add(&sample);
                let (on, off) = (lab.on.len(), lab.off.len());
                progress.update(|| format!("{on} tokens with the cache, {off} lengths without it"));
            }
        }
        CacheUpdate::Advanced {
            stage,
            n_done,
            n_all,
        } => progress.update(|| format!("{}, {n_done} of {n_all}", stage.name())),
    });
    console.progress.clear();
    (measured, failure)
}

//! Runs a fit on the engine's thread, shows progress, and keeps partial results if interrupted.

use crate::cli::failure::Failure;
use crate::cli::job::run_job;
use crate::cli::pane_run::{Console, Engine};
use crate::generation::{FitPlan, FitText, FitUpdate};
use crate::lab::fit::Fit;

/// Computes all batches of a fit. Returns why it ended early, if it did.
pub(super) fn fit(
    engine: &mut Engine,
    fit: &mut Fit,
    texts: &[FitText],
    console: &mut Console,
) -> Option<Failure> {
    let mut failure = None;
    while let Some(chains) = fit.next_batch().filter(|_| failure.is_none()) {
        let plan = FitPlan {
            texts: texts.to_vec(),
            chains,
            n_logits_bytes: FitPlan::DEFAULT_LOGITS_BYTES,
        };
        failure = run_job(plan, engine, console, |update, progress| match update {
            FitUpdate::Started { texts } => fit.set_texts(texts),
            FitUpdate::Reading { n_read, n_tokens } => {
                progress.update(|| format!("Reading the text, {n_read} of {n_tokens} tokens"));
            }
            FitUpdate::Computed { found } => {
                for (index, likelihood) in found {
                    fit.add(index, likelihood);
                }
                let (done, all) = (fit.n_done(), fit.setup.n_cells());
                progress.update(|| format!("{done} of {all} settings"));
            }
        });
    }
    console.progress.clear();
    failure
}

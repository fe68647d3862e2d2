//! Runs a fit on the engine's thread, shows progress, and keeps partial results if interrupted.

use crate::analysis::fit::Fit;
use crate::cli::failure::Failure;
use crate::cli::pane_run::{Console, Engine, SIGNAL_PAUSE};
use crate::generation::{FitPlan, FitText, FitUpdate, GenerationId};
use crate::worker::{Event, Request};

const ID: GenerationId = GenerationId(0);

/// Computes all batches of a fit. Returns why it ended early, if it did.
pub(super) fn fit(
    engine: &mut Engine,
    fit: &mut Fit,
    texts: &[FitText],
    console: &mut Console,
) -> Option<Failure> {
    let mut failure = None;
    while let Some(chains) = fit.next_batch().filter(|_| failure.is_none()) {
        let texts = texts.to_vec();
        let plan = FitPlan { texts, chains };
        engine.worker.send(Request::Fit { id: ID, plan });
        failure = batch(engine, fit, console);
    }
    console.progress.clear();
    failure
}

fn batch(engine: &mut Engine, fit: &mut Fit, console: &mut Console) -> Option<Failure> {
    let mut stopping = false;
    loop {
        match engine.worker.wait_at_most(SIGNAL_PAUSE) {
            Some(Some(Event::Fit { update, .. })) => match update {
                FitUpdate::Started { texts } => fit.set_texts(texts),
                FitUpdate::Reading { n_read, n_tokens } => {
                    let words = || format!("Reading the text, {n_read} of {n_tokens} tokens");
                    console.progress.update(words);
                }
                FitUpdate::Computed { found } => {
                    for (index, likelihood) in found {
                        fit.add(index, likelihood);
                    }
                    let (done, all) = (fit.n_done(), fit.setup.n_cells());
                    console
                        .progress
                        .update(|| format!("{done} of {all} settings"));
                }
                FitUpdate::Finished => return None,
                FitUpdate::Stopped => return Some(Failure::Interrupted),
                FitUpdate::Failed { error } => return Some(Failure::run(error)),
            },
            Some(Some(Event::Panicked { message })) => {
                let error = format!("the engine stopped unexpectedly: {message}");
                return Some(Failure::run(error));
            }
            Some(_) => {}
            None => return Some(Failure::run("the engine stopped unexpectedly")),
        }
        if console.interrupt.is_raised() && !stopping {
            engine.worker.send(Request::StopFit(ID));
            stopping = true;
        }
    }
}

//! Runs a sweep on the engine's thread, shows progress, and keeps complete texts if interrupted.

use crate::analysis::sweep::{Keep, SweepProgress, SweepResults, SweepSetup};
use crate::cli::failure::Failure;
use crate::cli::pane_run::{Console, Engine, SIGNAL_PAUSE};
use crate::decoding::TokenId;
use crate::generation::formatting::grouped;
use crate::generation::{GenerationId, PromptText, SweepUpdate};
use crate::worker::{Event, Request};

const ID: GenerationId = GenerationId(0);

/// A sweep and its complete texts.
#[derive(Debug)]
pub(super) struct Swept {
    pub results: SweepResults,
    pub prompts: Vec<PromptText>,
    pub prompt_tokens: Vec<Vec<TokenId>>,
    pub progress: SweepProgress,
}

impl Swept {
    pub(super) fn new(setup: SweepSetup, prompts: Vec<PromptText>, keep: Keep) -> Self {
        let n_texts = setup.n_cells() * setup.n_seeds * prompts.len();
        let progress = SweepProgress::new(n_texts, setup.limits.max_new_tokens);
        Self {
            results: SweepResults::new(setup, prompts.len(), keep),
            prompts,
            prompt_tokens: Vec::new(),
            progress,
        }
    }

    /// Formats the progress: "29 of 48 cells, about 5 s left".
    fn progress_line(&self) -> String {
        let (done, all) = (self.results.n_complete_cells(), self.results.cells().len());
        let n_prompts = self.prompts.len();
        let cells = if n_prompts > 1 {
            let (texts, all) = (self.progress.n_complete, self.progress.n_texts);
            format!("{} of {} texts", grouped(texts as f64), grouped(all as f64))
        } else {
            format!("{done} of {all} cells")
        };
        match self.progress.secs_left() {
            Some(secs) => format!("{cells}, about {:.0} s left", secs.max(1.0)),
            None => cells,
        }
    }
}

/// Runs the sweep. Returns why it ended early, if it did.
pub(super) fn sweep(
    engine: &mut Engine,
    swept: &mut Swept,
    width: usize,
    console: &mut Console,
) -> Option<Failure> {
    engine.worker.send(Request::Sweep {
        id: ID,
        prompts: swept.prompts.clone(),
        plan: swept.results.setup.plan(width),
    });
    let mut stopping = false;
    let failure = loop {
        match engine.worker.wait_at_most(SIGNAL_PAUSE) {
            Some(Some(Event::Sweep { update, .. })) => match update {
                SweepUpdate::Started { prompts } => swept.prompt_tokens = prompts,
                SweepUpdate::Advanced {
                    n_tokens,
                    secs,
                    complete,
                } => {
                    swept.progress.advance(n_tokens, secs, &complete);
                    for text in complete {
                        swept.results.add(text, &engine.vocabulary);
                    }
                    console.progress.update(|| swept.progress_line());
                }
                SweepUpdate::Finished => break None,
                SweepUpdate::Stopped => break Some(Failure::Interrupted),
                SweepUpdate::Failed { error } => break Some(Failure::run(error)),
            },
            Some(Some(Event::Panicked { message })) => {
                let error = format!("the engine stopped unexpectedly: {message}");
                break Some(Failure::run(error));
            }
            Some(_) => {}
            None => break Some(Failure::run("the engine stopped unexpectedly")),
        }
        if console.interrupt.is_raised() && !stopping {
            engine.worker.send(Request::StopSweep(ID));
            stopping = true;
        }
    };
    swept.results.end();
    console.progress.clear();
    failure
}

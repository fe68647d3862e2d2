//! Runs a sweep on the engine's thread, shows progress, and keeps complete texts if interrupted.

use std::sync::Arc;

use crate::analysis::sweep::{Keep, SweepProgress, SweepResults, SweepSetup};
use crate::cli::failure::Failure;
use crate::cli::job::run_job;
use crate::cli::pane_run::{Console, Engine};
use crate::decoding::TokenId;
use crate::generation::formatting::grouped;
use crate::generation::{PromptText, SweepUpdate};

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
    let plan = swept.results.setup.plan(swept.prompts.clone(), width);
    let vocabulary = Arc::clone(&engine.vocabulary);
    let failure = run_job(plan, engine, console, |update, progress| match update {
        SweepUpdate::Started { prompts } => swept.prompt_tokens = prompts,
        SweepUpdate::Advanced {
            n_tokens,
            secs,
            complete,
        } => {
            swept.progress.advance(n_tokens, secs, &complete);
            for text in complete {
                swept.results.add(text, &vocabulary);
            }
            progress.update(|| swept.progress_line());
        }
    });
    swept.results.end();
    console.progress.clear();
    failure
}

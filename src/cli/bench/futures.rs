//! Measures how fast futures are drawn in batches, compared with panes run one after another.

use std::time::Instant;

use super::decode::config;
use crate::cli::failure::Failure;
use crate::decoding::SelectorState;
use crate::engine::{JobUpdate, Progress, Prompt, Session};
use crate::generation::{FinishReason, FuturesPlan, GenerationId, PromptForm};

/// How many futures are drawn, and their length in tokens: what the window draws by default.
pub(super) const N_FUTURES: usize = 64;
pub(super) const N_TOKENS: usize = 24;

/// The numbers of futures drawn together.
pub(super) const WIDTHS: [usize; 3] = [64, 16, 4];

/// The time of drawing all futures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// How many are drawn together, or `None` for panes run one after another.
    pub width: Option<usize>,
    pub secs: f64,
}

/// Draws all futures, with the prompt in the prefix cache.
pub(super) fn measure(
    width: Option<usize>,
    prompt: &Prompt,
    session: &mut Session,
) -> Result<Sample, Failure> {
    // Prefills the prompt.
    one_pane(0, 1, prompt, session)?;
    let started_at = Instant::now();
    if let Some(width) = width {
        in_batches(width, prompt, session)?;
    } else {
        for seed in 0..N_FUTURES as u64 {
            one_pane(seed, N_TOKENS, prompt, session)?;
        }
    }
    Ok(Sample {
        width,
        secs: started_at.elapsed().as_secs_f64(),
    })
}

fn one_pane(
    seed: u64,
    n_tokens: usize,
    prompt: &Prompt,
    session: &mut Session,
) -> Result<(), Failure> {
    let pane = [(GenerationId(seed), config(seed, n_tokens))];
    session.generate(prompt.clone(), pane, Instant::now());
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
        for event in progress.drain(..) {
            if let Progress::Finished {
                reason: FinishReason::Failed { error },
                ..
            } = event
            {
                return Err(Failure::run(error));
            }
        }
    }
    Ok(())
}

fn in_batches(width: usize, prompt: &Prompt, session: &mut Session) -> Result<(), Failure> {
    let plan = FuturesPlan {
        text: prompt.tokens.clone(),
        n_prompt: prompt.tokens.len(),
        form: PromptForm::Raw,
        selector_state: SelectorState::NEW,
        config: config(0, N_TOKENS),
        n_futures: N_FUTURES,
        n_tokens: N_TOKENS,
        width,
    };
    let queued = session.run_job(GenerationId(0), &plan, None);
    queued.map_err(|error| Failure::run(error.to_string()))?;
    while session.has_jobs() {
        if let Some((_, JobUpdate::Failed { error })) = session.advance_job() {
            return Err(Failure::run(error));
        }
    }
    Ok(())
}

//! How long it takes to read a prompt.

use std::time::Instant;

use crate::cli::failure::Failure;
use crate::engine::{Progress, Prompt, Session};
use crate::generation::{FinishReason, GenerationId};

use super::decode::config;

/// Reads a prompt as a pane has it read, and tells how many seconds the forward passes took.
pub(super) fn measure(prompt: Prompt, session: &mut Session) -> Result<f64, Failure> {
    // The prompt of the run before would still be in the cache, and nothing would be read.
    session.forget_prompt();
    session.generate(prompt, [(GenerationId(0), config(0, 1))], Instant::now());
    let mut secs = f64::NAN;
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
        for progress in progress.drain(..) {
            match progress {
                Progress::Started { prompt, .. } => secs = prompt.prefill_secs,
                Progress::Finished {
                    reason: FinishReason::Failed { error },
                    ..
                } => return Err(Failure::run(error)),
                _ => {}
            }
        }
    }
    session.forget_prompt();
    Ok(secs)
}

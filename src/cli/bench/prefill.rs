//! Measures prefill time.

use std::time::Instant;

use crate::cli::failure::Failure;
use crate::engine::{Progress, Prompt, Session};
use crate::generation::{FinishReason, GenerationId};

use super::decode::config;

/// Prefills a prompt as a pane does and returns the seconds spent in forward passes.
pub(super) fn measure(prompt: Prompt, session: &mut Session) -> Result<f64, Failure> {
    // Otherwise the previous prompt would still be cached, and nothing would be prefilled.
    session.clear_prefix_cache();
    session.generate(prompt, [(GenerationId(0), config(0, 1))], Instant::now());
    let mut secs = f64::NAN;
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
        for event in progress.drain(..) {
            match event {
                Progress::Started { prompt, .. } => secs = prompt.prefill_secs,
                Progress::Finished {
                    reason: FinishReason::Failed { error },
                    ..
                } => return Err(Failure::run(error)),
                _ => {}
            }
        }
    }
    session.clear_prefix_cache();
    Ok(secs)
}

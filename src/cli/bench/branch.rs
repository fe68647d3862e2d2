//! Measures the time to the first token of a branch, with and without its text in the KV cache.

use std::time::Instant;

use super::decode::config;
use crate::cli::failure::Failure;
use crate::engine::{Progress, Prompt, Session};
use crate::generation::{Continuation, FinishReason, GenerationId};

/// The position of the branch in tokens, including the prompt.
pub(super) const N_POSITION: usize = 300;

/// The length of the prompt in tokens. The other tokens count as generated.
const N_PROMPT: usize = 16;

/// The times to the first token, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// In a fresh run, which prefills the whole text.
    pub fresh_secs: f64,
    /// In a branch of a text that is in the KV cache.
    pub branch_secs: f64,
}

/// Continues this text twice, the first time without a KV cache.
pub(super) fn measure(text: &Prompt, session: &mut Session) -> Result<Sample, Failure> {
    session.clear_prefix_cache();
    Ok(Sample {
        fresh_secs: first_token_secs(0, text, session)?,
        branch_secs: first_token_secs(1, text, session)?,
    })
}

fn first_token_secs(seed: u64, text: &Prompt, session: &mut Session) -> Result<f64, Failure> {
    let n_prompt = N_PROMPT.min(text.tokens.len());
    let (prompt, kept) = text.tokens.split_at(n_prompt);
    let prompt = Prompt {
        tokens: prompt.to_vec(),
        ..text.clone()
    };
    let continuation = Continuation {
        kept: kept.to_vec(),
        pause_after: Some(1),
        ..Continuation::default()
    };
    let config = config(seed, kept.len() + 1);
    let started_at = Instant::now();
    session.generate_from(
        prompt,
        [(GenerationId(seed), config, continuation)],
        started_at,
    );
    let mut progress = Vec::new();
    while session.is_busy() {
        session.advance(&mut progress);
    }
    let secs = started_at.elapsed().as_secs_f64();
    for event in progress {
        if let Progress::Finished {
            reason: FinishReason::Failed { error },
            ..
        } = event
        {
            return Err(Failure::run(error));
        }
    }
    Ok(secs)
}

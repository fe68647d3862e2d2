//! How long it takes to go two ways from one text, and how much memory the second way takes.

use std::time::Instant;

use super::passage::{Passage, failure};
use crate::cli::failure::Failure;
use crate::engine::{CausalLm, resident_memory};

/// How many forks there are at a time: memory is told in pages, and what one takes would be lost in it.
const N_FORKS: usize = 16;

/// What forks cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// One fork, in seconds.
    pub secs: f64,
    /// Bytes that one takes before it reads anything; nothing where the system does not tell.
    pub n_bytes: Option<u64>,
    /// Bytes that one takes more once it has read a token.
    pub n_written_bytes: Option<u64>,
}

/// Forks a sequence that has read `n` tokens, several times.
pub(super) fn measure(
    n: usize,
    passage: &Passage,
    lm: &mut dyn CausalLm,
) -> Result<Sample, Failure> {
    let parent = passage.first(n, lm)?;
    // The newest token lies in a tail of the sequence's own, as it does where panes write.
    passage.step(0, &[parent], lm)?;
    let before = n_resident();
    let started_at = Instant::now();
    let mut forks = Vec::with_capacity(N_FORKS);
    for _ in 0..N_FORKS {
        forks.push(lm.fork(parent).map_err(|error| failure(&error))?);
    }
    let secs = started_at.elapsed().as_secs_f64() / N_FORKS as f64;
    let forked = n_resident();
    passage.step(1, &forks, lm)?;
    let written = n_resident();
    for sequence in forks {
        lm.close(sequence);
    }
    lm.close(parent);
    Ok(Sample {
        secs,
        n_bytes: grown(before, forked),
        n_written_bytes: grown(forked, written),
    })
}

fn n_resident() -> Option<u64> {
    resident_memory().map(|resident| resident.n_now)
}

/// By how much each fork has made it grow.
fn grown(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?) / N_FORKS as u64)
}

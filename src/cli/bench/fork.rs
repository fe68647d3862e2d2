//! Measures the time and memory of forking a sequence.

use std::time::Instant;

use super::passage::{Passage, failure};
use crate::cli::failure::Failure;
use crate::engine::{CausalLm, resident_memory};

/// Forks per measurement. Memory is reported in pages, which are too coarse for a single fork.
const N_FORKS: usize = 16;

/// The cost of one fork.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    pub secs: f64,
    /// Memory of a fork before it decodes, or `None` if the system does not report it.
    pub n_bytes: Option<u64>,
    /// Memory that a fork adds with its first token.
    pub n_written_bytes: Option<u64>,
}

/// Forks a sequence of `n` tokens several times.
pub(super) fn measure(
    n: usize,
    passage: &Passage,
    lm: &mut dyn CausalLm,
) -> Result<Sample, Failure> {
    let parent = passage.first(n, lm)?;
    // The newest token is in the sequence's private tail, as it is when panes decode.
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

/// Returns the growth per fork.
fn grown(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?) / N_FORKS as u64)
}

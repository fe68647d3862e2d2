//! How much memory is held while panes write, against what the model's file and their texts need.

use serde::Serialize;

use super::passage::Passage;
use super::plan::Plan;
use crate::cli::failure::Failure;
use crate::engine::{CausalLm, Resident, resident_memory};
use crate::generation::ModelOutline;

/// How many panes write.
const N_PANES: usize = 4;

/// How much memory is held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Memory {
    /// The model's files.
    pub file_bytes: u64,
    /// Keys and values of all tokens in the cache; what panes share counts once.
    pub cache_bytes: u64,
    /// The program before it loaded the model.
    pub before_bytes: u64,
    /// The program with the model and four panes that write.
    pub now_bytes: u64,
    /// The most until then; nothing where the system does not tell.
    pub peak_bytes: Option<u64>,
    /// The program now, against files and cache.
    pub ratio: f64,
}

/// Lets four panes write on from one prompt, and tells what is held. Nothing where the system does not
/// tell.
pub(super) fn measure(
    plan: &Plan,
    outline: &ModelOutline,
    before: Option<Resident>,
    (passage, lm): (&Passage, &mut dyn CausalLm),
) -> Result<Option<Memory>, Failure> {
    let mut panes = Vec::new();
    for _ in 0..N_PANES {
        panes.push(passage.first(plan.n_prompt, lm)?);
    }
    // The last token is written and not read.
    let n_steps = plan.n_new - 1;
    for index in 0..n_steps {
        passage.step(index, &panes, lm)?;
    }
    let now = resident_memory();
    for pane in panes {
        lm.close(pane);
    }
    // The whole passage is in the cache, and what each pane has read on its own.
    let n_tokens = plan.n_passage() + N_PANES * n_steps;
    let cache_bytes = outline.memory.n_cache_bytes(n_tokens);
    let needed = outline.n_file_bytes.saturating_add(cache_bytes);
    Ok(before.zip(now).map(|(before, now)| Memory {
        file_bytes: outline.n_file_bytes,
        cache_bytes,
        before_bytes: before.n_now,
        now_bytes: now.n_now,
        peak_bytes: now.n_peak,
        ratio: now.n_now as f64 / needed as f64,
    }))
}

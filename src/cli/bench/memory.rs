//! Measures the memory of decoding panes, compared with the size of the model's files and the
//! cache.

use serde::Serialize;

use super::passage::Passage;
use super::plan::Plan;
use crate::cli::failure::Failure;
use crate::engine::{CausalLm, Resident, resident_memory};
use crate::generation::ModelOutline;

/// How many panes decode.
const N_PANES: usize = 4;

/// Memory in use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Memory {
    /// The size of the model's files.
    pub file_bytes: u64,
    /// The KV cache of all tokens; shared tokens count once.
    pub cache_bytes: u64,
    /// The program's memory before it loaded the model.
    pub before_bytes: u64,
    /// The program's memory with the model and four decoding panes.
    pub now_bytes: u64,
    /// The program's peak memory, or `None` if the system does not report it.
    pub peak_bytes: Option<u64>,
    /// The program's memory relative to files plus cache.
    pub ratio: f64,
}

/// Decodes four panes from one prompt and measures memory. Returns `None` if the system does not
/// report memory.
pub(super) fn measure(
    plan: &Plan,
    outline: &ModelOutline,
    before: Option<Resident>,
    passage: &Passage,
    lm: &mut dyn CausalLm,
) -> Result<Option<Memory>, Failure> {
    let mut panes = Vec::new();
    for _ in 0..N_PANES {
        panes.push(passage.first(plan.n_prompt, lm)?);
    }
    // The last token is generated but not fed back.
    let n_steps = plan.n_new - 1;
    for index in 0..n_steps {
        passage.step(index, &panes, lm)?;
    }
    let now = resident_memory();
    for pane in panes {
        lm.close(pane);
    }
    // The cache holds the passage, plus what each pane decoded.
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

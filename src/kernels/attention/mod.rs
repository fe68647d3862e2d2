//! Causal grouped-query attention over a KV cache that sequences share.
//!
//! A sequence is a list of spans, each a prefix of a run. A run that several sequences share is
//! read once for all their rows. **A row's result is bit-identical however its sequence is cut into
//! runs, whatever else is in the batch, and for any number of threads**: blocks and segments begin
//! at fixed positions, sums visit positions in order, and segments are merged in order.
//!
//! Dao et al. 2022, "`FlashAttention`: Fast and Memory-Efficient Exact Attention with
//! IO-Awareness"; Dao et al. 2023, "`Flash-Decoding` for long-context inference".

#![expect(
    clippy::inline_always,
    reason = "only code that is inlined into a job is compiled for the CPU’s instructions"
)]

mod attend;
mod byte_blocks;
mod byte_scratch;
mod byte_values;
mod groups;
mod half;
mod job;
mod keys_values;
mod partial;
mod prefetch;
mod scores;
#[cfg(test)]
mod tests;
mod tile;
mod visible_runs;

use std::ops::Range;

pub use attend::attend;
pub(super) use byte_values::{ByteValues, IntLanes, N_DIGIT_BITS};
#[cfg(target_arch = "x86_64")]
pub(super) use byte_values::{N_PROB_WORDS, QuantizedProbs};
pub use keys_values::{CacheType, KeysValues};

/// The shape of attention and the transformation of its scores.
#[derive(Debug, Clone, Copy)]
pub struct Heads {
    /// Query heads.
    pub n_heads: usize,
    /// Key-value heads; each serves the same number of query heads.
    pub n_kv_heads: usize,
    /// The width of every head.
    pub head_dim: usize,
    /// The factor applied to the product of a query and a key.
    pub score_scale: f32,
    /// The soft cap applied after the scale, if the model has one.
    pub score_cap: Option<f32>,
}

impl Heads {
    /// Query heads per key-value head.
    const fn group_size(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }

    /// The width of all query heads together.
    const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    /// Returns one query from the rows' queries, keys and values. `number` counts the queries of
    /// this key-value head.
    fn query<'a>(&self, qkv: &'a [f32], kv_head: usize, number: usize) -> &'a [f32] {
        let head = kv_head * self.group_size() + number % self.group_size();
        let start = number / self.group_size() * self.qkv_width() + head * self.head_dim;
        qkv.get(start..start + self.head_dim).unwrap_or_default()
    }

    /// Returns the sinks of the queries that share a key-value head, if the rows have any.
    fn sinks<'a>(&self, kv_head: usize, rows: &'a [Row<'_>]) -> impl Iterator<Item = f32> + 'a {
        let heads = kv_head * self.group_size()..(kv_head + 1) * self.group_size();
        let sinks = rows.iter().map(move |row| row.sinks.get(heads.clone()));
        sinks.flat_map(Option::unwrap_or_default).copied()
    }

    /// The width of a row's queries, keys and values together.
    const fn qkv_width(&self) -> usize {
        (self.n_heads + 2 * self.n_kv_heads) * self.head_dim
    }
}

/// Adjacent tokens of a sequence: a prefix of a run.
#[derive(Debug, Clone)]
pub struct Span<'a> {
    /// The run's keys and values in this layer.
    pub keys_values: &'a KeysValues,
    /// The positions in the sequence; the first is the start of the run.
    pub positions: Range<usize>,
}

/// One row of a batch: its sequence and the positions that it attends to.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// The sequence in order of position, at least up to the row's own token.
    pub spans: &'a [Span<'a>],
    /// The positions that the row attends to; its own is the last.
    pub visible: Range<usize>,
    /// For each query head a score without a value, which takes part in the softmax. Empty if there
    /// are none.
    pub sinks: &'a [f32],
}

/// Positions per segment. Each segment has its own partial softmax, merged with the others later.
const N_SEGMENT: usize = 512;

/// One number for each position of a block, or 16 adjacent dimensions of one position: a cache
/// line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Lanes([f32; super::N_LANES]);

impl Lanes {
    /// The same number in all lanes.
    const fn all(value: f32) -> Self {
        Self([value; super::N_LANES])
    }
}

//! Causal attention with grouped queries, over keys and values that sequences share.
//!
//! A sequence is a list of spans, each the first tokens of a run; a run that several sequences have in
//! common is read once for all their rows. **A row's result has the same bits wherever its sequence is cut
//! into runs, whoever else is in the batch and over however many threads**: blocks and segments begin at
//! fixed positions, sums go through positions in their order, and segments are joined in their order.
//!
//! Dao et al. 2022, "`FlashAttention`: Fast and Memory-Efficient Exact Attention with IO-Awareness"; Dao et al.
//! 2023, "`Flash-Decoding` for long-context inference".

#![expect(
    clippy::inline_always,
    reason = "only what is inlined in a job is compiled for the processor that is there"
)]

mod ahead;
mod byte_bench;
mod byte_blocks;
mod byte_values;
mod gather;
mod groups;
mod half;
mod job;
mod keys_values;
mod mix;
mod partial;
mod scores;
#[cfg(test)]
mod tests;
mod tile;

use std::ops::Range;

pub(super) use byte_values::{ByteValues, N_DIGIT_BITS, Whole};
#[cfg(target_arch = "x86_64")]
pub(super) use byte_values::{N_QUADS, Probs};
pub use keys_values::{CacheType, KeysValues};
pub use mix::mix;

/// The sizes of attention, and what it does to scores.
#[derive(Debug, Clone, Copy)]
pub struct Heads {
    /// Query heads.
    pub n_heads: usize,
    /// Key and value heads.
    pub n_kv_heads: usize,
    /// The width of each.
    pub head_dim: usize,
    /// What the products of queries and keys are multiplied with.
    pub score_scale: f32,
    /// What they are then kept within.
    pub score_cap: Option<f32>,
}

impl Heads {
    /// How many query heads share a key head.
    const fn group(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }

    /// The values of all query heads of a token.
    const fn q_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    /// Of all rows' queries, keys and values one query, which has this number among those of its key-value head.
    fn query<'a>(&self, qkv: &'a [f32], kv_head: usize, number: usize) -> &'a [f32] {
        let head = kv_head * self.group() + number % self.group();
        let start = number / self.group() * self.qkv_width() + head * self.head_dim;
        qkv.get(start..start + self.head_dim).unwrap_or_default()
    }

    /// The queries, keys and values of a token.
    const fn qkv_width(&self) -> usize {
        (self.n_heads + 2 * self.n_kv_heads) * self.head_dim
    }
}

/// Neighbouring tokens of a sequence: the first ones of a run.
#[derive(Debug, Clone)]
pub struct Span<'a> {
    /// The run's keys and values in this layer.
    pub keys_values: &'a KeysValues,
    /// The tokens' places in the sequence; the first is where the run begins.
    pub positions: Range<usize>,
}

/// One row of a batch: whose it is, and what it sees.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// Its sequence, in the order of positions, up to the row's own token at least.
    pub spans: &'a [Span<'a>],
    /// The positions that it sees, its own the last.
    pub visible: Range<usize>,
}

/// How many neighbouring positions are mixed before their result is joined with that of others.
const N_SEGMENT: usize = 512;

/// One number for each position of a block, or some neighbouring ones of one position: a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Lanes([f32; super::N_LANES]);

impl Lanes {
    /// One number for all.
    const fn all(value: f32) -> Self {
        Self([value; super::N_LANES])
    }
}

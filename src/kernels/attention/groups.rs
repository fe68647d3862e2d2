//! Applies the inner loops to a group of queries: writes its scores, and adds up its values.

use std::ops::Range;

use pulp::Simd;

use super::Lanes;
use super::job::N_SEGMENT_BLOCKS;
use super::scores::write_scores;
use super::tile::{WeightedValues, add_values, scores};
use super::visible_runs::QueryGroup;
use crate::N_LANES;

/// Where to write the scores of a group for some blocks.
pub(super) struct ScoreOutput<'a> {
    pub group: QueryGroup<'a>,
    /// The first block, numbered in the sequence.
    pub block: usize,
    /// The soft cap of the scores.
    pub cap: Option<f32>,
    /// The first block of the segment.
    pub first_block: usize,
    /// `[query][block of the segment][lane]`.
    pub scores: &'a mut [Lanes],
}

/// Writes the scores of a group for one or two blocks.
#[inline(always)]
pub(super) fn write_group_scores<S: Simd, const R: usize>(
    simd: S,
    keys: &[Lanes],
    queries: &[f32],
    output: &mut ScoreOutput<'_>,
) {
    let (queries, _) = queries.as_chunks::<R>();
    let n_blocks = keys.len() / queries.len().max(1);
    let block_scores = scores::<S, R>(simd, keys, queries);
    for (block, scores) in (output.block..).zip(block_scores.iter().take(n_blocks)) {
        for (mask, scores) in output.group.masks.iter().zip(scores) {
            let index = mask.query * N_SEGMENT_BLOCKS + block - output.first_block;
            let Some(target) = output.scores.get_mut(index) else {
                continue;
            };
            write_scores(output.cap, mask.lanes(block), *scores, target);
        }
    }
}

/// The values of adjacent blocks and the sums to add them to.
pub(super) struct ValueSums<'a> {
    /// `[block][lane][dim]`.
    pub values: &'a [Lanes],
    /// The blocks, numbered in the sequence.
    pub tile: Range<usize>,
    /// The first block of the segment.
    pub first_block: usize,
    /// The probabilities: `[query][block of the segment][lane]`.
    pub scores: &'a [Lanes],
    /// `[query][dim]`.
    pub weighted_sums: &'a mut [Lanes],
}

impl ValueSums<'_> {
    /// Adds partly visible blocks, one query at a time.
    #[inline(always)]
    pub(super) fn add_each<S: Simd>(
        &mut self,
        simd: S,
        group: QueryGroup<'_>,
        blocks: Range<usize>,
    ) {
        for block in blocks {
            for single in group.singles() {
                add_group_values::<S, 1>(simd, single, block..block + 1, self);
            }
        }
    }
}

/// Adds the visible values of some blocks. If the group has several queries, the blocks must be
/// fully visible to all of them.
#[inline(always)]
pub(super) fn add_group_values<S: Simd, const R: usize>(
    simd: S,
    group: QueryGroup<'_>,
    blocks: Range<usize>,
    value_sums: &mut ValueSums<'_>,
) {
    let (Some(masks), [first, ..]) = (group.masks.first_chunk::<R>(), group.masks) else {
        return;
    };
    if blocks.is_empty() {
        return;
    }
    let lanes = if blocks.len() == 1 {
        first.lanes(blocks.start)
    } else {
        0..N_LANES
    };
    let n_block_registers = value_sums.values.len() / value_sums.tile.len();
    let start = blocks.start - value_sums.tile.start;
    let values = value_sums
        .values
        .get(start * n_block_registers..(start + blocks.len()) * n_block_registers);
    let (mut probs, mut offsets): ([&[Lanes]; R], _) = ([&[]; R], [0; R]);
    for ((probs, offset), mask) in probs.iter_mut().zip(&mut offsets).zip(masks) {
        let start = mask.query * N_SEGMENT_BLOCKS + blocks.start - value_sums.first_block;
        *probs = value_sums
            .scores
            .get(start..start + blocks.len())
            .unwrap_or_default();
        *offset = mask.query * n_block_registers / N_LANES;
    }
    let values = WeightedValues {
        values: values.unwrap_or_default(),
        n_registers: n_block_registers / N_LANES,
        lanes,
        probs,
        offsets,
    };
    add_values(simd, &values, value_sums.weighted_sums);
}

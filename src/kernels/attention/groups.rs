//! Applies the inner loops to a group of queries: writes its scores, and adds up its values.

use std::ops::Range;

use pulp::Simd;

use super::Lanes;
use super::gather::Group;
use super::job::N_SEGMENT_BLOCKS;
use super::scores::put_scores;
use super::tile::{Weighted, add_values, scores};
use crate::kernels::N_LANES;

/// Where to write the scores of a group for some blocks.
pub struct Scores<'a> {
    pub group: Group<'a>,
    /// The first block, numbered in the sequence.
    pub block: usize,
    /// The soft cap of the scores.
    pub cap: Option<f32>,
    /// The first block of the segment.
    pub first_block: usize,
    /// `[query][block of the segment][lane]`.
    pub found: &'a mut [Lanes],
}

/// Writes the scores of a group for one or two blocks.
#[inline(always)]
pub fn write_group<S: Simd, const R: usize>(
    simd: S,
    keys: &[Lanes],
    queries: &[f32],
    places: &mut Scores<'_>,
) {
    let (queries, _) = queries.as_chunks::<R>();
    let n_blocks = keys.len() / queries.len().max(1);
    let found = scores::<S, R>(simd, keys, queries);
    for (block, found) in (places.block..).zip(found.iter().take(n_blocks)) {
        for (member, found) in places.group.members.iter().zip(found) {
            let place = member.query * N_SEGMENT_BLOCKS + block - places.first_block;
            let Some(scores) = places.found.get_mut(place) else {
                continue;
            };
            put_scores(places.cap, member.lanes(block), *found, scores);
        }
    }
}

/// The values of adjacent blocks and the sums to add them to.
pub struct Mixing<'a> {
    /// `[block][lane][dim]`.
    pub values: &'a [Lanes],
    /// The blocks, numbered in the sequence.
    pub tile: Range<usize>,
    /// The first block of the segment.
    pub first_block: usize,
    /// The probabilities: `[query][block of the segment][lane]`.
    pub scores: &'a [Lanes],
    /// `[query][dim]`.
    pub mixed: &'a mut [Lanes],
}

impl Mixing<'_> {
    /// Adds partly visible blocks, one query at a time.
    #[inline(always)]
    pub fn add_singly<S: Simd>(&mut self, simd: S, group: Group<'_>, blocks: Range<usize>) {
        for block in blocks {
            for single in group.singles() {
                add_group::<S, 1>(simd, single, block..block + 1, self);
            }
        }
    }
}

/// Adds the visible values of some blocks. If the group has several queries, the blocks must be
/// fully visible to all of them.
#[inline(always)]
pub fn add_group<S: Simd, const R: usize>(
    simd: S,
    group: Group<'_>,
    blocks: Range<usize>,
    mixing: &mut Mixing<'_>,
) {
    let (Some(members), [first, ..]) = (group.members.first_chunk::<R>(), group.members) else {
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
    let n_block_registers = mixing.values.len() / mixing.tile.len();
    let start = blocks.start - mixing.tile.start;
    let values = mixing
        .values
        .get(start * n_block_registers..(start + blocks.len()) * n_block_registers);
    let (mut probs, mut places): ([&[Lanes]; R], _) = ([&[]; R], [0; R]);
    for ((probs, place), member) in probs.iter_mut().zip(&mut places).zip(members) {
        let start = member.query * N_SEGMENT_BLOCKS + blocks.start - mixing.first_block;
        *probs = mixing
            .scores
            .get(start..start + blocks.len())
            .unwrap_or_default();
        *place = member.query * n_block_registers / N_LANES;
    }
    let values = Weighted {
        values: values.unwrap_or_default(),
        n_registers: n_block_registers / N_LANES,
        lanes,
        probs,
        places,
    };
    add_values(simd, &values, mixing.mixed);
}

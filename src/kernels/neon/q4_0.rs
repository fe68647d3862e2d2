//! `Q4_0`: unpacks both nibbles of each byte.

use std::arch::aarch64::float32x4_t;

use super::blocks::{add_block, scales, unpack_nibbles};
use super::dot::Dot;
use super::memory::{Quarters, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q4_0::{N_STEP_LINES, OFFSET};
use crate::formats::q4_k::N_BLOCK_LINES;
use crate::inputs::RowGroup;

/// Multiplies some quarters of a tile by each row of a group.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn sums<D: Dot, const Q: usize, const N: usize>(
    tile: &[CacheLine],
    quarters: Quarters<Q>,
    group: &RowGroup<'_>,
) -> [[float32x4_t; Q]; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<2>().0;
    for ([first, lines @ ..], step_inputs) in steps.iter().zip(all_inputs) {
        let blocks = lines.as_chunks::<N_BLOCK_LINES>().0;
        for ((lines, scales), inputs) in blocks.iter().zip(scales(quarters, first)).zip(step_inputs)
        {
            let weights = unpack_nibbles(quarters, lines);
            add_block::<D, OFFSET, Q, N>(&weights, scales, inputs, &mut sums);
        }
    }
    sums
}

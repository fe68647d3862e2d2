//! `Q4_1`: unpacks both nibbles of each byte, with a scale and a minimum.

use std::arch::aarch64::float32x4_t;

use super::blocks::{add_block, add_mins, scales, unpack_nibbles};
use super::dot::Dot;
use super::memory::{Quarters, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q4_1::N_STEP_LINES;
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
    let all_inputs = group.blocks.as_chunks::<N>().0;
    for ([factors, lines @ ..], inputs) in steps.iter().zip(all_inputs) {
        let [scales, mins] = scales(quarters, factors);
        let weights = unpack_nibbles(quarters, lines);
        add_block::<D, 0, Q, N>(&weights, scales, inputs, &mut sums);
        add_mins(mins, inputs, &mut sums);
    }
    sums
}

//! `Q4_K`: unpacks both nibbles of each byte, with a scale and a minimum for every 32 columns.

use std::arch::aarch64::float32x4_t;

use super::blocks::unpack_nibbles;
use super::dot::Dot;
use super::memory::{Quarters, zeros};
use super::sub_scales::add_step;
use crate::cache_line::CacheLine;
use crate::formats::q4_k::{N_BLOCK_LINES, N_STEP_LINES};
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
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks().0;
    for (step, inputs) in steps.iter().zip(all_inputs) {
        add_step::<D, N_BLOCK_LINES, Q, N>(step, quarters, inputs, &mut sums, |lines| {
            unpack_nibbles(quarters, lines)
        });
    }
    sums
}

//! `Q8_0`: the bytes of a tile are offset by 128; flipping their highest bit removes the offset.

use std::arch::aarch64::{float32x4_t, vdupq_n_u8, veorq_u8};

use super::blocks::{Weights, add_block, add_block_of_digits, scales};
use super::dot::Dot;
use super::memory::{Quarters, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q8_0::{N_BLOCK_LINES, N_STEP_LINES, OFFSET};
use crate::inputs::RowGroup;

/// Multiplies some quarters of a tile by each row of a group. The sums of 16-bit inputs are those of
/// the high digits; those of the low digits are zero.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn sums<D: Dot, const Q: usize, const N: usize>(
    tile: &[CacheLine],
    quarters: Quarters<Q>,
    group: &RowGroup<'_>,
) -> [[float32x4_t; Q]; N] {
    if group.has_digits() {
        sums_of::<D, true, Q, N>(tile, quarters, group)
    } else {
        sums_of::<D, false, Q, N>(tile, quarters, group)
    }
}

#[inline]
#[target_feature(enable = "neon,dotprod")]
fn sums_of<D: Dot, const ADDS_DIGITS: bool, const Q: usize, const N: usize>(
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
            let weights = weights(quarters, lines);
            if ADDS_DIGITS {
                add_block_of_digits::<D, Q, N>(&weights, scales, inputs, &mut sums);
            } else {
                add_block::<D, 0, Q, N>(&weights, scales, inputs, &mut sums);
            }
        }
    }
    sums
}

/// The signed quants of one block.
#[inline]
#[target_feature(enable = "neon")]
fn weights<const Q: usize>(
    quarters: Quarters<Q>,
    lines: &[CacheLine; N_BLOCK_LINES],
) -> Weights<Q> {
    let sign_bit = vdupq_n_u8(OFFSET as u8);
    let mut weights = [[[sign_bit; Q]; 4]; 2];
    for (weights, line) in weights.as_flattened_mut().iter_mut().zip(lines) {
        for (weights, bytes) in weights.iter_mut().zip(quarters.load(line)) {
            *weights = veorq_u8(bytes, sign_bit);
        }
    }
    weights
}

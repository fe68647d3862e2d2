//! `Q4_1`: unpacks both nibbles of each byte, with a scale and a minimum.

use std::arch::x86_64::__m512;

use super::blocks::{add_block, add_mins, scales, unpack_nibbles};
use super::memory::{load, load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q4_1::N_STEP_LINES;
use crate::inputs::RowGroup;

/// Multiplies a tile by each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn sums<const N: usize>(tile: &[CacheLine], group: &RowGroup<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0;
    for ([factors, lines @ ..], inputs) in steps.iter().zip(all_inputs) {
        let [scales, mins] = scales(load(factors));
        let weights = unpack_nibbles(&load_all(lines));
        add_block::<0, N>(&weights, scales, inputs, &mut sums);
        add_mins(mins, inputs, &mut sums);
    }
    sums
}

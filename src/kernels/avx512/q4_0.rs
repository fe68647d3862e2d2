//! `Q4_0`: unpacks both nibbles of each byte.

use std::arch::x86_64::__m512;

use super::blocks::{add_block, scales, unpack_nibbles};
use super::memory::{load, load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q4_0::{N_STEP_LINES, OFFSET};
use crate::formats::q4_k::N_BLOCK_LINES;
use crate::inputs::RowGroup;

/// Multiplies a tile by each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn sums<const N: usize>(tile: &[CacheLine], group: &RowGroup<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<2>().0;
    for ([first, lines @ ..], step_inputs) in steps.iter().zip(all_inputs) {
        let blocks = lines.as_chunks::<N_BLOCK_LINES>().0;
        for ((lines, scales), inputs) in blocks.iter().zip(scales(load(first))).zip(step_inputs) {
            let weights = unpack_nibbles(&load_all(lines));
            add_block::<OFFSET, N>(&weights, scales, inputs, &mut sums);
        }
    }
    sums
}

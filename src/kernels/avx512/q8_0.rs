//! `Q8_0`: the cache lines of a tile are already the unsigned operands.

use std::arch::x86_64::__m512;

use super::blocks::{add_block, add_block_of_digits, scales};
use super::memory::{load, load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q8_0::{N_BLOCK_LINES, N_STEP_LINES, OFFSET};
use crate::inputs::RowGroup;

/// Multiplies a tile by each row of a group. The sums of 16-bit inputs are those of the high digits;
/// those of the low digits are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn sums<const N: usize>(tile: &[CacheLine], group: &RowGroup<'_>) -> [__m512; N] {
    if group.has_digits() {
        sums_of::<true, N>(tile, group)
    } else {
        sums_of::<false, N>(tile, group)
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn sums_of<const ADDS_DIGITS: bool, const N: usize>(
    tile: &[CacheLine],
    group: &RowGroup<'_>,
) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<2>().0;
    for ([first, lines @ ..], step_inputs) in steps.iter().zip(all_inputs) {
        let blocks = lines.as_chunks::<N_BLOCK_LINES>().0;
        for ((lines, scales), inputs) in blocks.iter().zip(scales(load(first))).zip(step_inputs) {
            let weights = load_all(lines);
            if ADDS_DIGITS {
                add_block_of_digits::<OFFSET, N>(&weights, scales, inputs, &mut sums);
            } else {
                add_block::<OFFSET, N>(&weights, scales, inputs, &mut sums);
            }
        }
    }
    sums
}

//! `Q5_1`: like `Q4_1`, with the fifth bits from a separate cache line.

use std::arch::x86_64::__m512;

use super::blocks::{add_block, add_fifth_bits, add_mins, scales, unpack_nibbles};
use super::memory::{load, load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q5_1::N_STEP_LINES;
use crate::inputs::RowGroup;

/// Multiplies a tile by each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn sums<const N: usize>(tile: &[CacheLine], group: &RowGroup<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0;
    for ([factors, fifth_bits, lower @ ..], inputs) in steps.iter().zip(all_inputs) {
        let [scales, mins] = scales(load(factors));
        let fifth_bits = load(fifth_bits);
        let mut weights = unpack_nibbles(&load_all(lower));
        add_fifth_bits(&mut weights, fifth_bits);
        add_block::<0, N>(&weights, scales, inputs, &mut sums);
        add_mins(mins, inputs, &mut sums);
    }
    sums
}

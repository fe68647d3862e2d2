//! `Q5_1`: as `Q4_1`, with a fifth bit from lines of their own.

use std::arch::x86_64::__m256;

use super::blocks::{add_block, add_fifth_bits, add_mins, scales, widen_halves};
use super::dot::Dot;
use super::memory::{load, load_all, zeros};
use crate::engine::kernels::formats::q5_1::N_STEP_LINES;
use crate::engine::kernels::inputs::Group;
use crate::engine::kernels::line::Line;

/// The products of one half of a tile with each row of a group.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub fn sums<D: Dot, const HALF: usize, const N: usize>(
    tile: &[Line],
    group: &Group<'_>,
) -> [__m256; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let inputs = group.blocks.as_chunks::<N>().0;
    for ([factors, highest, lower @ ..], inputs) in steps.iter().zip(inputs) {
        let [scales, mins] = scales::<HALF>(factors);
        let mut weights = widen_halves(&load_all::<HALF, _>(lower));
        add_fifth_bits(&mut weights, load::<HALF>(highest));
        add_block::<D, 0, 4, N>(&weights, scales, inputs, &mut sums);
        add_mins(mins, inputs, &mut sums);
    }
    sums
}

//! `Q4_1`: both halves of the bytes become bytes, with a scale and a minimum.

use std::arch::x86_64::__m256;

use super::blocks::{add_block, add_mins, scales, widen_halves};
use super::dot::Dot;
use super::memory::{load_all, zeros};
use crate::engine::kernels::formats::q4_1::N_STEP_LINES;
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
    for ([factors, lines @ ..], inputs) in steps.iter().zip(inputs) {
        let [scales, mins] = scales::<HALF>(factors);
        let weights = widen_halves(&load_all::<HALF, _>(lines));
        add_block::<D, 0, 8, N>(&weights, scales, inputs, &mut sums);
        add_mins(mins, inputs, &mut sums);
    }
    sums
}

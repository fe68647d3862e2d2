//! `Q4_0`: unpacks both nibbles of each byte.

use std::arch::x86_64::__m256;

use super::blocks::{add_block, scales, unpack_nibbles};
use super::dot::Dot;
use super::memory::load_all;
use crate::cache_line::CacheLine;
use crate::formats::q4_0::{N_STEP_LINES, OFFSET};
use crate::formats::q4_k::N_BLOCK_LINES;
use crate::input_block::InputBlock;

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    [first, lines @ ..]: &[CacheLine; N_STEP_LINES],
    inputs: &[[InputBlock; N]; 2],
    sums: &mut [__m256; N],
) {
    let blocks = lines.as_chunks::<N_BLOCK_LINES>().0;
    for ((lines, scales), inputs) in blocks.iter().zip(scales::<HALF>(first)).zip(inputs) {
        let weights = unpack_nibbles(&load_all::<HALF, _>(lines));
        add_block::<D, OFFSET, 8, N>(&weights, scales, inputs, sums);
    }
}

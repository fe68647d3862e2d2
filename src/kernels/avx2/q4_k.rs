//! `Q4_K`: unpacks both nibbles of each byte, with a scale and a minimum for every 32 columns.

use std::arch::x86_64::__m256;

use super::blocks::unpack_nibbles;
use super::dot::Dot;
use super::memory::load_all;
use super::sub_scales;
use crate::cache_line::CacheLine;
use crate::formats::q4_k::{N_BLOCK_LINES, N_STEP_LINES};
use crate::input_block::InputBlock;

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    step: &[CacheLine; N_STEP_LINES],
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [__m256; N],
) {
    sub_scales::add_step::<D, HALF, 8, N_BLOCK_LINES, N>(step, inputs, sums, |lines| {
        unpack_nibbles(&load_all::<HALF, _>(lines))
    });
}

//! `Q4_1`: unpacks both nibbles of each byte, with a scale and a minimum.

use std::arch::x86_64::__m256;

use super::blocks::{add_block, add_mins, scales, unpack_nibbles};
use super::dot::Dot;
use super::memory::load_all;
use crate::cache_line::CacheLine;
use crate::formats::q4_1::N_STEP_LINES;
use crate::input_block::InputBlock;

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    [factors, lines @ ..]: &[CacheLine; N_STEP_LINES],
    [inputs]: &[[InputBlock; N]; 1],
    sums: &mut [__m256; N],
) {
    let [scales, mins] = scales::<HALF>(factors);
    let weights = unpack_nibbles(&load_all::<HALF, _>(lines));
    add_block::<D, 0, 8, N>(&weights, scales, inputs, sums);
    add_mins(mins, inputs, sums);
}

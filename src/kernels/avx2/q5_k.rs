//! `Q5_K`: like `Q4_K`, with the fifth bits from separate cache lines.

use std::arch::x86_64::__m256;

use super::blocks::{add_fifth_bits, unpack_nibbles};
use super::dot::Dot;
use super::memory::{load, load_all};
use super::sub_scales;
use crate::cache_line::CacheLine;
use crate::formats::q5_k::{N_BLOCK_LINES, N_STEP_LINES};
use crate::input_block::InputBlock;

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    step: &[CacheLine; N_STEP_LINES],
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [__m256; N],
) {
    sub_scales::add_step::<D, HALF, 4, N_BLOCK_LINES, N>(step, inputs, sums, |lines| {
        let [fifth_bits, lower @ ..] = lines;
        let fifth_bits = load::<HALF>(fifth_bits);
        let mut weights = unpack_nibbles(&load_all::<HALF, _>(lower));
        add_fifth_bits(&mut weights, fifth_bits);
        weights
    });
}

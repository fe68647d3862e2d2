//! `Q5_1`: like `Q4_1`, with the fifth bits from a separate cache line.

use std::arch::x86_64::__m256;

use super::blocks::{add_block, add_fifth_bits, add_mins, scales, unpack_nibbles};
use super::dot::Dot;
use super::memory::{load, load_all};
use crate::cache_line::CacheLine;
use crate::formats::q5_1::N_STEP_LINES;
use crate::input_block::InputBlock;

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    [factors, fifth_bits, lower @ ..]: &[CacheLine; N_STEP_LINES],
    [inputs]: &[[InputBlock; N]; 1],
    sums: &mut [__m256; N],
) {
    let [scales, mins] = scales::<HALF>(factors);
    let mut weights = unpack_nibbles(&load_all::<HALF, _>(lower));
    add_fifth_bits(&mut weights, load::<HALF>(fifth_bits));
    add_block::<D, 0, 4, N>(&weights, scales, inputs, sums);
    add_mins(mins, inputs, sums);
}

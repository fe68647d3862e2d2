//! `Q3_K`: three cache lines hold the 3-bit quants of 32 columns, with a scale for every 16.

use std::arch::x86_64::{
    __m256, __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_cvtepi32_ps, _mm256_fmadd_ps,
    _mm256_mullo_epi16, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_ps, _mm256_srli_epi16,
    _mm256_sub_epi16,
};

use super::blocks::{Weights, scales};
use super::dot::Dot;
use super::half_scales::{pairs, scaled_inputs, scaled_products};
use super::memory::zeros;
use super::q6_k;
use crate::cache_line::CacheLine;
use crate::formats::q3_k::{N_BLOCK_LINES, N_STEP_LINES, OFFSET, SCALE_OFFSET};
use crate::input_block::InputBlock;

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    [factors, rest @ ..]: &[CacheLine; N_STEP_LINES],
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [__m256; N],
) {
    let Some((scale_lines, lines)) = rest.split_first_chunk() else {
        return;
    };
    let [factors, _] = scales::<HALF>(factors);
    let mut step_sums = zeros::<N>();
    let lines = lines.as_chunks::<N_BLOCK_LINES>().0.as_chunks::<2>().0;
    let parts = lines.iter().zip(inputs.as_chunks::<2>().0);
    for (scales, (lines, inputs)) in q6_k::weights::<HALF>(scale_lines).into_iter().zip(parts) {
        for ((scales, lines), inputs) in pairs(scales).into_iter().zip(lines).zip(inputs) {
            add_block::<D, N>(&weights::<HALF>(lines), scales, inputs, &mut step_sums);
        }
    }
    for (sum, step_sum) in sums.iter_mut().zip(step_sums) {
        *sum = _mm256_fmadd_ps(factors, step_sum, *sum);
    }
}

/// Adds the dot products of 32 columns to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn add_block<D: Dot, const N: usize>(
    weights: &Weights,
    scales: __m256i,
    inputs: &[InputBlock; N],
    sums: &mut [__m256; N],
) {
    let scales = _mm256_sub_epi16(scales, _mm256_set1_epi16(SCALE_OFFSET));
    let minus_offsets = _mm256_mullo_epi16(scales, _mm256_set1_epi16(-OFFSET));
    for (input, sum) in inputs.iter().zip(sums) {
        let dots = scaled_products::<D>(weights, scales, input);
        let dots = _mm256_add_epi32(dots, scaled_inputs(minus_offsets, input));
        *sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots), _mm256_set1_ps(input.scale), *sum);
    }
}

/// Unpacks the quants of 32 columns, four columns per register, from pairs stored as 6-bit numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn weights<const HALF: usize>(lines: &[CacheLine; N_BLOCK_LINES]) -> Weights {
    let three_bits = _mm256_set1_epi8(0x07);
    let mut weights = [three_bits; 8];
    let both = q6_k::weights::<HALF>(lines);
    for ([first, second], both) in weights.as_chunks_mut().0.iter_mut().zip(both) {
        *first = _mm256_and_si256(both, three_bits);
        *second = _mm256_and_si256(_mm256_srli_epi16::<3>(both), three_bits);
    }
    weights
}

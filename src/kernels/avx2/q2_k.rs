//! `Q2_K`: one cache line holds the 2-bit quants of 16 columns, with a scale and a minimum.

use std::arch::x86_64::{
    __m256, __m256i, _mm256_and_si256, _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps,
    _mm256_set1_epi8, _mm256_set1_ps, _mm256_srli_epi16,
};

use super::blocks::{Weights, scales};
use super::dot::Dot;
use super::half_scales::{pairs, scaled_inputs, scaled_products};
use super::memory::{load, load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q2_k::{N_PART_LINES, N_STEP_LINES};
use crate::input_block::InputBlock;

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    [factors, lines @ ..]: &[CacheLine; N_STEP_LINES],
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [__m256; N],
) {
    let [factors, min_factors] = scales::<HALF>(factors);
    let (mut step_sums, mut step_mins) = (zeros::<N>(), zeros::<N>());
    let parts = lines.as_chunks::<N_PART_LINES>().0;
    for ([both, lines @ ..], inputs) in parts.iter().zip(inputs.as_chunks::<2>().0) {
        let blocks = part_scales(load::<HALF>(both)).into_iter().zip(inputs);
        for (([scales, mins], inputs), lines) in blocks.zip(lines.as_chunks().0) {
            let weights = weights::<HALF>(lines);
            let rows = step_sums.iter_mut().zip(&mut step_mins);
            for ((sum, min), input) in rows.zip(inputs) {
                let scale = _mm256_set1_ps(input.scale);
                let dots = scaled_products::<D>(&weights, scales, input);
                *sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots), scale, *sum);
                let dots = scaled_inputs(mins, input);
                *min = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots), scale, *min);
            }
        }
    }
    for ((sum, step_sum), step_min) in sums.iter_mut().zip(step_sums).zip(step_mins) {
        *sum = _mm256_fmadd_ps(factors, step_sum, *sum);
        *sum = _mm256_fnmadd_ps(min_factors, step_min, *sum);
    }
}

/// The scales and minima of two blocks, one pair of each per lane.
#[inline]
#[target_feature(enable = "avx2")]
fn part_scales(both: __m256i) -> [[__m256i; 2]; 2] {
    let half = _mm256_set1_epi8(0x0f);
    let [first, second] = pairs(_mm256_and_si256(both, half));
    let mins = _mm256_and_si256(_mm256_srli_epi16::<4>(both), half);
    let [first_mins, second_mins] = pairs(mins);
    [[first, first_mins], [second, second_mins]]
}

/// Unpacks the quants of 32 columns, four columns per register.
#[inline]
#[target_feature(enable = "avx2")]
fn weights<const HALF: usize>(lines: &[CacheLine; 2]) -> Weights {
    let two = _mm256_set1_epi8(0x03);
    let mut weights = [two; 8];
    for ([a, b, c, d], line) in weights
        .as_chunks_mut()
        .0
        .iter_mut()
        .zip(load_all::<HALF, _>(lines))
    {
        *a = _mm256_and_si256(line, two);
        *b = _mm256_and_si256(_mm256_srli_epi16::<2>(line), two);
        *c = _mm256_and_si256(_mm256_srli_epi16::<4>(line), two);
        *d = _mm256_and_si256(_mm256_srli_epi16::<6>(line), two);
    }
    weights
}

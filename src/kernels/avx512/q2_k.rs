//! `Q2_K`: one cache line holds the 2-bit quants of 16 columns, with a scale and a minimum.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_and_si512, _mm512_cvtepi32_ps, _mm512_fmadd_ps, _mm512_fnmadd_ps,
    _mm512_set1_epi8, _mm512_set1_ps, _mm512_srli_epi16,
};

use super::blocks::{Weights, scales};
use super::half_scales::{pairs, scaled_inputs, scaled_products};
use super::memory::{load, load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q2_k::{N_PART_LINES, N_STEP_LINES};
use crate::inputs::RowGroup;

/// Multiplies a tile by each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn sums<const N: usize>(tile: &[CacheLine], group: &RowGroup<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<8>().0;
    for ([factors, lines @ ..], step_inputs) in steps.iter().zip(all_inputs) {
        let [factors, min_factors] = scales(load(factors));
        let (mut step_sums, mut step_mins) = (zeros::<N>(), zeros::<N>());
        let parts = lines.as_chunks::<N_PART_LINES>().0;
        for ([both, lines @ ..], part_inputs) in parts.iter().zip(step_inputs.as_chunks::<2>().0) {
            let blocks = part_scales(load(both)).into_iter().zip(part_inputs);
            for (([scales, mins], inputs), lines) in blocks.zip(lines.as_chunks().0) {
                let weights = weights(lines);
                let rows = step_sums.iter_mut().zip(&mut step_mins);
                for ((sum, min), input) in rows.zip(inputs) {
                    let scale = _mm512_set1_ps(input.scale);
                    let dots = scaled_products(&weights, scales, input);
                    *sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots), scale, *sum);
                    let dots = scaled_inputs(mins, input);
                    *min = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots), scale, *min);
                }
            }
        }
        for ((sum, step_sum), step_min) in sums.iter_mut().zip(step_sums).zip(step_mins) {
            *sum = _mm512_fmadd_ps(factors, step_sum, *sum);
            *sum = _mm512_fnmadd_ps(min_factors, step_min, *sum);
        }
    }
    sums
}

/// The scales and minima of two blocks, one pair of each per lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn part_scales(both: __m512i) -> [[__m512i; 2]; 2] {
    let half = _mm512_set1_epi8(0x0f);
    let [first, second] = pairs(_mm512_and_si512(both, half));
    let mins = _mm512_and_si512(_mm512_srli_epi16::<4>(both), half);
    let [first_mins, second_mins] = pairs(mins);
    [[first, first_mins], [second, second_mins]]
}

/// Unpacks the quants of 32 columns, four columns per register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn weights(lines: &[CacheLine; 2]) -> Weights {
    let two = _mm512_set1_epi8(0x03);
    let mut weights = [two; 8];
    for ([a, b, c, d], line) in weights.as_chunks_mut().0.iter_mut().zip(load_all(lines)) {
        *a = _mm512_and_si512(line, two);
        *b = _mm512_and_si512(_mm512_srli_epi16::<2>(line), two);
        *c = _mm512_and_si512(_mm512_srli_epi16::<4>(line), two);
        *d = _mm512_and_si512(_mm512_srli_epi16::<6>(line), two);
    }
    weights
}

//! `Q3_K`: three cache lines hold the 3-bit quants of 32 columns, with a scale for every 16.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_add_epi32, _mm512_and_si512, _mm512_castsi512_si256,
    _mm512_cvtepi32_ps, _mm512_cvtph_ps, _mm512_fmadd_ps, _mm512_mullo_epi16, _mm512_set1_epi8,
    _mm512_set1_epi16, _mm512_set1_ps, _mm512_srli_epi16, _mm512_sub_epi16,
};

use super::blocks::Weights;
use super::half_scales::{pairs, scaled_inputs, scaled_products};
use super::memory::{load, zeros};
use super::q6_k;
use crate::cache_line::CacheLine;
use crate::formats::q3_k::{N_BLOCK_LINES, N_STEP_LINES, OFFSET, SCALE_OFFSET};
use crate::input_block::InputBlock;
use crate::inputs::RowGroup;

/// Multiplies a tile by each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn sums<const N: usize>(tile: &[CacheLine], group: &RowGroup<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<8>().0;
    for ([factors, rest @ ..], step_inputs) in steps.iter().zip(all_inputs) {
        let Some((scale_lines, lines)) = rest.split_first_chunk() else {
            continue;
        };
        let factors = _mm512_cvtph_ps(_mm512_castsi512_si256(load(factors)));
        let mut step_sums = zeros::<N>();
        let lines = lines.as_chunks::<N_BLOCK_LINES>().0.as_chunks::<2>().0;
        let parts = lines.iter().zip(step_inputs.as_chunks::<2>().0);
        for (scales, (lines, inputs)) in q6_k::weights(scale_lines).into_iter().zip(parts) {
            for ((scales, lines), inputs) in pairs(scales).into_iter().zip(lines).zip(inputs) {
                add_block(&weights(lines), scales, inputs, &mut step_sums);
            }
        }
        for (sum, step_sum) in sums.iter_mut().zip(step_sums) {
            *sum = _mm512_fmadd_ps(factors, step_sum, *sum);
        }
    }
    sums
}

/// Adds the dot products of 32 columns to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_block<const N: usize>(
    weights: &Weights,
    scales: __m512i,
    inputs: &[InputBlock; N],
    sums: &mut [__m512; N],
) {
    let scales = _mm512_sub_epi16(scales, _mm512_set1_epi16(SCALE_OFFSET));
    let minus_offsets = _mm512_mullo_epi16(scales, _mm512_set1_epi16(-OFFSET));
    for (input, sum) in inputs.iter().zip(sums) {
        let dots = scaled_products(weights, scales, input);
        let dots = _mm512_add_epi32(dots, scaled_inputs(minus_offsets, input));
        *sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots), _mm512_set1_ps(input.scale), *sum);
    }
}

/// Unpacks the quants of 32 columns, four columns per register, from pairs stored as 6-bit numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn weights(lines: &[CacheLine; N_BLOCK_LINES]) -> Weights {
    let three_bits = _mm512_set1_epi8(0x07);
    let mut weights = [three_bits; 8];
    let both = q6_k::weights(lines);
    for ([first, second], both) in weights.as_chunks_mut().0.iter_mut().zip(both) {
        *first = _mm512_and_si512(both, three_bits);
        *second = _mm512_and_si512(_mm512_srli_epi16::<3>(both), three_bits);
    }
    weights
}

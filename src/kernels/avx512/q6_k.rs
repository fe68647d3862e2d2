//! `Q6_K`: three cache lines hold the 6-bit quants of 16 columns, which share a scale.

use std::arch::x86_64::{
    __m128i, __m512, __m512i, _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepi8_epi32,
    _mm512_cvtepi32_ps, _mm512_cvtph_ps, _mm512_dpbusd_epi32, _mm512_extracti32x4_epi32,
    _mm512_fmadd_ps, _mm512_madd_epi16, _mm512_mul_ps, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_set1_ps, _mm512_srli_epi16, _mm512_ternarylogic_epi64,
};

use super::memory::{load, load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q6_k::{N_PART_LINES, N_SCALED_LINES, N_STEP_LINES, OFFSET};
use crate::input_block::InputBlock;
use crate::inputs::RowGroup;

/// Multiplies a tile by each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn sums<const N: usize>(tile: &[CacheLine], group: &RowGroup<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<8>().0;
    for ([factors, lines @ ..], step_inputs) in steps.iter().zip(all_inputs) {
        let factors = _mm512_cvtph_ps(_mm512_castsi512_si256(load(factors)));
        let mut step_sums = zeros::<N>();
        let parts = lines.as_chunks::<N_PART_LINES>().0;
        for ([scales, lines @ ..], part_inputs) in parts.iter().zip(step_inputs.as_chunks::<2>().0)
        {
            let lines = lines.as_chunks::<N_SCALED_LINES>().0.as_chunks::<2>().0;
            let scales = part_scales(load(scales)).into_iter();
            for ((lines, scales), inputs) in lines.iter().zip(scales).zip(part_inputs) {
                add_block(lines, scales, inputs, &mut step_sums);
            }
        }
        for (sum, step_sum) in sums.iter_mut().zip(step_sums) {
            *sum = _mm512_fmadd_ps(factors, step_sum, *sum);
        }
    }
    sums
}

/// The scales of both halves of two blocks.
#[inline]
#[target_feature(enable = "avx512f")]
fn part_scales(scales: __m512i) -> [[__m512; 2]; 2] {
    [
        [
            widen(_mm512_extracti32x4_epi32::<0>(scales)),
            widen(_mm512_extracti32x4_epi32::<1>(scales)),
        ],
        [
            widen(_mm512_extracti32x4_epi32::<2>(scales)),
            widen(_mm512_extracti32x4_epi32::<3>(scales)),
        ],
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn widen(bytes: __m128i) -> __m512 {
    _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes))
}

/// Adds the dot products of 32 columns to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_block<const N: usize>(
    [low_lines, high_lines]: &[[CacheLine; N_SCALED_LINES]; 2],
    [low_scale, high_scale]: [__m512; 2],
    inputs: &[InputBlock; N],
    sums: &mut [__m512; N],
) {
    let (low, high) = (weights(low_lines), weights(high_lines));
    // The quants are 32 too large, so 32 times the input sum of each half is subtracted.
    let low_offset = _mm512_set1_epi32(-OFFSET & 0xffff);
    let high_offset = _mm512_set1_epi32(-OFFSET << 16);
    for (input, sum) in inputs.iter().zip(sums) {
        let half_sums = _mm512_set1_epi32(input.half_sums);
        let (low_words, high_words) = input.words.split_at(4);
        let low_start = _mm512_madd_epi16(half_sums, low_offset);
        let high_start = _mm512_madd_epi16(half_sums, high_offset);
        let scaled = _mm512_mul_ps(dot(low_start, &low, low_words), low_scale);
        let scaled = _mm512_fmadd_ps(dot(high_start, &high, high_words), high_scale, scaled);
        *sum = _mm512_fmadd_ps(scaled, _mm512_set1_ps(input.scale), *sum);
    }
}

/// Adds the dot products of 16 columns.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn dot(mut sum: __m512i, weights: &[__m512i; 4], words: &[i32]) -> __m512 {
    for (weights, word) in weights.iter().zip(words) {
        sum = _mm512_dpbusd_epi32(sum, *weights, _mm512_set1_epi32(*word));
    }
    _mm512_cvtepi32_ps(sum)
}

/// Unpacks the quants of 16 columns, four columns per register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn weights(lines: &[CacheLine; N_SCALED_LINES]) -> [__m512i; 4] {
    // Bits from the second operand where the first (the mask) is set, otherwise from the third.
    const SELECT: i32 = 0b1100_1010;
    let [a, b, c] = load_all(lines);
    let six = _mm512_set1_epi8(0x3f);
    let low = _mm512_srli_epi16::<6>(a);
    let middle = _mm512_srli_epi16::<4>(b);
    let high = _mm512_srli_epi16::<2>(c);
    let lower = _mm512_ternarylogic_epi64::<SELECT>(_mm512_set1_epi8(0x03), low, middle);
    let fourth = _mm512_ternarylogic_epi64::<SELECT>(_mm512_set1_epi8(0x0f), lower, high);
    [
        _mm512_and_si512(a, six),
        _mm512_and_si512(b, six),
        _mm512_and_si512(c, six),
        _mm512_and_si512(fourth, six),
    ]
}

//! `Q6_K`: three cache lines hold the 6-bit quants of 16 columns, which share a scale.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm256_and_si256, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps,
    _mm256_fmadd_ps, _mm256_madd_epi16, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_set1_ps, _mm256_setzero_ps, _mm256_srli_epi16,
};

use super::blocks::{lanes, scales};
use super::dot::{Dot, add_small};
use super::memory::{load_all, quarters, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q6_k::{N_PART_LINES, N_SCALED_LINES, N_STEP_LINES};
use crate::input_block::InputBlock;

/// Minus the offset of the unsigned weights, in the 16 bits that meet the input sum of either half.
const MINUS_OFFSETS: [i32; 2] = [-32 & 0xffff, -32 << 16];

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    [factors, lines @ ..]: &[CacheLine; N_STEP_LINES],
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [__m256; N],
) {
    let [factors, _] = scales::<HALF>(factors);
    let mut step_sums = zeros::<N>();
    let parts = lines.as_chunks::<N_PART_LINES>().0;
    for ([scales, lines @ ..], inputs) in parts.iter().zip(inputs.as_chunks::<2>().0) {
        let [a, b, c, d] = quarters(scales).map(|scales| widen::<HALF>(scales));
        let lines = lines.as_chunks::<N_SCALED_LINES>().0.as_chunks::<2>().0;
        for ((lines, scales), inputs) in lines.iter().zip([[a, b], [c, d]]).zip(inputs) {
            add_block::<D, HALF, N>(lines, scales, inputs, &mut step_sums);
        }
    }
    for (sum, step_sum) in sums.iter_mut().zip(step_sums) {
        *sum = _mm256_fmadd_ps(factors, step_sum, *sum);
    }
}

/// Widens the scales of 16 columns to floats.
#[inline]
#[target_feature(enable = "avx2")]
fn widen<const HALF: usize>(scales: __m128i) -> __m256 {
    _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(lanes::<HALF>(scales)))
}

/// Adds the dot products of 32 columns to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_block<D: Dot, const HALF: usize, const N: usize>(
    [first, second]: &[[CacheLine; N_SCALED_LINES]; 2],
    scales: [__m256; 2],
    inputs: &[InputBlock; N],
    sums: &mut [__m256; N],
) {
    let weights = [weights::<HALF>(first), weights::<HALF>(second)];
    let minus_offsets = MINUS_OFFSETS.map(|offsets| _mm256_set1_epi32(offsets));
    for (input, sum) in inputs.iter().zip(sums) {
        let half_sums = _mm256_set1_epi32(input.half_sums);
        let words = input.words.as_chunks::<4>().0;
        let mut scaled = _mm256_setzero_ps();
        for (((weights, words), scale), minus_offset) in
            weights.iter().zip(words).zip(scales).zip(minus_offsets)
        {
            let start = _mm256_madd_epi16(half_sums, minus_offset);
            let dots = add_small::<D, 2, _>(start, weights, words);
            scaled = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots), scale, scaled);
        }
        *sum = _mm256_fmadd_ps(scaled, _mm256_set1_ps(input.scale), *sum);
    }
}

/// Unpacks the quants of 16 columns, four columns per register.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn weights<const HALF: usize>(lines: &[CacheLine; N_SCALED_LINES]) -> [__m256i; 4] {
    let [a, b, c] = load_all::<HALF, _>(lines);
    let six = _mm256_set1_epi8(0x3f);
    let low = upper::<6, 0x03>(a);
    let middle = upper::<4, 0x0c>(b);
    let high = upper::<2, 0x30>(c);
    [
        _mm256_and_si256(a, six),
        _mm256_and_si256(b, six),
        _mm256_and_si256(c, six),
        _mm256_or_si256(_mm256_or_si256(low, middle), high),
    ]
}

/// The upper two bits of each byte, shifted down to the bits of the mask.
#[inline]
#[target_feature(enable = "avx2")]
fn upper<const SHIFT: i32, const MASK: i8>(bytes: __m256i) -> __m256i {
    _mm256_and_si256(_mm256_srli_epi16::<SHIFT>(bytes), _mm256_set1_epi8(MASK))
}

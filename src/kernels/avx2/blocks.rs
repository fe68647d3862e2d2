//! Integer weights with one scale per row and block, times the inputs of a row group.

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_unpackhi_epi64, _mm256_and_si256, _mm256_cvtepi32_ps,
    _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_mul_ps, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_set1_ps, _mm256_slli_epi16, _mm256_srli_epi16,
};

use super::dot::{Dot, add_small, without_offset};
use super::memory::quarters;
use crate::N_BLOCK;
use crate::cache_line::CacheLine;
use crate::input_block::InputBlock;

/// The weights of one block, four columns per register, offset to be unsigned.
pub(super) type Weights = [__m256i; N_BLOCK / 4];

/// The scales of two blocks from a cache line of half floats, `[block][lane]`.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn scales<const HALF: usize>(line: &CacheLine) -> [__m256; 2] {
    let [a, b, c, d] = quarters(line);
    let [first, second] = if HALF == 0 { [a, c] } else { [b, d] };
    [_mm256_cvtph_ps(first), _mm256_cvtph_ps(second)]
}

/// Moves one half of 16 bytes, one per lane, to the lower eight.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn lanes<const HALF: usize>(bytes: __m128i) -> __m128i {
    if HALF == 0 {
        bytes
    } else {
        _mm_unpackhi_epi64(bytes, bytes)
    }
}

/// Unpacks 4-bit quants to bytes. Each cache line has eight columns, the first four in the low
/// nibbles.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn unpack_nibbles(lines: &[__m256i; N_BLOCK / 8]) -> Weights {
    let half = _mm256_set1_epi8(0x0f);
    let mut weights = [half; N_BLOCK / 4];
    for ([low, high], line) in weights.as_chunks_mut().0.iter_mut().zip(lines) {
        *low = _mm256_and_si256(*line, half);
        *high = _mm256_and_si256(_mm256_srli_epi16::<4>(*line), half);
    }
    weights
}

/// Adds the fifth bit to 4-bit quants. Each byte of the cache line has those of eight columns: bit
/// `column / 4` of byte `column % 4`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_fifth_bits(weights: &mut Weights, line: __m256i) {
    let fifth = _mm256_set1_epi8(0x10);
    let both = [_mm256_slli_epi16::<4>(line), line];
    for (weights, mut bits) in weights.as_chunks_mut::<4>().0.iter_mut().zip(both) {
        for quants in weights {
            *quants = _mm256_or_si256(*quants, _mm256_and_si256(bits, fifth));
            bits = _mm256_srli_epi16::<1>(bits);
        }
    }
}

/// Adds the minima of one block, times the sums of the inputs, to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn add_mins<const N: usize>(
    mins: __m256,
    inputs: &[InputBlock; N],
    sums: &mut [__m256; N],
) {
    for (input, sum) in inputs.iter().zip(sums) {
        *sum = _mm256_fmadd_ps(mins, _mm256_set1_ps(input.scaled_sum), *sum);
    }
}

/// Adds the dot products of one block to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn add_block<D: Dot, const OFFSET: i16, const RUN: usize, const N: usize>(
    weights: &Weights,
    scales: __m256,
    inputs: &[InputBlock; N],
    sums: &mut [__m256; N],
) {
    for (input, sum) in inputs.iter().zip(sums) {
        let start = without_offset::<OFFSET>(input);
        let dots = add_small::<D, RUN, _>(start, weights, &input.words);
        *sum = scaled(dots, scales, input.scale, *sum);
    }
}

/// Adds integer dot products, multiplied by the scales of the weights and of the inputs.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn scaled(dots: __m256i, scales: __m256, input_scale: f32, sum: __m256) -> __m256 {
    let scales = _mm256_mul_ps(scales, _mm256_set1_ps(input_scale));
    _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots), scales, sum)
}

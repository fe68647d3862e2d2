//! Shared by `Q2_K` and `Q3_K`: an integer scale for every 16 columns. The sums of both halves of a
//! block fit side by side into 32 bits, and one instruction multiplies them by their scales.

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_blend_epi16, _mm256_madd_epi16, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_slli_epi32, _mm256_srli_epi16,
};

use super::blocks::Weights;
use super::dot::{Dot, add_small};
use crate::N_BLOCK;
use crate::input_block::InputBlock;

/// Widens four scales from bytes to 16 bits: those of both halves for each of two blocks.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn pairs(bytes: __m256i) -> [__m256i; 2] {
    let lower = _mm256_set1_epi32(0x00ff_00ff);
    [
        _mm256_and_si256(bytes, lower),
        _mm256_srli_epi16::<8>(bytes),
    ]
}

/// The dot products of one block, whose weights are below 16, multiplied by the scales of both
/// halves: exact.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scaled_products<D: Dot>(
    weights: &Weights,
    scales: __m256i,
    input: &InputBlock,
) -> __m256i {
    const UPPER: i32 = 0xaa;
    let mut halves = [_mm256_setzero_si256(); 2];
    let chunks = weights.as_chunks::<{ N_BLOCK / 8 }>().0.iter();
    for (half, (weights, words)) in halves.iter_mut().zip(chunks.zip(input.words.as_chunks().0)) {
        *half = add_small::<D, 4, _>(*half, weights, words);
    }
    let [low, high] = halves;
    let both = _mm256_blend_epi16::<UPPER>(low, _mm256_slli_epi32::<16>(high));
    _mm256_madd_epi16(both, scales)
}

/// The sums of the inputs of both halves, each multiplied by an integer: exact.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scaled_inputs(scales: __m256i, input: &InputBlock) -> __m256i {
    _mm256_madd_epi16(_mm256_set1_epi32(input.half_sums), scales)
}

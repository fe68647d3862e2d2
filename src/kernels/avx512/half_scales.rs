//! Shared by `Q2_K` and `Q3_K`: an integer scale for every 16 columns. The sums of both halves of a
//! block fit side by side into 32 bits, and one instruction multiplies them by their scales.

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_dpbusd_epi32, _mm512_madd_epi16, _mm512_mask_blend_epi16,
    _mm512_set1_epi32, _mm512_setzero_si512, _mm512_slli_epi32, _mm512_srli_epi16,
};

use super::blocks::Weights;
use crate::N_BLOCK;
use crate::input_block::InputBlock;

/// Widens four scales from bytes to 16 bits: those of both halves for each of two blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn pairs(bytes: __m512i) -> [__m512i; 2] {
    let lower = _mm512_set1_epi32(0x00ff_00ff);
    [
        _mm512_and_si512(bytes, lower),
        _mm512_srli_epi16::<8>(bytes),
    ]
}

/// The dot products of one block, multiplied by the scales of both halves: exact.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn scaled_products(weights: &Weights, scales: __m512i, input: &InputBlock) -> __m512i {
    const UPPER: u32 = 0xaaaa_aaaa;
    let mut halves = [_mm512_setzero_si512(); 2];
    let chunks = weights.as_chunks::<{ N_BLOCK / 8 }>().0.iter();
    for (half, (weights, words)) in halves
        .iter_mut()
        .zip(chunks.zip(input.words.as_chunks::<4>().0))
    {
        for (weights, word) in weights.iter().zip(words) {
            *half = _mm512_dpbusd_epi32(*half, *weights, _mm512_set1_epi32(*word));
        }
    }
    let [low, high] = halves;
    let both = _mm512_mask_blend_epi16(UPPER, low, _mm512_slli_epi32::<16>(high));
    _mm512_madd_epi16(both, scales)
}

/// The sums of the inputs of both halves, each multiplied by an integer: exact.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn scaled_inputs(scales: __m512i, input: &InputBlock) -> __m512i {
    _mm512_madd_epi16(_mm512_set1_epi32(input.half_sums), scales)
}

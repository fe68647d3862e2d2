//! A block of whole weights with one scale for each row, times the inputs of a group.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_castsi512_si256, _mm512_cvtepi32_ps, _mm512_cvtph_ps,
    _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64, _mm512_fmadd_ps, _mm512_madd_epi16,
    _mm512_mul_ps, _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_ps,
};

use crate::engine::kernels::N_BLOCK;
use crate::engine::kernels::inputs::InputBlock;

/// The weights of one block, four columns in each register, with an offset that makes them unsigned.
pub type Weights = [__m512i; N_BLOCK / 4];

/// The scales of two blocks from a line of 16-bit floats, `[block][lane]`.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn scales(line: __m512i) -> [__m512; 2] {
    [
        _mm512_cvtph_ps(_mm512_castsi512_si256(line)),
        _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(line)),
    ]
}

/// Adds the products of one block to the sums of each row. The weights stay in their registers while one
/// row after another passes; the rows' chains of sums do not wait for each other.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub fn add_block<const OFFSET: i16, const N: usize>(
    weights: &Weights,
    scales: __m512,
    inputs: &[InputBlock; N],
    sums: &mut [__m512; N],
) {
    let minus_offset = _mm512_set1_epi16(-OFFSET);
    for (input, sum) in inputs.iter().zip(sums) {
        let half_sums = _mm512_set1_epi32(input.half_sums);
        let mut whole = _mm512_madd_epi16(half_sums, minus_offset);
        for (weights, word) in weights.iter().zip(&input.words) {
            whole = _mm512_dpbusd_epi32(whole, *weights, _mm512_set1_epi32(*word));
        }
        let scales = _mm512_mul_ps(scales, _mm512_set1_ps(input.scale));
        *sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), scales, *sum);
    }
}

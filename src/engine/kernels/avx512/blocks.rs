//! A block of whole weights with one scale for each row, times the inputs of a group.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepi32_ps, _mm512_cvtph_ps,
    _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64, _mm512_fmadd_ps, _mm512_madd_epi16,
    _mm512_mul_ps, _mm512_or_si512, _mm512_rol_epi32, _mm512_ror_epi32, _mm512_set1_epi16,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_srli_epi32,
};

use crate::engine::kernels::N_BLOCK;
use crate::engine::kernels::input_block::InputBlock;

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

/// Numbers of 4 bits as bytes: a line has eight columns, the first four in the lower halves of its bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn widen_halves(lines: &[__m512i; N_BLOCK / 8]) -> Weights {
    let half = _mm512_set1_epi32(0x0f0f_0f0f);
    let mut weights = [half; N_BLOCK / 4];
    for ([low, high], line) in weights.as_chunks_mut().0.iter_mut().zip(lines) {
        *low = _mm512_and_si512(*line, half);
        *high = _mm512_and_si512(_mm512_srli_epi32::<4>(*line), half);
    }
    weights
}

/// Gives numbers of 4 bits a fifth. A byte of the line has those of 32 columns: bit `column / 4` of byte
/// `column % 4`.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn add_fifth_bits(weights: &mut Weights, line: __m512i) {
    let fifth = _mm512_set1_epi32(0x1010_1010);
    let mut bits = _mm512_rol_epi32::<4>(line);
    for weights in weights {
        *weights = _mm512_or_si512(*weights, _mm512_and_si512(bits, fifth));
        bits = _mm512_ror_epi32::<1>(bits);
    }
}

/// Adds what the minima of one block give to the sums of each row.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn add_mins<const N: usize>(mins: __m512, inputs: &[InputBlock; N], sums: &mut [__m512; N]) {
    for (input, sum) in inputs.iter().zip(sums) {
        *sum = _mm512_fmadd_ps(mins, _mm512_set1_ps(input.scaled_sum), *sum);
    }
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

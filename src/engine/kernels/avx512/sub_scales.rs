//! What `Q4_K` and `Q5_K` share: the heads of their blocks in registers, and products with a scale and a
//! minimum for each 32 columns.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepi32_ps, _mm512_cvtph_ps,
    _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64, _mm512_fmadd_ps, _mm512_fnmadd_ps,
    _mm512_mul_ps, _mm512_or_si512, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps,
    _mm512_setzero_si512, _mm512_slli_epi32, _mm512_srli_epi32,
};

use super::blocks::Weights;
use super::memory::load_all;
use crate::engine::kernels::formats::sub_scales::N_LINES;
use crate::engine::kernels::input_block::InputBlock;
use crate::engine::kernels::line::Line;

/// Scales and minima of four blocks of 32 columns.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    scale: __m512,
    min: __m512,
    /// Whole numbers in the bytes of each lane, one for each block, the first in the lowest.
    scales: __m512i,
    mins: __m512i,
}

impl Head {
    /// Those of the eight blocks of a step.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn load(lines: &[Line; N_LINES]) -> [Self; 2] {
        let [factors, scales, mins, rest] = load_all(lines);
        let scale = _mm512_cvtph_ps(_mm512_castsi512_si256(factors));
        let min = _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(factors));
        let six = _mm512_set1_epi8(0x3f);
        let low = Self {
            scale,
            min,
            scales: _mm512_and_si512(scales, six),
            mins: _mm512_and_si512(mins, six),
        };
        let high = Self {
            scales: join(rest, scales),
            mins: join(_mm512_srli_epi32::<4>(rest), mins),
            ..low
        };
        [low, high]
    }

    /// Scale and minimum of the next block.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub fn next(&mut self) -> [__m512; 2] {
        let byte = _mm512_set1_epi32(0xff);
        let scale = _mm512_cvtepi32_ps(_mm512_and_si512(self.scales, byte));
        let min = _mm512_cvtepi32_ps(_mm512_and_si512(self.mins, byte));
        self.scales = _mm512_srli_epi32::<8>(self.scales);
        self.mins = _mm512_srli_epi32::<8>(self.mins);
        [
            _mm512_mul_ps(self.scale, scale),
            _mm512_mul_ps(self.min, min),
        ]
    }
}

/// Six bits for each byte: the lower four bits of `low`, the upper two of `high`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn join(low: __m512i, high: __m512i) -> __m512i {
    let low = _mm512_and_si512(low, _mm512_set1_epi8(0x0f));
    let high = _mm512_and_si512(_mm512_srli_epi32::<2>(high), _mm512_set1_epi8(0x30));
    _mm512_or_si512(low, high)
}

/// Adds the products of one block to the sums of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub fn add_block<const N: usize>(
    weights: &Weights,
    [scale, min]: [__m512; 2],
    inputs: &[InputBlock; N],
    sums: &mut [__m512; N],
) {
    for (input, sum) in inputs.iter().zip(sums) {
        let mut whole = _mm512_setzero_si512();
        for (weights, word) in weights.iter().zip(&input.words) {
            whole = _mm512_dpbusd_epi32(whole, *weights, _mm512_set1_epi32(*word));
        }
        let scale = _mm512_mul_ps(scale, _mm512_set1_ps(input.scale));
        *sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole), scale, *sum);
        *sum = _mm512_fnmadd_ps(min, _mm512_set1_ps(input.scaled_sum), *sum);
    }
}

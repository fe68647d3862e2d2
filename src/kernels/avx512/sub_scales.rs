//! Shared by `Q4_K` and `Q5_K`: their block headers in registers, and accumulators with a scale and
//! a minimum for every 32 columns.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepi32_ps, _mm512_cvtph_ps,
    _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64, _mm512_fmadd_ps, _mm512_fnmadd_ps,
    _mm512_or_si512, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_si512,
    _mm512_srli_epi32,
};

use super::blocks::{Weights, add_products, add_scaled};
use super::memory::{load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::sub_scales::N_LINES;
use crate::input_block::InputBlock;

/// The scales and minima of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockHeader {
    /// The super-block's scale and minimum factor, which apply to the entire step.
    factors: [__m512; 2],
    /// Four blocks each.
    pub halves: [PackedScales; 2],
}

/// The scales and minima of four blocks: integers in the bytes of each lane, the next one in the
/// lowest.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedScales {
    scales: __m512i,
    mins: __m512i,
}

impl BlockHeader {
    /// Loads the header from the first cache lines of a step.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn load(lines: &[CacheLine; N_LINES]) -> Self {
        let [factors, scales, mins, rest] = load_all(lines);
        let six = _mm512_set1_epi8(0x3f);
        let low = PackedScales {
            scales: _mm512_and_si512(scales, six),
            mins: _mm512_and_si512(mins, six),
        };
        let high = PackedScales {
            scales: join(rest, scales),
            mins: join(_mm512_srli_epi32::<4>(rest), mins),
        };
        Self {
            factors: [
                _mm512_cvtph_ps(_mm512_castsi512_si256(factors)),
                _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(factors)),
            ],
            halves: [low, high],
        }
    }
}

/// Combines the lower four bits from `low` and the upper two from `high` in each byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn join(low: __m512i, high: __m512i) -> __m512i {
    let low = _mm512_and_si512(low, _mm512_set1_epi8(0x0f));
    let high = _mm512_and_si512(_mm512_srli_epi32::<2>(high), _mm512_set1_epi8(0x30));
    _mm512_or_si512(low, high)
}

impl PackedScales {
    /// Pops the scale and the minimum of the next block.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn next(&mut self) -> [__m512; 2] {
        let lowest = _mm512_set1_epi32(0xff);
        let scale = _mm512_and_si512(self.scales, lowest);
        let min = _mm512_and_si512(self.mins, lowest);
        self.scales = _mm512_srli_epi32::<8>(self.scales);
        self.mins = _mm512_srli_epi32::<8>(self.mins);
        [_mm512_cvtepi32_ps(scale), _mm512_cvtepi32_ps(min)]
    }
}

/// The sums of one step for each row of inputs. The factors that all its columns share are applied
/// once, at its end.
#[derive(Debug)]
pub(super) struct StepSums<const N: usize> {
    scaled: [__m512; N],
    mins: [__m512; N],
}

impl<const N: usize> StepSums<N> {
    /// Accumulators at zero.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new() -> Self {
        Self {
            scaled: zeros(),
            mins: zeros(),
        }
    }

    /// Adds the dot products of one block.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn add(&mut self, weights: &Weights, scales: [__m512; 2], inputs: &[InputBlock; N]) {
        let mut sums = [_mm512_setzero_si512(); N];
        add_products!(sums, weights, inputs);
        self.add_sums(sums, scales, inputs);
    }

    /// Adds one block whose dot products are already summed.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add_sums(
        &mut self,
        sums: [__m512i; N],
        scales: [__m512; 2],
        inputs: &[InputBlock; N],
    ) {
        let [scale, min] = scales;
        let rows = self.scaled.iter_mut().zip(&mut self.mins);
        for (((scaled, mins), input), dots) in rows.zip(inputs).zip(&sums) {
            add_scaled(scaled, *dots, scale, input);
            *mins = _mm512_fmadd_ps(min, _mm512_set1_ps(input.scaled_sum), *mins);
        }
    }

    /// Ends the step: applies the shared factors and adds the result to the accumulators.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add_to(self, sums: &mut [__m512; N], header: &BlockHeader) {
        let [scale, min] = header.factors;
        for ((sum, scaled), mins) in sums.iter_mut().zip(self.scaled).zip(self.mins) {
            *sum = _mm512_fmadd_ps(scale, scaled, *sum);
            *sum = _mm512_fnmadd_ps(min, mins, *sum);
        }
    }
}

//! Shared by `Q4_K` and `Q5_K`: their block headers in registers, and accumulators with a scale and
//! a minimum for every 32 columns.

use std::arch::x86_64::{
    __m256, __m256i, _mm256_and_si256, _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_si256,
    _mm256_srli_epi32,
};

use super::blocks::{self, Weights};
use super::dot::{Dot, add_small};
use super::memory::{load_all, zeros};
use crate::cache_line::CacheLine;
use crate::formats::sub_scales::N_LINES;
use crate::input_block::InputBlock;

/// The scales and minima of a step.
#[derive(Debug, Clone, Copy)]
struct BlockHeader {
    /// The super-block's scale and minimum factor, which apply to the entire step.
    factors: [__m256; 2],
    /// Four blocks each.
    halves: [PackedScales; 2],
}

/// The scales and minima of four blocks: integers in the bytes of each lane, the next one in the
/// lowest.
#[derive(Debug, Clone, Copy)]
struct PackedScales {
    scales: __m256i,
    mins: __m256i,
}

impl BlockHeader {
    /// Loads the header from the first cache lines of a step.
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    fn load<const HALF: usize>([factors, lines @ ..]: &[CacheLine; N_LINES]) -> Self {
        let [scales, mins, rest] = load_all::<HALF, _>(lines);
        let six = _mm256_set1_epi8(0x3f);
        let low = PackedScales {
            scales: _mm256_and_si256(scales, six),
            mins: _mm256_and_si256(mins, six),
        };
        let high = PackedScales {
            scales: join(rest, scales),
            mins: join(_mm256_srli_epi32::<4>(rest), mins),
        };
        Self {
            factors: blocks::scales::<HALF>(factors),
            halves: [low, high],
        }
    }
}

impl PackedScales {
    /// Pops the scale and the minimum of the next block.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn next(&mut self) -> [__m256; 2] {
        let lowest = _mm256_set1_epi32(0xff);
        let scale = _mm256_and_si256(self.scales, lowest);
        let min = _mm256_and_si256(self.mins, lowest);
        self.scales = _mm256_srli_epi32::<8>(self.scales);
        self.mins = _mm256_srli_epi32::<8>(self.mins);
        [_mm256_cvtepi32_ps(scale), _mm256_cvtepi32_ps(min)]
    }
}

/// Combines the lower four bits from `low` and the upper two from `high` in each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn join(low: __m256i, high: __m256i) -> __m256i {
    let low = _mm256_and_si256(low, _mm256_set1_epi8(0x0f));
    let high = _mm256_and_si256(_mm256_srli_epi32::<2>(high), _mm256_set1_epi8(0x30));
    _mm256_or_si256(low, high)
}

/// Adds the dot products of one half of a step to the accumulators of each row. The header is
/// followed by eight blocks of `L` cache lines. `widen` unpacks each to bytes so small that a run
/// of their products fits into 16 bits ([`add_small`]).
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<
    D: Dot,
    const HALF: usize,
    const RUN: usize,
    const L: usize,
    const N: usize,
>(
    step: &[CacheLine],
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [__m256; N],
    widen: impl Fn(&[CacheLine; L]) -> Weights,
) {
    let Some((header, lines)) = step.split_first_chunk() else {
        return;
    };
    let header = BlockHeader::load::<HALF>(header);
    let mut step_sums = StepSums::<N>::new();
    let lines = lines.as_chunks::<L>().0.as_chunks::<4>().0;
    let halves = header.halves.into_iter().zip(lines);
    for ((mut scales, lines), inputs) in halves.zip(inputs.as_chunks::<4>().0) {
        for (lines, inputs) in lines.iter().zip(inputs) {
            step_sums.add::<D, RUN>(&widen(lines), scales.next(), inputs);
        }
    }
    step_sums.add_to(sums, &header);
}

/// The sums of one step for each row of inputs. The factors that all its columns share are applied
/// once, at its end.
#[derive(Debug)]
struct StepSums<const N: usize> {
    scaled: [__m256; N],
    mins: [__m256; N],
}

impl<const N: usize> StepSums<N> {
    /// Accumulators at zero.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new() -> Self {
        Self {
            scaled: zeros(),
            mins: zeros(),
        }
    }

    /// Adds the dot products of one block. The weights stay in registers from row to row.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn add<D: Dot, const RUN: usize>(
        &mut self,
        weights: &Weights,
        [scale, min]: [__m256; 2],
        inputs: &[InputBlock; N],
    ) {
        let rows = self.scaled.iter_mut().zip(&mut self.mins);
        for ((scaled, mins), input) in rows.zip(inputs) {
            let dots = add_small::<D, RUN, _>(_mm256_setzero_si256(), weights, &input.words);
            *scaled = blocks::scaled(dots, scale, input.scale, *scaled);
            *mins = _mm256_fmadd_ps(min, _mm256_set1_ps(input.scaled_sum), *mins);
        }
    }

    /// Ends the step: applies the shared factors and adds the result to the accumulators.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn add_to(self, sums: &mut [__m256; N], header: &BlockHeader) {
        let [scale, min] = header.factors;
        for ((sum, scaled), mins) in sums.iter_mut().zip(self.scaled).zip(self.mins) {
            *sum = _mm256_fmadd_ps(scale, scaled, *sum);
            *sum = _mm256_fnmadd_ps(min, mins, *sum);
        }
    }
}

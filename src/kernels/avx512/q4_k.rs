//! `Q4_K`: unpacks both nibbles of each byte, with a scale and a minimum for every 32 columns.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_add_epi32, _mm512_and_si512, _mm512_dpbusd_epi32, _mm512_set1_epi8,
    _mm512_set1_epi32, _mm512_setzero_si512, _mm512_srai_epi32,
};

use super::blocks::unpack_nibbles;
use super::memory::{load_all, zeros};
use super::sub_scales::{BlockHeader, StepSums};
use crate::cache_line::CacheLine;
use crate::formats::q4_k::{N_BLOCK_LINES, N_STEP_LINES};
use crate::input_block::InputBlock;
use crate::inputs::RowGroup;

/// Up to this many rows of inputs, each nibble has its own accumulators.
const N_FEW_ROWS: usize = 1;

/// Multiplies a tile by each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn sums<const N: usize>(tile: &[CacheLine], group: &RowGroup<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<8>().0;
    for (step, step_inputs) in steps.iter().zip(all_inputs) {
        let Some((header, lines)) = step.split_first_chunk() else {
            continue;
        };
        let header = BlockHeader::load(header);
        let mut step_sums = StepSums::<N>::new();
        let lines = lines.as_chunks::<N_BLOCK_LINES>().0.as_chunks::<4>().0;
        let halves = header.halves.into_iter().zip(lines);
        for ((mut scales, lines), half_inputs) in halves.zip(step_inputs.as_chunks::<4>().0) {
            for (lines, inputs) in lines.iter().zip(half_inputs) {
                if N <= N_FEW_ROWS {
                    step_sums.add_sums(block_sums(lines, inputs), scales.next(), inputs);
                } else {
                    step_sums.add(&unpack_nibbles(&load_all(lines)), scales.next(), inputs);
                }
            }
        }
        step_sums.add_to(&mut sums, &header);
    }
    sums
}

/// The dot products of one block. The high nibbles stay in place, and their sums are divided by 16
/// instead. This saves one shift per cache line and costs one more accumulator per row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn block_sums<const N: usize>(
    lines: &[CacheLine; N_BLOCK_LINES],
    inputs: &[InputBlock; N],
) -> [__m512i; N] {
    let mut lows = [_mm512_setzero_si512(); N];
    let mut highs = [_mm512_setzero_si512(); N];
    for (index, both) in load_all(lines).into_iter().enumerate() {
        let low = _mm512_and_si512(both, _mm512_set1_epi8(0x0f));
        let high = _mm512_and_si512(both, _mm512_set1_epi8(!0x0f));
        for ((low_sum, high_sum), input) in lows.iter_mut().zip(&mut highs).zip(inputs) {
            if let Some([first, second]) = input.words.as_chunks().0.get(index) {
                *low_sum = _mm512_dpbusd_epi32(*low_sum, low, _mm512_set1_epi32(*first));
                *high_sum = _mm512_dpbusd_epi32(*high_sum, high, _mm512_set1_epi32(*second));
            }
        }
    }
    for (low, high) in lows.iter_mut().zip(highs) {
        *low = _mm512_add_epi32(*low, _mm512_srai_epi32::<4>(high));
    }
    lows
}

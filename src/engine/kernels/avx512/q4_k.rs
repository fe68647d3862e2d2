//! `Q4_K`: both halves of the bytes, with a scale and a minimum for each 32 columns.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_and_si512, _mm512_set1_epi8, _mm512_setzero_si512, _mm512_srli_epi16,
};

use super::blocks::Weights;
use super::memory::{load_all, zeros};
use super::sub_scales::{Head, add_block};
use crate::engine::kernels::formats::q4_k::{N_BLOCK_LINES, N_STEP_LINES};
use crate::engine::kernels::formats::sub_scales;
use crate::engine::kernels::inputs::Group;
use crate::engine::kernels::line::Line;

/// The products of a tile with each row of a group.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub fn sums<const N: usize>(tile: &[Line], group: &Group<'_>) -> [__m512; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let inputs = group.blocks.as_chunks::<N>().0.as_chunks::<8>().0;
    for (step, inputs) in steps.iter().zip(inputs) {
        let Some((heads, lines)) = step.split_first_chunk::<{ sub_scales::N_LINES }>() else {
            continue;
        };
        let halves = lines.as_chunks::<N_BLOCK_LINES>().0.as_chunks::<4>().0;
        let inputs = inputs.as_chunks::<4>().0;
        for ((mut head, lines), inputs) in Head::load(heads).into_iter().zip(halves).zip(inputs) {
            for (lines, inputs) in lines.iter().zip(inputs) {
                add_block(&halves_of(lines), head.next(), inputs, &mut sums);
            }
        }
    }
    sums
}

/// The lower and the upper halves of the bytes, in the order of their columns.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub fn halves_of(lines: &[Line; N_BLOCK_LINES]) -> Weights {
    let low = _mm512_set1_epi8(0x0f);
    let mut weights = [_mm512_setzero_si512(); 2 * N_BLOCK_LINES];
    let pairs = weights.as_chunks_mut().0.iter_mut();
    for (pair, both) in pairs.zip(load_all(lines)) {
        let pair: &mut [__m512i; 2] = pair;
        *pair = [
            _mm512_and_si512(both, low),
            _mm512_and_si512(_mm512_srli_epi16::<4>(both), low),
        ];
    }
    weights
}

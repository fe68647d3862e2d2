//! `Q5_K`: as `Q4_K`, with a fifth bit from lines of their own.

use std::arch::x86_64::{
    __m512, _mm512_set1_epi8, _mm512_slli_epi16, _mm512_srli_epi16, _mm512_ternarylogic_epi64,
};

use super::blocks::Weights;
use super::memory::{load, zeros};
use super::q4_k::halves_of;
use super::sub_scales::{Head, add_block};
use crate::engine::kernels::formats::q4_k::N_BLOCK_LINES;
use crate::engine::kernels::formats::q5_k::{N_BLOCKS, N_STEP_LINES};
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
        let (highest, lower) = lines.split_at(N_BLOCKS);
        let highest = highest.as_chunks::<4>().0;
        let lower = lower.as_chunks::<N_BLOCK_LINES>().0.as_chunks::<4>().0;
        let inputs = inputs.as_chunks::<4>().0;
        let halves = highest.iter().zip(lower).zip(inputs);
        for (mut head, ((highest, lower), inputs)) in Head::load(heads).into_iter().zip(halves) {
            for ((highest, lower), inputs) in highest.iter().zip(lower).zip(inputs) {
                add_block(&weights(highest, lower), head.next(), inputs, &mut sums);
            }
        }
    }
    sums
}

/// The numbers of 32 columns, four in each register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn weights(highest: &Line, lower: &[Line; N_BLOCK_LINES]) -> Weights {
    // What is set in the first, or in the second and the third.
    const WITH: i32 = 0b1111_1000;
    let fifth = _mm512_set1_epi8(0x10);
    let highest = load(highest);
    let highest = [_mm512_slli_epi16::<4>(highest), highest];
    let mut weights = halves_of(lower);
    for (weights, mut bits) in weights.as_chunks_mut::<4>().0.iter_mut().zip(highest) {
        for weights in weights {
            *weights = _mm512_ternarylogic_epi64::<WITH>(*weights, bits, fifth);
            bits = _mm512_srli_epi16::<1>(bits);
        }
    }
    weights
}

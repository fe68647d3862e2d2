//! `Q5_K`: like `Q4_K`, with the fifth bits from separate cache lines.

use std::arch::x86_64::__m512;

use super::blocks::{Weights, add_fifth_bits, unpack_nibbles};
use super::memory::{load, load_all, zeros};
use super::sub_scales::{BlockHeader, StepSums};
use crate::cache_line::CacheLine;
use crate::formats::q5_k::{N_BLOCK_LINES, N_STEP_LINES};
use crate::inputs::RowGroup;

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
                step_sums.add(&weights(lines), scales.next(), inputs);
            }
        }
        step_sums.add_to(&mut sums, &header);
    }
    sums
}

/// Unpacks the quants of 32 columns, four columns per register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn weights([fifth_bits, lower @ ..]: &[CacheLine; N_BLOCK_LINES]) -> Weights {
    let fifth_bits = load(fifth_bits);
    let mut weights = unpack_nibbles(&load_all(lower));
    add_fifth_bits(&mut weights, fifth_bits);
    weights
}

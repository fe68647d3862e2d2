//! `Q4_K`: both halves of the bytes, with a scale and a minimum for each 32 columns.

use std::arch::x86_64::__m256;

use super::blocks::widen_halves;
use super::dot::Dot;
use super::memory::load_all;
use super::sub_scales::{Head, StepSums};
use crate::engine::kernels::formats::q4_k::{N_BLOCK_LINES, N_STEP_LINES};
use crate::engine::kernels::input_block::InputBlock;
use crate::engine::kernels::line::Line;

/// Adds the products of one half of a step of a tile to the sums of each row of a group.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub fn add_step<D: Dot, const HALF: usize, const N: usize>(
    step: &[Line; N_STEP_LINES],
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [__m256; N],
) {
    let Some((head, lines)) = step.split_first_chunk() else {
        return;
    };
    let head = Head::load::<HALF>(head);
    let mut step_sums = StepSums::<N>::new();
    let lines = lines.as_chunks::<N_BLOCK_LINES>().0.as_chunks::<4>().0;
    let halves = head.halves.into_iter().zip(lines);
    for ((mut scales, lines), inputs) in halves.zip(inputs.as_chunks::<4>().0) {
        for (lines, inputs) in lines.iter().zip(inputs) {
            let weights = widen_halves(&load_all::<HALF, _>(lines));
            step_sums.add::<D, 8>(&weights, scales.next(), inputs);
        }
    }
    step_sums.add_to(sums, &head);
}

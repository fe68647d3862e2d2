//! `Q4_K`: both halves of the bytes, with a scale and a minimum for each 32 columns.

use std::arch::aarch64::float32x4_t;

use super::blocks::{add_block, widen_halves};
use super::memory::{Quarters, zeros};
use super::sub_scales::{add_step, scales};
use crate::engine::kernels::formats::q4_k::{N_BLOCK_LINES, N_STEP_LINES};
use crate::engine::kernels::inputs::Group;
use crate::engine::kernels::line::Line;

/// The products of some quarters of a tile with each row of a group.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn sums<const Q: usize, const N: usize>(
    tile: &[Line],
    quarters: Quarters<Q>,
    group: &Group<'_>,
) -> [[float32x4_t; Q]; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<8>().0;
    for (step, inputs) in steps.iter().zip(all_inputs) {
        let Some((head, lines)) = step.split_first_chunk() else {
            continue;
        };
        let mut scaled = zeros::<Q, N>();
        let lines = lines.as_chunks::<N_BLOCK_LINES>().0.as_chunks::<4>().0;
        let halves = lines.iter().zip(inputs.as_chunks::<4>().0);
        for (mut scales, (lines, inputs)) in scales(quarters, head).into_iter().zip(halves) {
            for (lines, inputs) in lines.iter().zip(inputs) {
                let weights = widen_halves(quarters, lines);
                add_block::<0, Q, N>(&weights, scales.next(), inputs, &mut scaled);
            }
        }
        add_step((quarters, head), scaled, inputs, &mut sums);
    }
    sums
}

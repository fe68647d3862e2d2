//! `Q3_K`: three cache lines hold the 3-bit quants of 32 columns, with a scale for every 16.

use std::arch::aarch64::{
    float32x4_t, uint8x16_t, vandq_u8, vdupq_n_s32, vdupq_n_u8, vshrq_n_u8, vsubq_s32,
};

use super::blocks::{self, Weights};
use super::dot::Dot;
use super::half_scales::{HalfFactors, add_products, add_step, pair};
use super::memory::{Quarters, zeros};
use super::q6_k;
use crate::cache_line::CacheLine;
use crate::formats::q3_k::{N_BLOCK_LINES, N_STEP_LINES, OFFSET, SCALE_OFFSET};
use crate::inputs::RowGroup;

/// Multiplies some quarters of a tile by each row of a group.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn sums<D: Dot, const Q: usize, const N: usize>(
    tile: &[CacheLine],
    quarters: Quarters<Q>,
    group: &RowGroup<'_>,
) -> [[float32x4_t; Q]; N] {
    let mut sums = zeros();
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let all_inputs = group.blocks.as_chunks::<N>().0.as_chunks::<8>().0;
    for ([factors, rest @ ..], inputs) in steps.iter().zip(all_inputs) {
        let Some((scale_lines, lines)) = rest.split_first_chunk() else {
            continue;
        };
        let mut step_sums = zeros::<Q, N>();
        let lines = lines.as_chunks::<N_BLOCK_LINES>().0.as_chunks::<2>().0;
        let parts = lines.iter().zip(inputs.as_chunks::<2>().0);
        for (words, (lines, inputs)) in q6_k::weights(quarters, scale_lines).into_iter().zip(parts)
        {
            for ((lines, inputs), shift) in lines.iter().zip(inputs).zip([0, 8]) {
                let weights = weights(quarters, lines);
                let scales = scales(words, shift);
                add_products::<D, { OFFSET as i32 }, Q, N>(
                    &weights,
                    &scales,
                    inputs,
                    &mut step_sums,
                );
            }
        }
        let [factors, _] = blocks::scales(quarters, factors);
        add_step(factors, &step_sums, &mut sums);
    }
    sums
}

/// The scales of both halves of the block whose bits begin at bit `shift`.
#[inline]
#[target_feature(enable = "neon")]
fn scales<const Q: usize>(words: [uint8x16_t; Q], shift: i32) -> HalfFactors<Q> {
    let mut scales = pair::<0x3f, Q>(words, shift);
    for scale in scales.as_flattened_mut() {
        *scale = vsubq_s32(*scale, vdupq_n_s32(i32::from(SCALE_OFFSET)));
    }
    scales
}

/// Unpacks the quants of 32 columns, four columns per register, from pairs stored as 6-bit numbers.
#[inline]
#[target_feature(enable = "neon")]
fn weights<const Q: usize>(
    quarters: Quarters<Q>,
    lines: &[CacheLine; N_BLOCK_LINES],
) -> Weights<Q> {
    let three = vdupq_n_u8(0x07);
    let mut weights = [[[three; Q]; 4]; 2];
    let pairs = weights.as_flattened_mut().as_chunks_mut().0;
    for ([first, second], both) in pairs.iter_mut().zip(q6_k::weights(quarters, lines)) {
        for ((first, second), both) in first.iter_mut().zip(second).zip(both) {
            *first = vandq_u8(both, three);
            *second = vshrq_n_u8::<3>(both);
        }
    }
    weights
}

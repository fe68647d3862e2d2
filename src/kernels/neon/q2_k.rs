//! `Q2_K`: one cache line holds the 2-bit quants of 16 columns, with a scale and a minimum.

use std::arch::aarch64::{float32x4_t, vandq_u8, vdupq_n_u8, vnegq_f32, vshrq_n_u8};

use super::blocks::{Weights, scales};
use super::dot::Dot;
use super::half_scales::{add_mins, add_products, add_step, pair};
use super::memory::{Quarters, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q2_k::{N_PART_LINES, N_STEP_LINES};
use crate::input_block::InputBlock;
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
    for ([factors, lines @ ..], inputs) in steps.iter().zip(all_inputs) {
        let parts = lines.as_chunks::<N_PART_LINES>().0;
        let mut step_sums = zeros::<Q, N>();
        for ([both, lines @ ..], part_inputs) in parts.iter().zip(inputs.as_chunks::<2>().0) {
            let both = quarters.load(both);
            let blocks = lines.as_chunks().0.iter().zip(part_inputs).zip([0, 8]);
            for ((lines, inputs), shift) in blocks {
                let scales = pair::<0x0f, Q>(both, shift);
                let weights = weights(quarters, lines);
                add_products::<D, 0, Q, N>(&weights, &scales, inputs, &mut step_sums);
            }
        }
        let [factors, mut min_factors] = scales(quarters, factors);
        for factor in &mut min_factors {
            *factor = vnegq_f32(*factor);
        }
        add_step(factors, &step_sums, &mut sums);
        add_step(min_factors, &step_mins(quarters, parts, inputs), &mut sums);
    }
    sums
}

/// The minima of a step, before the factor that they share is applied.
#[inline]
#[target_feature(enable = "neon")]
fn step_mins<const Q: usize, const N: usize>(
    quarters: Quarters<Q>,
    parts: &[[CacheLine; N_PART_LINES]],
    inputs: &[[InputBlock; N]; 8],
) -> [[float32x4_t; Q]; N] {
    let mut step_mins = zeros();
    for ([both, ..], inputs) in parts.iter().zip(inputs.as_chunks::<2>().0) {
        let both = quarters.load(both);
        for (inputs, shift) in inputs.iter().zip([4, 12]) {
            add_mins(&pair::<0x0f, Q>(both, shift), inputs, &mut step_mins);
        }
    }
    step_mins
}

/// Unpacks the quants of 32 columns, four columns per register.
#[inline]
#[target_feature(enable = "neon")]
fn weights<const Q: usize>(quarters: Quarters<Q>, lines: &[CacheLine; 2]) -> Weights<Q> {
    let two = vdupq_n_u8(0x03);
    let mut weights = [[[two; Q]; 4]; 2];
    for ([a, b, c, d], line) in weights.iter_mut().zip(lines) {
        let targets = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
        for (((a, b), (c, d)), bytes) in targets.zip(quarters.load(line)) {
            *a = vandq_u8(bytes, two);
            *b = vandq_u8(vshrq_n_u8::<2>(bytes), two);
            *c = vandq_u8(vshrq_n_u8::<4>(bytes), two);
            *d = vshrq_n_u8::<6>(bytes);
        }
    }
    weights
}

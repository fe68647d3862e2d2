//! `Q6_K`: three cache lines hold the 6-bit quants of 16 columns, which share a scale.

use std::arch::aarch64::{float32x4_t, vandq_u8, vdupq_n_u8, vshrq_n_u8, vsriq_n_u8};

use super::blocks::scales;
use super::dot::{Columns, Dot};
use super::half_scales::{add_products, add_step};
use super::memory::{Quarters, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q6_k::{N_PART_LINES, N_SCALED_LINES, N_STEP_LINES, OFFSET};
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
        let mut step_sums = zeros::<Q, N>();
        let parts = lines.as_chunks::<N_PART_LINES>().0;
        for ([scales, lines @ ..], part_inputs) in parts.iter().zip(inputs.as_chunks::<2>().0) {
            let all_scales = [
                [
                    quarters.load_signed::<0>(scales),
                    quarters.load_signed::<1>(scales),
                ],
                [
                    quarters.load_signed::<2>(scales),
                    quarters.load_signed::<3>(scales),
                ],
            ];
            let lines = lines.as_chunks::<N_SCALED_LINES>().0.as_chunks::<2>().0;
            for (([low, high], scales), inputs) in lines.iter().zip(&all_scales).zip(part_inputs) {
                let weights = [weights(quarters, low), weights(quarters, high)];
                add_products::<D, OFFSET, Q, N>(&weights, scales, inputs, &mut step_sums);
            }
        }
        let [factors, _] = scales(quarters, factors);
        add_step(factors, &step_sums, &mut sums);
    }
    sums
}

/// Unpacks the quants of 16 columns, four columns per register.
#[inline]
#[target_feature(enable = "neon")]
pub fn weights<const Q: usize>(
    quarters: Quarters<Q>,
    [first, second, third]: &[CacheLine; N_SCALED_LINES],
) -> Columns<Q> {
    let six = vdupq_n_u8(0x3f);
    let [mut a, mut b, mut c] = [first, second, third].map(|line| quarters.load(line));
    let mut fourth = c;
    let targets = a.iter_mut().zip(&mut b).zip(c.iter_mut().zip(&mut fourth));
    for ((a, b), (c, fourth)) in targets {
        // Each shift-and-insert keeps the bits above its own.
        *fourth = vsriq_n_u8::<6>(vsriq_n_u8::<4>(vshrq_n_u8::<2>(*c), *b), *a);
        *a = vandq_u8(*a, six);
        *b = vandq_u8(*b, six);
        *c = vandq_u8(*c, six);
    }
    [a, b, c, fourth]
}

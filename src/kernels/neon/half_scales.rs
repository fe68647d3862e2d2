//! Shared by `Q2_K`, `Q3_K` and `Q6_K`: an integer scale for every 16 columns. The sums of both
//! halves of a block are multiplied by their scales as integers that a float still represents
//! exactly.

use std::arch::aarch64::{
    float32x4_t, int32x4_t, uint8x16_t, vandq_u32, vcvtq_f32_s32, vdupq_n_s32, vdupq_n_u32,
    vfmaq_f32, vfmaq_n_f32, vmlaq_n_s32, vmlaq_s32, vmulq_n_s32, vreinterpretq_s32_u32,
    vreinterpretq_u32_u8, vshlq_u32,
};

use super::blocks::Weights;
use super::dot::{self, Columns, Dot};
use super::memory::int_zeros;
use crate::input_block::InputBlock;

/// The integer factors of both halves of a block.
pub type HalfFactors<const Q: usize> = [[int32x4_t; Q]; 2];

/// Extracts the factors of both halves from the words of each lane: the bits of the mask from bit
/// `shift` on, and 16 bits further up.
#[inline]
#[target_feature(enable = "neon")]
pub fn pair<const MASK: u32, const Q: usize>(words: [uint8x16_t; Q], shift: i32) -> HalfFactors<Q> {
    let mut pair = [[vdupq_n_s32(0); Q]; 2];
    for (half, shift) in pair.iter_mut().zip([shift, shift + 16]) {
        for (number, words) in half.iter_mut().zip(words) {
            let shifted = vshlq_u32(vreinterpretq_u32_u8(words), vdupq_n_s32(-shift));
            *number = vreinterpretq_s32_u32(vandq_u32(shifted, vdupq_n_u32(MASK)));
        }
    }
    pair
}

/// Adds the dot products of one block, whose weights have an offset, to the accumulators of each
/// row.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn add_products<D: Dot, const OFFSET: i32, const Q: usize, const N: usize>(
    [low, high]: &Weights<Q>,
    [low_scales, high_scales]: &HalfFactors<Q>,
    inputs: &[InputBlock; N],
    sums: &mut [[float32x4_t; Q]; N],
) {
    let mut scaled = int_zeros::<Q, N>();
    add_half::<D, 0, OFFSET, Q, N>(low, low_scales, inputs, &mut scaled);
    add_half::<D, 1, OFFSET, Q, N>(high, high_scales, inputs, &mut scaled);
    add_scaled(&scaled, inputs, sums);
}

/// Adds the dot products of one half of a block, multiplied by its scales: exact.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn add_half<D: Dot, const HALF: usize, const OFFSET: i32, const Q: usize, const N: usize>(
    weights: &Columns<Q>,
    scales: &[int32x4_t; Q],
    inputs: &[InputBlock; N],
    scaled: &mut [[int32x4_t; Q]; N],
) {
    let starts = inputs.each_ref().map(|input| {
        let [low, high] = input.half_sums();
        -OFFSET * if HALF == 0 { low } else { high }
    });
    let dots = dot::sums::<D, HALF, 1, Q, N>(std::array::from_ref(weights), inputs, starts);
    for (scaled, dots) in scaled.iter_mut().zip(dots) {
        for ((scaled, dots), scale) in scaled.iter_mut().zip(dots).zip(scales) {
            *scaled = vmlaq_s32(*scaled, dots, *scale);
        }
    }
}

/// Adds the minima of one block: the input sums of both halves, each multiplied by an integer.
#[inline]
#[target_feature(enable = "neon")]
pub fn add_mins<const Q: usize, const N: usize>(
    [low_mins, high_mins]: &HalfFactors<Q>,
    inputs: &[InputBlock; N],
    sums: &mut [[float32x4_t; Q]; N],
) {
    let mut dots = int_zeros::<Q, N>();
    for (input, dots) in inputs.iter().zip(&mut dots) {
        let [low, high] = input.half_sums();
        for ((dots, low_min), high_min) in dots.iter_mut().zip(low_mins).zip(high_mins) {
            *dots = vmlaq_n_s32(vmulq_n_s32(*low_min, low), *high_min, high);
        }
    }
    add_scaled(&dots, inputs, sums);
}

/// Adds integer sums, multiplied by the scales of the inputs.
#[inline]
#[target_feature(enable = "neon")]
fn add_scaled<const Q: usize, const N: usize>(
    dots: &[[int32x4_t; Q]; N],
    inputs: &[InputBlock; N],
    sums: &mut [[float32x4_t; Q]; N],
) {
    for ((input, dots), sums) in inputs.iter().zip(dots).zip(sums) {
        for (sum, dots) in sums.iter_mut().zip(dots) {
            *sum = vfmaq_n_f32(*sum, vcvtq_f32_s32(*dots), input.scale);
        }
    }
}

/// Ends a step: applies its rows' factors and adds the result to the accumulators.
#[inline]
#[target_feature(enable = "neon")]
pub fn add_step<const Q: usize, const N: usize>(
    factors: [float32x4_t; Q],
    step_sums: &[[float32x4_t; Q]; N],
    sums: &mut [[float32x4_t; Q]; N],
) {
    for (sums, step_sums) in sums.iter_mut().zip(step_sums) {
        for ((sum, step_sum), factor) in sums.iter_mut().zip(step_sums).zip(factors) {
            *sum = vfmaq_f32(*sum, factor, *step_sum);
        }
    }
}

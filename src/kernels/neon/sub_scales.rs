//! Shared by `Q4_K` and `Q5_K`: their block headers, with a scale and a minimum for every 32
//! columns.

use std::arch::aarch64::{
    float32x4_t, uint8x16_t, uint32x4_t, vandq_u8, vandq_u32, vcvtq_f32_u32, vdupq_n_f32,
    vdupq_n_u8, vdupq_n_u32, vfmaq_f32, vfmsq_f32, vorrq_u8, vreinterpretq_u32_u8, vshrq_n_u8,
    vshrq_n_u32,
};

use super::blocks::{self, Weights, add_block, add_mins};
use super::dot::Dot;
use super::memory::{Quarters, zeros};
use crate::cache_line::CacheLine;
use crate::formats::sub_scales::N_LINES;
use crate::input_block::InputBlock;

/// The scales or the minima of four blocks: integers in the bytes of each lane, the next one in the
/// lowest.
#[derive(Debug, Clone, Copy)]
struct PackedScales<const Q: usize>([uint32x4_t; Q]);

impl<const Q: usize> PackedScales<Q> {
    /// Pops those of the next block.
    #[inline]
    #[target_feature(enable = "neon")]
    fn next(&mut self) -> [float32x4_t; Q] {
        let mut values = [vdupq_n_f32(0.0); Q];
        for (value, words) in values.iter_mut().zip(&mut self.0) {
            *value = vcvtq_f32_u32(vandq_u32(*words, vdupq_n_u32(0xff)));
            *words = vshrq_n_u32::<8>(*words);
        }
        values
    }
}

/// Adds the dot products of a step to the accumulators of each row. The header is followed by eight
/// blocks of `L` cache lines, which `widen` unpacks to bytes. The factors that all its columns
/// share are applied once, at its end.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn add_step<D: Dot, const L: usize, const Q: usize, const N: usize>(
    step: &[CacheLine],
    quarters: Quarters<Q>,
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [[float32x4_t; Q]; N],
    widen: impl Fn(&[CacheLine; L]) -> Weights<Q>,
) {
    let Some((header, lines)) = step.split_first_chunk() else {
        return;
    };
    let [_, scales, _, rest] = header;
    let halves = unpack(quarters.load(scales), quarters.load(rest)).into_iter();
    let lines = lines.as_chunks().0.as_chunks::<4>().0;
    let mut scaled = zeros::<Q, N>();
    for (mut scales, (lines, inputs)) in halves.zip(lines.iter().zip(inputs.as_chunks::<4>().0)) {
        for (lines, inputs) in lines.iter().zip(inputs) {
            add_block::<D, 0, Q, N>(&widen(lines), scales.next(), inputs, &mut scaled);
        }
    }
    end_step(quarters, header, &scaled, inputs, sums);
}

/// Applies the shared factors to the dot products and the minima of a step, and adds the result to
/// the accumulators.
#[inline]
#[target_feature(enable = "neon")]
fn end_step<const Q: usize, const N: usize>(
    quarters: Quarters<Q>,
    header: &[CacheLine; N_LINES],
    scaled: &[[float32x4_t; Q]; N],
    inputs: &[[InputBlock; N]; 8],
    sums: &mut [[float32x4_t; Q]; N],
) {
    let [factors, _, mins, rest] = header;
    let mut rest = quarters.load(rest);
    for words in &mut rest {
        *words = vshrq_n_u8::<4>(*words);
    }
    let mut step_mins = zeros::<Q, N>();
    let halves = unpack(quarters.load(mins), rest).into_iter();
    for (mut mins, half_inputs) in halves.zip(inputs.as_chunks::<4>().0) {
        for inputs in half_inputs {
            add_mins(mins.next(), inputs, &mut step_mins);
        }
    }
    let [scales, mins] = blocks::scales(quarters, factors);
    for ((sums, scaled), step_mins) in sums.iter_mut().zip(scaled).zip(step_mins) {
        let factors = scales.into_iter().zip(mins);
        let steps = scaled.iter().zip(step_mins);
        for ((sum, (scaled, step_min)), (scale, min)) in sums.iter_mut().zip(steps).zip(factors) {
            *sum = vfmaq_f32(*sum, scale, *scaled);
            *sum = vfmsq_f32(*sum, min, step_min);
        }
    }
}

/// Unpacks six bits per byte: directly for the first four blocks; for the others, the lower four
/// bits from `rest` and the upper two from `first`.
#[inline]
#[target_feature(enable = "neon")]
fn unpack<const Q: usize>(first: [uint8x16_t; Q], rest: [uint8x16_t; Q]) -> [PackedScales<Q>; 2] {
    let (mut low, mut high) = ([vdupq_n_u32(0); Q], [vdupq_n_u32(0); Q]);
    let targets = low.iter_mut().zip(&mut high);
    for ((low, high), (first, rest)) in targets.zip(first.into_iter().zip(rest)) {
        *low = vreinterpretq_u32_u8(vandq_u8(first, vdupq_n_u8(0x3f)));
        let lower = vandq_u8(rest, vdupq_n_u8(0x0f));
        let upper = vandq_u8(vshrq_n_u8::<2>(first), vdupq_n_u8(0x30));
        *high = vreinterpretq_u32_u8(vorrq_u8(lower, upper));
    }
    [PackedScales(low), PackedScales(high)]
}

//! Integer weights with one scale per row and block, times the inputs of a row group.

use std::arch::aarch64::{
    float32x4_t, int32x4_t, uint8x16_t, vandq_u8, vbslq_u8, vcvt_f32_f16, vcvtq_f32_s32,
    vdupq_n_f32, vdupq_n_u8, vfmaq_f32, vfmaq_n_f32, vmlaq_n_s32, vmulq_n_f32,
    vreinterpret_f16_u16, vshlq_n_u8, vshrq_n_u8,
};

use super::dot::{self, Columns, Dot};
use super::memory::Quarters;
use crate::cache_line::CacheLine;
use crate::input_block::{DIGIT_BASE, InputBlock};

/// The weights of one block, in halves of 16 columns.
pub type Weights<const Q: usize> = [Columns<Q>; 2];

/// The scales of two blocks from a cache line of half floats, `[block][lane]`.
#[inline]
#[target_feature(enable = "neon")]
pub fn scales<const Q: usize>(quarters: Quarters<Q>, line: &CacheLine) -> [[float32x4_t; Q]; 2] {
    let mut scales = [[vdupq_n_f32(0.0); Q]; 2];
    let halves = [quarters.load_half::<0>(line), quarters.load_half::<1>(line)];
    for (scales, half_floats) in scales.iter_mut().zip(halves) {
        for (scales, half_floats) in scales.iter_mut().zip(half_floats) {
            *scales = vcvt_f32_f16(vreinterpret_f16_u16(half_floats));
        }
    }
    scales
}

/// Unpacks 4-bit quants to bytes. Each cache line has eight columns, the first four in the low
/// nibbles.
#[inline]
#[target_feature(enable = "neon")]
pub fn unpack_nibbles<const Q: usize>(quarters: Quarters<Q>, lines: &[CacheLine; 4]) -> Weights<Q> {
    let half = vdupq_n_u8(0x0f);
    let mut weights = [[[half; Q]; 4]; 2];
    let pairs = weights.as_flattened_mut().as_chunks_mut().0;
    for ([low, high], line) in pairs.iter_mut().zip(lines) {
        let both = low.iter_mut().zip(high).zip(quarters.load(line));
        for ((low, high), bytes) in both {
            *low = vandq_u8(bytes, half);
            *high = vshrq_n_u8::<4>(bytes);
        }
    }
    weights
}

/// Adds the fifth bit to 4-bit quants. Each byte of the cache line has those of eight columns: bit
/// `column / 4` of byte `column % 4`.
#[inline]
#[target_feature(enable = "neon")]
pub fn add_fifth_bits<const Q: usize>(
    weights: &mut Weights<Q>,
    quarters: Quarters<Q>,
    line: &CacheLine,
) {
    let line = quarters.load(line);
    let [low, high] = weights;
    let mut low_bits = line;
    for bits in &mut low_bits {
        *bits = vshlq_n_u8::<4>(*bits);
    }
    insert_fifth_bits(low, low_bits);
    insert_fifth_bits(high, line);
}

/// Adds the fifth bit to 4-bit quants. Those of the first four columns are in place, each next one
/// is one bit further up.
#[inline]
#[target_feature(enable = "neon")]
fn insert_fifth_bits<const Q: usize>(columns: &mut Columns<Q>, mut bits: [uint8x16_t; Q]) {
    let fifth = vdupq_n_u8(0x10);
    for weights in columns {
        for (weights, bits) in weights.iter_mut().zip(&mut bits) {
            *weights = vbslq_u8(fifth, *bits, *weights);
            *bits = vshrq_n_u8::<1>(*bits);
        }
    }
}

/// Adds the minima of one block, times the sums of the inputs, to the accumulators of each row.
#[inline]
#[target_feature(enable = "neon")]
pub fn add_mins<const Q: usize, const N: usize>(
    mins: [float32x4_t; Q],
    inputs: &[InputBlock; N],
    sums: &mut [[float32x4_t; Q]; N],
) {
    for (input, sums) in inputs.iter().zip(sums) {
        for (sum, min) in sums.iter_mut().zip(mins) {
            *sum = vfmaq_n_f32(*sum, min, input.scaled_sum);
        }
    }
}

/// Adds the dot products of one block to the accumulators of each row.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn add_block<D: Dot, const OFFSET: i16, const Q: usize, const N: usize>(
    weights: &Weights<Q>,
    scales: [float32x4_t; Q],
    inputs: &[InputBlock; N],
    sums: &mut [[float32x4_t; Q]; N],
) {
    let starts = inputs.each_ref().map(|input| {
        let [low, high] = input.half_sums();
        -i32::from(OFFSET) * (low + high)
    });
    let dots = dot::sums::<D, 0, 2, Q, N>(weights, inputs, starts);
    for ((input, dots), sums) in inputs.iter().zip(&dots).zip(sums) {
        add_scaled(dots, scales, input, sums);
    }
}

/// Adds the dot products of one block with 16-bit inputs, of which each pair of rows holds the
/// digits, to the accumulators of the high digits.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn add_block_of_digits<D: Dot, const Q: usize, const N: usize>(
    weights: &Weights<Q>,
    scales: [float32x4_t; Q],
    inputs: &[InputBlock; N],
    sums: &mut [[float32x4_t; Q]; N],
) {
    let mut dots = dot::sums::<D, 0, 2, Q, N>(weights, inputs, [0; N]);
    let inputs = inputs.as_chunks().0.iter();
    let rows = inputs.zip(dots.as_chunks_mut().0);
    for (([_, input], [high, low]), [sums, _]) in rows.zip(sums.as_chunks_mut().0) {
        for (high, low) in high.iter_mut().zip(low) {
            *high = vmlaq_n_s32(*low, *high, DIGIT_BASE);
        }
        add_scaled(high, scales, input, sums);
    }
}

/// Adds the integer dot products of one row, multiplied by the scales of the weights and of the
/// inputs.
#[inline]
#[target_feature(enable = "neon")]
fn add_scaled<const Q: usize>(
    dots: &[int32x4_t; Q],
    scales: [float32x4_t; Q],
    input: &InputBlock,
    sums: &mut [float32x4_t; Q],
) {
    for ((sum, dots), scale) in sums.iter_mut().zip(dots).zip(scales) {
        let scale = vmulq_n_f32(scale, input.scale);
        *sum = vfmaq_f32(*sum, vcvtq_f32_s32(*dots), scale);
    }
}

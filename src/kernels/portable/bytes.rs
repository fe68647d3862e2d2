//! Bytes of weights, and their dot products with inputs.
//!
//! Of four columns, the first and the third byte form the 32-bit number `first + (third << 16)`;
//! the second and the fourth do the same. Multiplied by two inputs in the opposite order, its upper
//! 16 bits are the sum of both products: two products for one multiplication, without a shuffle.

use super::wide_block::WideBlock;
use super::{Lanes, N_LANES};
use crate::N_BLOCK;
use crate::cache_line::CacheLine;
use crate::formats::q4_k;
use crate::formats::sub_scales::LOW_NIBBLES;

/// The bytes of four columns for each row of a tile.
pub(super) type Bytes = [u32; N_LANES];

/// The unsigned weights of one block.
pub(super) type Weights = [Bytes; N_BLOCK / 4];

/// One integer for each row of a tile.
pub(super) type IntLanes = [i32; N_LANES];

/// The first and the third of four bytes.
const ODD: u32 = 0x00ff_00ff;

/// Loads a cache line as words.
#[inline(always)]
pub(super) fn load(line: &CacheLine) -> Bytes {
    let mut words = [0; N_LANES];
    let bytes = line.0.as_chunks().0.iter();
    for (word, bytes) in words.iter_mut().zip(bytes) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// Unpacks 4-bit quants to bytes. Each cache line has eight columns, the first four in the low
/// nibbles.
#[inline(always)]
pub(super) fn unpack_nibbles(lines: &[CacheLine; q4_k::N_BLOCK_LINES]) -> Weights {
    let mut weights = [[0; N_LANES]; N_BLOCK / 4];
    for ([low, high], line) in weights.as_chunks_mut().0.iter_mut().zip(lines) {
        let bytes = load(line);
        *low = bytes.map(|bytes| bytes & LOW_NIBBLES);
        *high = bytes.map(|bytes| bytes >> 4 & LOW_NIBBLES);
    }
    weights
}

/// Adds the fifth bit to 4-bit quants. Each byte of the cache line has those of eight columns: bit
/// `column / 4` of byte `column % 4`.
#[inline(always)]
pub(super) fn add_fifth_bits(weights: &mut Weights, line: &CacheLine) {
    let fifth_bits = load(line);
    for (index, weights) in weights.iter_mut().enumerate() {
        for (weight, bits) in weights.iter_mut().zip(fifth_bits) {
            *weight |= (bits >> index & 0x0101_0101) << 4;
        }
    }
}

/// Adds dot products of unsigned weights so small that 4 × `RUN` products fit into 16 bits: below
/// 16 for a run of 4, below 32 for 2, below 64 for 1. `first` is the index of the first four
/// columns in their block.
#[inline(always)]
pub(super) fn add_small<const RUN: usize, const N: usize>(
    weights: &[Bytes],
    first: usize,
    inputs: &[WideBlock; N],
    sums: &mut [IntLanes; N],
) {
    for (index, weights) in weights.as_chunks::<RUN>().0.iter().enumerate() {
        // The lower 16 bits are signed as well; this bias keeps them from borrowing from the upper
        // ones.
        let mut both = [[1 << 15; N_LANES]; N];
        for (step, bytes) in weights.iter().enumerate() {
            let odd = bytes.map(|bytes| (bytes & ODD).cast_signed());
            let even = bytes.map(|bytes| (bytes >> 8 & ODD).cast_signed());
            for (both, input) in both.iter_mut().zip(inputs) {
                if let Some([first, second]) = input.pairs.get(first + index * RUN + step) {
                    add_products(&odd, *first, both);
                    add_products(&even, *second, both);
                }
            }
        }
        for (sums, both) in sums.iter_mut().zip(&both) {
            for (sum, both) in sums.iter_mut().zip(both) {
                *sum += both >> 16;
            }
        }
    }
}

/// Adds dot products of 8-bit weights: those of their low nibbles, and 16 times those of their high
/// nibbles.
#[inline(always)]
pub(super) fn add_large<const N: usize>(
    lines: &[CacheLine; N_BLOCK / 4],
    inputs: &[WideBlock; N],
    sums: &mut [IntLanes; N],
) {
    for (index, lines) in lines.as_chunks::<4>().0.iter().enumerate() {
        let mut lower = [[0; N_LANES]; 4];
        let mut upper = [[0; N_LANES]; 4];
        for ((lower, upper), line) in lower.iter_mut().zip(&mut upper).zip(lines) {
            let bytes = load(line);
            *lower = bytes.map(|bytes| bytes & LOW_NIBBLES);
            *upper = bytes.map(|bytes| bytes >> 4 & LOW_NIBBLES);
        }
        let mut upper_sums = [[0; N_LANES]; N];
        add_small::<4, N>(&lower, 4 * index, inputs, sums);
        add_small::<4, N>(&upper, 4 * index, inputs, &mut upper_sums);
        for (sums, upper) in sums.iter_mut().zip(&upper_sums) {
            for (sum, upper) in sums.iter_mut().zip(upper) {
                *sum += 16 * upper;
            }
        }
    }
}

#[inline(always)]
fn add_products(weights: &IntLanes, input: i32, sums: &mut IntLanes) {
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum = sum.wrapping_add(weight.wrapping_mul(input));
    }
}

/// Converts integers to floats.
#[inline(always)]
pub(super) fn floats(dots: &IntLanes) -> Lanes {
    dots.map(|dots| dots as f32)
}

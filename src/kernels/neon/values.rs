//! Weighted sums of 8-bit values with the two digits of each probability, half of the 16 dimensions
//! at a time.

use std::arch::aarch64::{int32x4_t, vaddq_s32, vdupq_n_s32, vreinterpretq_s8_s32, vshlq_n_s32};

use super::dot::sdot;
use super::memory::{Quarters, int_zeros};
use crate::attention::{ByteValues, IntLanes, N_DIGIT_BITS};

/// Quarters of 16 dimensions that are processed together. With six queries, the accumulators of
/// both digits then take 24 of the 32 registers.
const N_QUARTERS: usize = 2;

/// Adds the weighted values of all blocks to the accumulators of each query.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn add<const N: usize>(values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
    for start in 0..values.n_registers {
        for quarters in Quarters::all() {
            add_quarters(values, start, quarters, sums);
        }
    }
}

/// Adds some dimensions of each block; the accumulators of both digits stay in registers.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn add_quarters<const N: usize>(
    values: &ByteValues<'_, N>,
    start: usize,
    quarters: Quarters<N_QUARTERS>,
    sums: &mut [IntLanes],
) {
    let mut upper = int_zeros::<N_QUARTERS, N>();
    let mut lower = int_zeros::<N_QUARTERS, N>();
    for ([cell], probs) in values.blocks::<1>(start) {
        for (word_index, line) in cell.iter().enumerate() {
            let loaded = quarters.load(line);
            for ((upper, lower), probs) in upper.iter_mut().zip(&mut lower).zip(probs) {
                let words = probs.words(word_index);
                for (sums, word) in [upper, lower].into_iter().zip(words) {
                    let digits = vreinterpretq_s8_s32(vdupq_n_s32(word));
                    for (sum, values) in sums.iter_mut().zip(loaded) {
                        *sum = sdot::<0>(*sum, values, digits);
                    }
                }
            }
        }
    }
    for ((upper, lower), offset) in upper.into_iter().zip(lower).zip(values.offsets) {
        if let Some(sums) = sums.get_mut(offset + start) {
            quarters.add_ints(sums, both_digits(upper, lower));
        }
    }
}

/// Combines the sums of both digits.
#[inline]
#[target_feature(enable = "neon")]
fn both_digits<const Q: usize>(mut upper: [int32x4_t; Q], lower: [int32x4_t; Q]) -> [int32x4_t; Q] {
    for (upper, lower) in upper.iter_mut().zip(lower) {
        *upper = vaddq_s32(vshlq_n_s32::<{ N_DIGIT_BITS.cast_signed() }>(*upper), lower);
    }
    upper
}

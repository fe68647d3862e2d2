//! Weighted sums of 8-bit values with the two digits of each probability, eight dimensions at a
//! time.

use std::arch::x86_64::{__m256i, _mm256_add_epi32, _mm256_setzero_si256, _mm256_slli_epi32};

use super::dot::{Dot, add_digits};
use super::memory::{load_all, load_ints, store_ints};
use crate::attention::{ByteValues, IntLanes, N_DIGIT_BITS, N_PROB_WORDS, QuantizedProbs};

/// Adds the weighted values of all blocks to the accumulators of each query.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add<D: Dot, const N: usize>(values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
    for start in 0..values.n_registers {
        add_half::<D, 0, N>(values, start, sums);
        add_half::<D, 1, N>(values, start, sums);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_half<D: Dot, const HALF: usize, const N: usize>(
    values: &ByteValues<'_, N>,
    start: usize,
    sums: &mut [IntLanes],
) {
    let mut found = [_mm256_setzero_si256(); N];
    for ([cell], probs) in values.blocks::<1>(start) {
        let cell = load_all::<HALF, _>(cell);
        for (found, probs) in found.iter_mut().zip(probs) {
            *found = _mm256_add_epi32(*found, products::<D>(&cell, probs));
        }
    }
    for (found, offset) in found.into_iter().zip(values.offsets) {
        if let Some(sum) = sums.get_mut(offset + start) {
            store_ints::<HALF>(sum, _mm256_add_epi32(load_ints::<HALF>(sum), found));
        }
    }
}

/// The values of 16 positions, times the digits of their probabilities.
#[inline]
#[target_feature(enable = "avx2")]
fn products<D: Dot>(cell: &[__m256i; N_PROB_WORDS], probs: &QuantizedProbs) -> __m256i {
    let mut upper = _mm256_setzero_si256();
    let mut lower = _mm256_setzero_si256();
    for (word_index, values) in cell.iter().enumerate() {
        let [upper_word, lower_word] = probs.words(word_index);
        upper = add_digits::<D>(upper, upper_word, *values);
        lower = add_digits::<D>(lower, lower_word, *values);
    }
    _mm256_add_epi32(
        _mm256_slli_epi32::<{ N_DIGIT_BITS.cast_signed() }>(upper),
        lower,
    )
}

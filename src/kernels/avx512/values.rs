//! Weighted sums of 8-bit values with the two digits of each probability.

use std::arch::x86_64::{
    _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_slli_epi32,
};

use super::memory::{load, load_ints, store_ints};
use crate::attention::{ByteValues, IntLanes, N_DIGIT_BITS, N_PROB_WORDS};

/// Adds the weighted values of all blocks to the accumulators of each query.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn add<const N: usize>(values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
    let mut start = 0;
    while start + 2 <= values.n_registers {
        add_registers::<N, 2>(values, start, sums);
        start += 2;
    }
    if start < values.n_registers {
        add_registers::<N, 1>(values, start, sums);
    }
}

/// Adds P registers of each block; the accumulators of both digits stay in registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_registers<const N: usize, const P: usize>(
    values: &ByteValues<'_, N>,
    start: usize,
    sums: &mut [IntLanes],
) {
    let (mut upper, mut lower) = (
        [[_mm512_setzero_si512(); P]; N],
        [[_mm512_setzero_si512(); P]; N],
    );
    for (cells, probs) in values.blocks::<P>(start) {
        for word_index in 0..N_PROB_WORDS {
            let mut loaded = [_mm512_setzero_si512(); P];
            for (loaded, cell) in loaded.iter_mut().zip(cells) {
                if let Some(line) = cell.get(word_index) {
                    *loaded = load(line);
                }
            }
            for ((upper, lower), probs) in upper.iter_mut().zip(&mut lower).zip(probs) {
                let [upper_word, lower_word] = probs.words(word_index);
                let upper_word = _mm512_set1_epi32(upper_word);
                let lower_word = _mm512_set1_epi32(lower_word);
                for ((values, upper), lower) in loaded.iter().zip(upper).zip(lower) {
                    *upper = _mm512_dpbusd_epi32(*upper, upper_word, *values);
                    *lower = _mm512_dpbusd_epi32(*lower, lower_word, *values);
                }
            }
        }
    }
    for ((upper, lower), offset) in upper.into_iter().zip(lower).zip(values.offsets) {
        let sums = sums.iter_mut().skip(offset + start);
        for ((sum, upper), lower) in sums.zip(upper).zip(lower) {
            let upper = _mm512_slli_epi32::<N_DIGIT_BITS>(upper);
            let found = _mm512_add_epi32(upper, lower);
            store_ints(sum, _mm512_add_epi32(load_ints(sum), found));
        }
    }
}

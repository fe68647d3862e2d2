//! Weighted sums of 8-bit values with 14-bit probabilities, exact in integer arithmetic.

use std::ops::Range;

use super::byte_blocks::N_CELL_LINES;
use crate::N_LANES;
use crate::cache_line::CacheLine;
use crate::input_block::pack_words;

/// The largest integer probability. It has two 7-bit digits, so that the sum of two products of a
/// digit and a byte fits into 16 bits.
pub(super) const MAX_PROB: i32 = (1 << (2 * N_DIGIT_BITS)) - 1;

/// Bits per digit of a probability.
pub(crate) const N_DIGIT_BITS: u32 = 7;

/// 32-bit words that hold one digit of each of a block's 16 probabilities.
pub(crate) const N_PROB_WORDS: usize = N_LANES / 4;

/// One 32-bit accumulator for each of 16 dimensions.
///
/// They cannot overflow: 512 positions per segment, bytes below 2⁷ and probabilities below 2¹⁴ keep
/// the sums below 2³⁰.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct IntLanes(pub [i32; N_LANES]);

impl IntLanes {
    pub const ZERO: Self = Self([0; N_LANES]);
}

/// The integer probabilities of a block's 16 positions, split into two digits. Each word holds four
/// positions, the first in its lowest byte.
#[derive(Debug, Clone, Copy)]
pub struct QuantizedProbs {
    upper: [i32; N_PROB_WORDS],
    lower: [i32; N_PROB_WORDS],
}

impl QuantizedProbs {
    pub const NONE: Self = Self {
        upper: [0; N_PROB_WORDS],
        lower: [0; N_PROB_WORDS],
    };

    /// Splits integers between 0 and [`MAX_PROB`] into digits.
    #[inline(always)]
    pub fn new(numbers: &[i32; N_LANES]) -> Self {
        let (mut upper, mut lower) = ([0; N_LANES], [0; N_LANES]);
        for (upper, number) in upper.iter_mut().zip(numbers) {
            *upper = number >> N_DIGIT_BITS;
        }
        for (lower, number) in lower.iter_mut().zip(numbers) {
            *lower = number & LOWER;
        }
        Self {
            upper: pack_words(&upper),
            lower: pack_words(&lower),
        }
    }

    /// The words with the upper and the lower digits of four positions.
    #[inline(always)]
    pub fn words(&self, word_index: usize) -> [i32; 2] {
        match (self.upper.get(word_index), self.lower.get(word_index)) {
            (Some(upper), Some(lower)) => [*upper, *lower],
            _ => [0; 2],
        }
    }

    /// The probabilities of four positions.
    #[inline(always)]
    pub fn values(&self, word_index: usize) -> [i32; 4] {
        let [upper, lower] = self.words(word_index).map(i32::to_le_bytes);
        let mut numbers = [0; 4];
        for ((number, upper), lower) in numbers.iter_mut().zip(upper).zip(lower) {
            *number = (i32::from(upper) << N_DIGIT_BITS) + i32::from(lower);
        }
        numbers
    }

    /// Returns a copy in which all positions outside `lanes` are zero.
    pub fn within(&self, lanes: &Range<usize>) -> Self {
        let mut seen = *self;
        let words = seen.upper.iter_mut().zip(&mut seen.lower);
        for (word_index, (upper, lower)) in words.enumerate() {
            let n_bits = |lane: usize| 8 * lane.saturating_sub(4 * word_index).min(4);
            let mask = (1_u64 << n_bits(lanes.end)) - (1 << n_bits(lanes.start));
            let mask = (mask as u32).cast_signed();
            *upper &= mask;
            *lower &= mask;
        }
        seen
    }
}

/// Masks the lower digit.
const LOWER: i32 = (1 << N_DIGIT_BITS) - 1;

/// The 8-bit values of some positions, with their probabilities for each of N queries.
#[derive(Debug, Clone, Copy)]
pub struct ByteValues<'a, const N: usize> {
    /// `[block][dim / 16][position / 4]`, each cache line `[dim][position % 4]` of signed bytes.
    pub lines: &'a [CacheLine],
    /// The dimensions of a head, in registers of 16.
    pub n_registers: usize,
    /// For each query: `[block]`.
    pub probs: [&'a [QuantizedProbs]; N],
    /// For each query, the index of its first accumulator.
    pub offsets: [usize; N],
}

impl<'a, const N: usize> ByteValues<'a, N> {
    /// Iterates over the blocks. Returns P adjacent registers of each, from `start` on, with the
    /// probabilities of every query.
    #[inline]
    pub fn blocks<const P: usize>(
        &self,
        start: usize,
    ) -> impl Iterator<Item = (&'a [[CacheLine; N_CELL_LINES]; P], [&'a QuantizedProbs; N])> {
        let blocks = self.lines.chunks_exact(N_CELL_LINES * self.n_registers);
        let probs = self.probs;
        blocks.enumerate().filter_map(move |(index, lines)| {
            let cells = lines.as_chunks().0.get(start..)?.first_chunk()?;
            let mut found = [&QuantizedProbs::NONE; N];
            for (found, probs) in found.iter_mut().zip(probs) {
                *found = probs.get(index)?;
            }
            Some((cells, found))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteValues, IntLanes, MAX_PROB, N_PROB_WORDS, QuantizedProbs};
    use crate::cache_line::CacheLine;
    use crate::{InstructionSet, N_LANES};

    /// Compares every instruction set with plain sums, for N queries.
    fn assert_exact_sums<const N: usize>(n_registers: usize, n_blocks: usize) {
        let wave = |i: usize, n: usize| (i * 7_919 + n_registers * 31) % n;
        let lines: Vec<CacheLine> = (0..n_blocks * n_registers * 4)
            .map(|line| {
                CacheLine(std::array::from_fn(|i| {
                    (wave(line * 64 + i, 255) as i8)
                        .wrapping_sub(127)
                        .cast_unsigned()
                }))
            })
            .collect();
        let prob = |query: usize, position: usize| match wave(query * 997 + position, 5) {
            0 => MAX_PROB,
            _ => i32::from(wave(position * 3 + query, 1 << 14) as u16),
        };
        let probs: Vec<Vec<QuantizedProbs>> = (0..N)
            .map(|query| {
                let blocks = (0..n_blocks).map(|block| {
                    QuantizedProbs::new(&std::array::from_fn(|lane| {
                        prob(query, block * N_LANES + lane)
                    }))
                });
                blocks.collect()
            })
            .collect();
        let value = |position: usize, dim: usize| {
            let cell = position / N_LANES * n_registers + dim / N_LANES;
            let line = &lines[cell * 4 + position % N_LANES / 4];
            i32::from(line.0[dim % N_LANES * 4 + position % 4].cast_signed())
        };
        for set in InstructionSet::available() {
            let values: ByteValues<'_, N> = ByteValues {
                lines: &lines,
                n_registers,
                probs: std::array::from_fn(|query| probs[query].as_slice()),
                // The accumulators of another query lie in front of each.
                offsets: std::array::from_fn(|query| (2 * query + 1) * n_registers),
            };
            let mut sums = vec![IntLanes([5; N_LANES]); 2 * N * n_registers];
            set.add_values(&values, &mut sums);
            for (index, sum) in sums.iter().enumerate() {
                let (query, register) = (index / n_registers, index % n_registers);
                for (lane, sum) in sum.0.iter().enumerate() {
                    let products = (0..n_blocks * N_LANES).map(|position| {
                        prob(query / 2, position) * value(position, register * N_LANES + lane)
                    });
                    let added: i32 = if query % 2 == 1 { products.sum() } else { 0 };
                    assert_eq!(*sum, 5 + added, "{set:?} {N} {n_registers} {n_blocks}");
                }
            }
        }
    }

    #[test]
    fn masked_positions_have_probability_zero() {
        let mut all = [0; N_LANES];
        for (number, value) in all.iter_mut().zip((129..).step_by(1000)) {
            *number = value;
        }
        let probs = QuantizedProbs::new(&all);
        for start in 0..=N_LANES {
            for end in start..=N_LANES {
                let probs = probs.within(&(start..end));
                let seen: Vec<i32> = (0..N_PROB_WORDS)
                    .flat_map(|word_index| probs.values(word_index))
                    .collect();
                let mut expected = [0; N_LANES];
                expected[start..end].copy_from_slice(&all[start..end]);
                assert_eq!(seen, expected, "{start}..{end}");
            }
        }
    }

    #[test]
    fn sums_are_exact_with_every_instruction_set() {
        for (n_registers, n_blocks) in [(1, 1), (2, 3), (3, 2), (4, 32), (5, 1), (8, 4)] {
            assert_exact_sums::<1>(n_registers, n_blocks);
            assert_exact_sums::<2>(n_registers, n_blocks);
            assert_exact_sums::<3>(n_registers, n_blocks);
            assert_exact_sums::<4>(n_registers, n_blocks);
            assert_exact_sums::<5>(n_registers, n_blocks);
            assert_exact_sums::<6>(n_registers, n_blocks);
        }
    }
}

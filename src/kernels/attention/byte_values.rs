//! Sums of values that are kept in 8 bits, each times a probability of 14: exact, in whole numbers.

use std::ops::Range;

use super::byte_blocks::N_CELL_LINES;
use crate::kernels::N_LANES;
use crate::kernels::input_block::words;
use crate::kernels::line::Line;

/// The largest whole number that stands for a probability: two digits of seven bits, so that the product of each
/// with a byte, and the sum of two such, fits into 16 bits.
pub const MOST_PROB: i32 = (1 << (2 * N_DIGIT_BITS)) - 1;

/// A digit of a probability.
pub const N_DIGIT_BITS: u32 = 7;

/// Fours of positions in a block.
pub const N_QUADS: usize = N_LANES / 4;

/// One whole number for each of 16 dimensions.
///
/// A segment of 512 positions, bytes below 2⁷ and probabilities below 2¹⁴ give sums below 2³⁰.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Whole(pub [i32; N_LANES]);

impl Whole {
    /// Nothing.
    pub const ZERO: Self = Self([0; N_LANES]);
}

/// The probabilities of the 16 positions of a block as whole numbers of two digits, four positions in a word, the
/// first in its lowest byte.
#[derive(Debug, Clone, Copy)]
pub struct Probs {
    upper: [i32; N_QUADS],
    lower: [i32; N_QUADS],
}

impl Probs {
    /// Of nothing.
    pub const NONE: Self = Self {
        upper: [0; N_QUADS],
        lower: [0; N_QUADS],
    };

    /// Of numbers from 0 to [`MOST_PROB`].
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
            upper: words(&upper),
            lower: words(&lower),
        }
    }

    /// The upper and the lower digits of four positions.
    #[inline(always)]
    pub fn words(&self, quad: usize) -> [i32; 2] {
        match (self.upper.get(quad), self.lower.get(quad)) {
            (Some(upper), Some(lower)) => [*upper, *lower],
            _ => [0; 2],
        }
    }

    /// The numbers of four positions.
    #[inline(always)]
    pub fn quad(&self, quad: usize) -> [i32; 4] {
        let [upper, lower] = self.words(quad).map(i32::to_le_bytes);
        let mut numbers = [0; 4];
        for ((number, upper), lower) in numbers.iter_mut().zip(upper).zip(lower) {
            *number = (i32::from(upper) << N_DIGIT_BITS) + i32::from(lower);
        }
        numbers
    }

    /// Nothing of the positions outside of some.
    pub fn within(&self, lanes: &Range<usize>) -> Self {
        let mut seen = *self;
        let words = seen.upper.iter_mut().zip(&mut seen.lower);
        for (quad, (upper, lower)) in words.enumerate() {
            let n_bits = |lane: usize| 8 * lane.saturating_sub(4 * quad).min(4);
            let mask = (1_u64 << n_bits(lanes.end)) - (1 << n_bits(lanes.start));
            let mask = (mask as u32).cast_signed();
            *upper &= mask;
            *lower &= mask;
        }
        seen
    }
}

/// The lower digit of a number.
const LOWER: i32 = (1 << N_DIGIT_BITS) - 1;

/// The values of some positions, and how much of each N queries take.
#[derive(Debug, Clone, Copy)]
pub struct ByteValues<'a, const N: usize> {
    /// `[block][dim / 16][position / 4]`, lines `[dim][position % 4]` of signed bytes.
    pub lines: &'a [Line],
    /// How many times 16 dimensions there are.
    pub n_registers: usize,
    /// For each query: `[block]`.
    pub probs: [&'a [Probs]; N],
    /// For each query where its sums begin.
    pub places: [usize; N],
}

impl<'a, const N: usize> ByteValues<'a, N> {
    /// P neighbouring registers of each block from this one on, and the probabilities of all queries.
    #[inline]
    pub fn blocks<const P: usize>(
        &self,
        start: usize,
    ) -> impl Iterator<Item = (&'a [[Line; N_CELL_LINES]; P], [&'a Probs; N])> {
        let blocks = self.lines.chunks_exact(N_CELL_LINES * self.n_registers);
        let probs = self.probs;
        blocks.enumerate().filter_map(move |(index, lines)| {
            let cells = lines.as_chunks().0.get(start..)?.first_chunk()?;
            let mut found = [&Probs::NONE; N];
            for (found, probs) in found.iter_mut().zip(probs) {
                *found = probs.get(index)?;
            }
            Some((cells, found))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ByteValues, MOST_PROB, N_QUADS, Probs, Whole};
    use crate::kernels::line::Line;
    use crate::kernels::{InstructionSet, N_LANES};

    /// The values of some blocks, and how much of each N queries take.
    fn assert_exact_sums<const N: usize>(n_registers: usize, n_blocks: usize) {
        let wave = |i: usize, n: usize| (i * 7_919 + n_registers * 31) % n;
        let lines: Vec<Line> = (0..n_blocks * n_registers * 4)
            .map(|line| {
                Line(std::array::from_fn(|i| {
                    (wave(line * 64 + i, 255) as i8)
                        .wrapping_sub(127)
                        .cast_unsigned()
                }))
            })
            .collect();
        let prob = |query: usize, position: usize| match wave(query * 997 + position, 5) {
            0 => MOST_PROB,
            _ => i32::from(wave(position * 3 + query, 1 << 14) as u16),
        };
        let probs: Vec<Vec<Probs>> = (0..N)
            .map(|query| {
                let blocks = (0..n_blocks).map(|block| {
                    Probs::new(&std::array::from_fn(|lane| {
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
                // Another query stands in front of each.
                places: std::array::from_fn(|query| (2 * query + 1) * n_registers),
            };
            let mut sums = vec![Whole([5; N_LANES]); 2 * N * n_registers];
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
    fn of_positions_that_are_not_seen_nothing_is_taken() {
        let mut all = [0; N_LANES];
        for (number, value) in all.iter_mut().zip((129..).step_by(1000)) {
            *number = value;
        }
        let probs = Probs::new(&all);
        for start in 0..=N_LANES {
            for end in start..=N_LANES {
                let probs = probs.within(&(start..end));
                let seen: Vec<i32> = (0..N_QUADS).flat_map(|quad| probs.quad(quad)).collect();
                let mut expected = [0; N_LANES];
                expected[start..end].copy_from_slice(&all[start..end]);
                assert_eq!(seen, expected, "{start}..{end}");
            }
        }
    }

    #[test]
    fn sums_of_values_in_8_bits_are_exact_with_all_instructions() {
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

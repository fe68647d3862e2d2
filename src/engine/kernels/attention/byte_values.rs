//! Sums of values that are kept in 8 bits, each times a probability of 14: exact, in whole numbers.

use std::ops::Range;

use super::byte_blocks::N_CELL_LINES;
use crate::engine::kernels::N_LANES;
use crate::engine::kernels::line::Line;

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
        let (mut upper, mut lower) = ([0_u8; N_LANES], [0_u8; N_LANES]);
        for (upper, number) in upper.iter_mut().zip(numbers) {
            *upper = (number >> N_DIGIT_BITS).cast_unsigned() as u8;
        }
        for (lower, number) in lower.iter_mut().zip(numbers) {
            *lower = (number & LOWER).cast_unsigned() as u8;
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
        let mut numbers = [0; N_LANES];
        let quads = (0..N_QUADS).flat_map(|quad| self.quad(quad));
        let kept = numbers.iter_mut().zip(quads).enumerate();
        for (_, (place, number)) in kept.filter(|(lane, _)| lanes.contains(lane)) {
            *place = number;
        }
        Self::new(&numbers)
    }
}

/// The lower digit of a number.
const LOWER: i32 = (1 << N_DIGIT_BITS) - 1;

#[inline(always)]
fn words(bytes: &[u8; N_LANES]) -> [i32; N_QUADS] {
    let mut words = [0; N_QUADS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = i32::from_le_bytes(*bytes);
    }
    words
}

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

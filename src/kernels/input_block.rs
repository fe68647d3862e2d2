//! Inputs rounded to 8 bits.

#![expect(
    clippy::inline_always,
    reason = "a loop is compiled for the instructions of its caller only where it is part of it"
)]

use super::N_BLOCK;

/// 32 inputs of one row, rounded to 8 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct InputBlock {
    /// The whole numbers, four in a word, the first in its lowest byte.
    pub words: [i32; N_BLOCK / 4],
    /// What a whole number stands for.
    pub scale: f32,
    /// The sum of the numbers times the scale.
    pub scaled_sum: f32,
    /// The sums of the first and the second 16 numbers: 16 bits each, the first in the lower ones.
    pub half_sums: i32,
    /// The sum of the numbers times −128: what is taken from products whose weights have 128 added.
    pub minus_128_sum: i32,
}

/// 1.5 × 2²³. Floats around it are the whole numbers, so adding it rounds, ties to even, and leaves the
/// whole number in the lowest bits.
const ROUNDING: f32 = 12_582_912.0;

impl InputBlock {
    /// Rounds values to whole numbers between −127 and 127. Plain loops, which the compiler makes wide for
    /// the instructions of its caller; each step is exact or rounded once, so all give the same bits.
    #[inline(always)]
    pub fn round(values: &[f32; N_BLOCK]) -> Self {
        let largest = largest(values);
        let scale = largest / 127.0;
        let steps = if scale > 0.0 { 127.0 / largest } else { 0.0 };
        let mut numbers = [0_i32; N_BLOCK];
        for (number, value) in numbers.iter_mut().zip(values) {
            *number = rounded(*value, steps);
        }
        let [low, high] = sums(&numbers);
        let sum = low.wrapping_add(high);
        Self {
            words: words(&numbers),
            scale,
            scaled_sum: scale * sum as f32,
            half_sums: (low & 0xffff) | (high << 16),
            minus_128_sum: sum.wrapping_mul(-128),
        }
    }

    /// Brings the numbers of two rows side by side, eight by eight: those of the first 16 columns into the first
    /// block, the others into the second. What else there is of each stays with it.
    #[inline(always)]
    pub fn entwine(first: &mut Self, second: &mut Self) {
        let mut entwined = [[[0; 2]; 2]; 4];
        let rows = first
            .words
            .as_chunks()
            .0
            .iter()
            .zip(second.words.as_chunks().0);
        for (place, (first, second)) in entwined.iter_mut().zip(rows) {
            *place = [*first, *second];
        }
        if let [low, high] = entwined.as_flattened().as_flattened().as_chunks().0 {
            first.words = *low;
            second.words = *high;
        }
    }

    /// The sums of the first and the second 16 numbers.
    pub const fn half_sums(&self) -> [i32; 2] {
        [self.half_sums << 16 >> 16, self.half_sums >> 16]
    }

    /// Rounds fewer than 32 values: the others are zero.
    pub fn round_some(values: &[f32]) -> Self {
        let mut filled = [0.0; N_BLOCK];
        for (filled, value) in filled.iter_mut().zip(values) {
            *filled = *value;
        }
        Self::round(&filled)
    }
}

/// A value as a whole number of steps, of which one has so many: the nearest, of two the even one. For numbers
/// below 2²².
#[inline(always)]
pub fn rounded(value: f32, steps: f32) -> i32 {
    let rounded = value * steps + ROUNDING;
    rounded
        .to_bits()
        .cast_signed()
        .wrapping_sub(ROUNDING.to_bits().cast_signed())
}

/// The largest magnitude. Magnitudes are in order of their bits, and those of what is no number are above
/// all others, so that it is not lost.
#[inline(always)]
pub fn largest(values: &[f32]) -> f32 {
    let bits = values
        .iter()
        .map(|value| value.abs().to_bits().cast_signed());
    f32::from_bits(bits.fold(0, i32::max).cast_unsigned())
}

#[inline(always)]
fn sums(numbers: &[i32; N_BLOCK]) -> [i32; 2] {
    match numbers.as_chunks().0 {
        [low, high] => [sum(low), sum(high)],
        _ => [0; 2],
    }
}

/// What became of something that is no number may be of any size, so nothing is said of what is too large.
#[inline(always)]
fn sum(numbers: &[i32; N_BLOCK / 2]) -> i32 {
    let eight: [i32; 8] = folded(numbers);
    let four: [i32; 4] = folded(&eight);
    let [first, second] = folded(&four);
    first.wrapping_add(second)
}

/// The sums of the numbers of both halves at the same place: a step that registers can do. In one sum of all the
/// compiler finds none.
#[inline(always)]
fn folded<const N: usize, const H: usize>(numbers: &[i32; N]) -> [i32; H] {
    let mut sums = [0; H];
    if let [first, second] = numbers.as_chunks::<H>().0 {
        for ((sum, first), second) in sums.iter_mut().zip(first).zip(second) {
            *sum = first.wrapping_add(*second);
        }
    }
    sums
}

/// The lowest bytes of numbers, four in a word, the first in its lowest byte.
#[inline(always)]
pub fn words<const N: usize, const W: usize>(numbers: &[i32; N]) -> [i32; W] {
    const { assert!(N == 4 * W, "a word has four bytes") }
    let mut bytes = [0_u8; N];
    for (byte, number) in bytes.iter_mut().zip(numbers) {
        *byte = (*number as i8).cast_unsigned();
    }
    let mut words = [0; W];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = i32::from_le_bytes(*bytes);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::InputBlock;

    #[test]
    fn two_rows_stand_side_by_side_eight_columns_at_a_time() {
        let row = |first: i8| {
            let values: [f32; 32] = std::array::from_fn(|i| f32::from(first + i as i8));
            InputBlock::round(&values)
        };
        // The largest of both is 127, so that each value is its own whole number.
        let (mut first, mut second) = (row(96), row(-127));
        let (before, other) = (first, second);
        InputBlock::entwine(&mut first, &mut second);
        let bytes = |block: &InputBlock| block.words.map(i32::to_le_bytes).concat();
        let (all, others) = (bytes(&before), bytes(&other));
        let expected = [
            &all[..8],
            &others[..8],
            &all[8..16],
            &others[8..16],
            &all[16..24],
            &others[16..24],
            &all[24..],
            &others[24..],
        ];
        assert_eq!([bytes(&first), bytes(&second)].concat(), expected.concat());
        assert_eq!(first.half_sums(), before.half_sums());
        assert_eq!(second.half_sums(), other.half_sums());
    }
}

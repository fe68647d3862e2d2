//! Inputs quantized to bytes.

#![expect(
    clippy::inline_always,
    reason = "a loop is compiled for the instructions of its caller only if it is inlined there"
)]

use super::N_BLOCK;

/// 32 inputs of one row, quantized to 8 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct InputBlock {
    /// The quants, four in a word, the first in its lowest byte.
    pub words: [i32; N_BLOCK / 4],
    /// The value of one quantization step.
    pub scale: f32,
    /// The sum of the quants, multiplied by the scale.
    pub scaled_sum: f32,
    /// The sums of the first and the second 16 quants: 16 bits each, the first in the lower half.
    pub half_sums: i32,
    /// The sum of the quants times −128, which corrects dot products with weights that are offset
    /// by 128.
    pub minus_128_sum: i32,
}

/// Appends zeros to fewer than 32 values.
pub(super) fn padded(values: &[f32]) -> [f32; N_BLOCK] {
    let mut padded = [0.0; N_BLOCK];
    for (padded, value) in padded.iter_mut().zip(values) {
        *padded = *value;
    }
    padded
}

/// The largest quant of 8 bits. −128 is not used, because its products do not fit where those of
/// −127 do.
const MAX_BYTE: i32 = 127;

/// The base of the two digits, each between −127 and 127, of a 16-bit input.
pub(super) const DIGIT_BASE: i32 = 2 * MAX_BYTE + 1;

/// The largest quant of 16 bits: both of its digits are 127.
const MAX_16: i32 = (DIGIT_BASE + 1) * MAX_BYTE;

/// 1.5 × 2²³. Nearby floats are exactly the integers, so adding it rounds (ties to even) and leaves
/// the integer in the lowest bits.
const ROUNDING: f32 = 12_582_912.0;

impl InputBlock {
    /// Quantizes values to integers between −127 and 127.
    #[inline(always)]
    pub fn quantize(values: &[f32; N_BLOCK]) -> Self {
        let (quants, scale) = quantize_to(MAX_BYTE, values);
        Self::new(&quants, scale)
    }

    /// Packs quants, of which it keeps the lowest bytes.
    #[inline(always)]
    fn new(quants: &[i32; N_BLOCK], scale: f32) -> Self {
        let [low, high] = sums(quants);
        let sum = low.wrapping_add(high);
        Self {
            words: pack_words(quants),
            scale,
            scaled_sum: scale * sum as f32,
            half_sums: (low & 0xffff) | (high << 16),
            minus_128_sum: sum.wrapping_mul(-128),
        }
    }

    /// Interleaves the quants of two rows, eight by eight: those of the first 16 columns go into
    /// the first block, the others into the second. Scales and sums stay in place.
    #[inline(always)]
    pub fn interleave(first: &mut Self, second: &mut Self) {
        let mut interleaved = [[[0; 2]; 2]; 4];
        let rows = first
            .words
            .as_chunks()
            .0
            .iter()
            .zip(second.words.as_chunks().0);
        for (target, (first, second)) in interleaved.iter_mut().zip(rows) {
            *target = [*first, *second];
        }
        if let [low, high] = interleaved.as_flattened().as_flattened().as_chunks().0 {
            first.words = *low;
            second.words = *high;
        }
    }

    /// The sums of the first and the second 16 quants.
    pub const fn half_sums(&self) -> [i32; 2] {
        [self.half_sums << 16 >> 16, self.half_sums >> 16]
    }

    /// Quantizes values to the sum of several planes. The two planes of a 16-bit input are the
    /// digits of [`quantize_16`]. Otherwise each plane rounds what those before it left over, with a
    /// scale as fine as that allows.
    #[inline(always)]
    pub fn quantize_planes(values: &[f32; N_BLOCK], planes: &mut [Self]) {
        if let [high, low] = planes {
            [*high, *low] = Self::digits(values);
            return;
        }
        let Some((last, others)) = planes.split_last_mut() else {
            return;
        };
        let mut rest = *values;
        for plane in others {
            *plane = Self::quantize(&rest);
            plane.subtract_from(&mut rest);
        }
        *last = Self::quantize(&rest);
    }

    /// Splits 16-bit quants into two digits of base [`DIGIT_BASE`], between −127 and 127, the high
    /// ones first.
    #[inline(always)]
    fn digits(values: &[f32; N_BLOCK]) -> [Self; 2] {
        let (quants, scale) = quantize_16(values);
        let (mut high, mut low) = (quants, quants);
        for (high, low) in high.iter_mut().zip(&mut low) {
            // No quant is halfway between two multiples of an odd number, and this is precise enough
            // to find the nearer one.
            *high = quantize_value(*high as f32, 1.0 / DIGIT_BASE as f32);
            *low = low.wrapping_sub(high.wrapping_mul(DIGIT_BASE));
        }
        [
            Self::new(&high, scale * DIGIT_BASE as f32),
            Self::new(&low, scale),
        ]
    }

    /// Subtracts the rounded values.
    #[inline(always)]
    fn subtract_from(&self, values: &mut [f32; N_BLOCK]) {
        let words = values.as_chunks_mut::<4>().0.iter_mut().zip(&self.words);
        for (values, word) in words {
            for (value, quant) in values.iter_mut().zip(word.to_le_bytes()) {
                *value -= self.scale * f32::from(quant.cast_signed());
            }
        }
    }
}

/// Quantizes values to integers between ±[`MAX_16`], and returns them with their scale.
#[inline(always)]
pub(super) fn quantize_16(values: &[f32; N_BLOCK]) -> ([i32; N_BLOCK], f32) {
    quantize_to(MAX_16, values)
}

/// Quantizes values to integers between ±`max`, and returns them with their scale. The plain loops
/// are vectorized for the instructions of the caller. Each step is exact or rounded once, so all
/// instruction sets produce the same bits.
#[inline(always)]
fn quantize_to(max: i32, values: &[f32; N_BLOCK]) -> ([i32; N_BLOCK], f32) {
    let (max, largest) = (max as f32, max_abs(values));
    let scale = largest / max;
    let inverse_scale = if scale > 0.0 { max / largest } else { 0.0 };
    let mut quants = [0_i32; N_BLOCK];
    for (quant, value) in quants.iter_mut().zip(values) {
        *quant = quantize_value(*value, inverse_scale);
    }
    (quants, scale)
}

/// Returns `value × inverse_scale`, rounded to the nearest integer, ties to even. The product must
/// be below 2²².
#[inline(always)]
pub(super) fn quantize_value(value: f32, inverse_scale: f32) -> i32 {
    let rounded = value * inverse_scale + ROUNDING;
    rounded
        .to_bits()
        .cast_signed()
        .wrapping_sub(ROUNDING.to_bits().cast_signed())
}

/// The largest magnitude. Magnitudes compare like their bits, and NaN is above all others, so that
/// it is not lost.
#[inline(always)]
pub(super) fn max_abs(values: &[f32]) -> f32 {
    let bits = values
        .iter()
        .map(|value| value.abs().to_bits().cast_signed());
    f32::from_bits(bits.fold(0, i32::max).cast_unsigned())
}

#[inline(always)]
fn sums(quants: &[i32; N_BLOCK]) -> [i32; 2] {
    match quants.as_chunks().0 {
        [low, high] => [sum(low), sum(high)],
        _ => [0; 2],
    }
}

/// Wrapping, because NaN inputs can produce quants of any size.
#[inline(always)]
fn sum(quants: &[i32; N_BLOCK / 2]) -> i32 {
    let eight: [i32; 8] = fold_halves(quants);
    let four: [i32; 4] = fold_halves(&eight);
    let [first, second] = fold_halves(&four);
    first.wrapping_add(second)
}

/// Adds the upper half to the lower half, which vectorizes. The compiler does not vectorize a
/// single sum over everything.
#[inline(always)]
fn fold_halves<const N: usize, const H: usize>(quants: &[i32; N]) -> [i32; H] {
    let mut sums = [0; H];
    if let [first, second] = quants.as_chunks::<H>().0 {
        for ((sum, first), second) in sums.iter_mut().zip(first).zip(second) {
            *sum = first.wrapping_add(*second);
        }
    }
    sums
}

/// The lowest bytes of integers, four in a word, the first in its lowest byte.
#[inline(always)]
pub(super) fn pack_words<const N: usize, const W: usize>(quants: &[i32; N]) -> [i32; W] {
    const { assert!(N == 4 * W, "a word has four bytes") }
    let mut bytes = [0_u8; N];
    for (byte, quant) in bytes.iter_mut().zip(quants) {
        *byte = (*quant as i8).cast_unsigned();
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
    fn each_plane_holds_what_those_before_it_left_over() {
        let values: [f32; 32] = std::array::from_fn(|i| match i {
            5 => 1000.0,
            _ => (i as f32 * 0.7).sin(),
        });
        let mut planes = [InputBlock::default(); 3];
        InputBlock::quantize_planes(&values, &mut planes);
        let rounded = |plane: &InputBlock, i: usize| {
            let quant = plane.words[i / 4].to_le_bytes()[i % 4].cast_signed();
            plane.scale * f32::from(quant)
        };
        for (i, value) in values.into_iter().enumerate() {
            let [first, second, third] = planes.each_ref().map(|plane| rounded(plane, i));
            let left = value - first;
            assert!(left.abs() <= 1000.0 / 253.9, "{value}");
            let left = left - second;
            assert!(left.abs() <= 1000.0 / 64_000.0, "{value}");
            let left = left - third;
            assert!(left.abs() <= 1000.0 / 15_000_000.0, "{value}");
        }
    }

    #[test]
    fn interleaving_alternates_eight_columns_of_each_row() {
        let row = |first: i8| {
            let values: [f32; 32] = std::array::from_fn(|i| f32::from(first + i as i8));
            InputBlock::quantize(&values)
        };
        // The largest magnitude of both rows is 127, so each value is its own quant.
        let (mut first, mut second) = (row(96), row(-127));
        let (before, other) = (first, second);
        InputBlock::interleave(&mut first, &mut second);
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

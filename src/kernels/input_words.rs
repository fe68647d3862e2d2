//! Inputs quantized to 16 bits.

#![expect(
    clippy::inline_always,
    reason = "a loop is compiled for the instructions of its caller only if it is inlined there"
)]

use super::N_BLOCK;
use super::input_block::quantize_16;

/// 32 inputs of one row, quantized to 16 bits, for instructions that multiply 16-bit numbers faster
/// than their two digits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct InputWords {
    /// The first and the third of every four quants, the first in the lower half of a word.
    pub even: [i32; N_BLOCK / 4],
    /// The second and the fourth of every four quants.
    pub odd: [i32; N_BLOCK / 4],
    /// The value of one quantization step.
    pub scale: f32,
}

impl InputWords {
    /// Quantizes values.
    #[inline(always)]
    pub fn quantize(values: &[f32; N_BLOCK]) -> Self {
        let (quants, scale) = quantize_16(values);
        let (mut even, mut odd) = ([0; N_BLOCK / 4], [0; N_BLOCK / 4]);
        let columns = quants.as_chunks().0.iter();
        for ((even, odd), [a, b, c, d]) in even.iter_mut().zip(&mut odd).zip(columns) {
            *even = (a & 0xffff) | (c << 16);
            *odd = (b & 0xffff) | (d << 16);
        }
        Self { even, odd, scale }
    }
}

#[cfg(test)]
mod tests {
    use super::InputWords;
    use crate::input_block::{DIGIT_BASE, InputBlock};

    #[test]
    fn words_are_the_sums_of_their_digits() {
        for largest in [1.0, 1000.0, -3.0] {
            let values: [f32; 32] = std::array::from_fn(|i| match i {
                5 => largest,
                _ => (i as f32 * 0.7).sin(),
            });
            let words = InputWords::quantize(&values);
            let mut digits = [InputBlock::default(); 2];
            InputBlock::quantize_planes(&values, &mut digits);
            let [high, low] = digits;
            assert_eq!(low.scale.to_bits(), words.scale.to_bits());
            for (i, value) in values.into_iter().enumerate() {
                let digit =
                    |block: &InputBlock| block.words[i / 4].to_le_bytes()[i % 4].cast_signed();
                let pair = [words.even, words.odd][i % 2][i / 4];
                let word = if i % 4 < 2 {
                    pair << 16 >> 16
                } else {
                    pair >> 16
                };
                let [high, low] = [digit(&high), digit(&low)].map(i32::from);
                assert_eq!(word, high * DIGIT_BASE + low);
                assert!(high.abs() <= 127 && low.abs() <= 127);
                assert!((word as f32 * words.scale - value).abs() <= largest.abs() / 65_000.0);
            }
        }
    }
}

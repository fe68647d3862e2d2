//! Quantized inputs, two in each 32-bit number.

use crate::N_BLOCK;
use crate::input_block::InputBlock;

/// 32 inputs of one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct WideBlock {
    /// For every four columns, the first and the third input, then the second and the fourth:
    /// `(first << 16) + third`.
    pub pairs: [[i32; 2]; N_BLOCK / 4],
    /// The sums of the first and the second 16 inputs.
    pub half_sums: [i32; 2],
    /// The value of one quantization step.
    pub scale: f32,
    /// The sum of the inputs, multiplied by the scale.
    pub scaled_sum: f32,
}

impl WideBlock {
    /// Widens a block of quantized inputs.
    #[inline(always)]
    pub(super) fn new(block: &InputBlock) -> Self {
        let sums = block.half_sums;
        Self {
            pairs: block.words.map(|word| {
                let [a, b, c, d] = word.to_le_bytes().map(|byte| i32::from(byte.cast_signed()));
                [(a << 16) + c, (b << 16) + d]
            }),
            half_sums: [i32::from(sums as i16), sums >> 16],
            scale: block.scale,
            scaled_sum: block.scaled_sum,
        }
    }
}

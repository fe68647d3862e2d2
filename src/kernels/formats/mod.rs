//! The formats of weights, one file each: how a block of a file is packed into a tile, and how it is read
//! back. The kernels of an instruction set read the same tiles.

pub mod floats;
pub mod q2_k;
pub mod q3_k;
pub mod q4_0;
pub mod q4_1;
pub mod q4_k;
pub mod q5_0;
pub mod q5_1;
pub mod q5_k;
pub mod q6_k;
pub mod q8_0;
pub mod sub_scales;

use super::N_BLOCK;

/// One row's weights in 32 neighbouring columns: `scales[half] × values[column] − mins[half]`, where `half` is
/// `column / 16`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockView {
    /// The whole numbers, or for formats of floating-point numbers the weights themselves.
    pub values: [f32; N_BLOCK],
    /// The scales of both halves.
    pub scales: [f32; 2],
    /// What is taken away from each weight of both halves.
    pub mins: [f32; 2],
}

impl BlockView {
    /// Weights that are all zero.
    pub const ZERO: Self = Self {
        values: [0.0; N_BLOCK],
        scales: [0.0; 2],
        mins: [0.0; 2],
    };

    /// The weights.
    pub fn weights(&self) -> impl Iterator<Item = f32> {
        let halves = self.values.as_chunks::<{ N_BLOCK / 2 }>().0.iter();
        let halves = halves.zip(self.scales).zip(self.mins);
        halves.flat_map(|((values, scale), min)| values.map(|value| scale * value - min))
    }
}

/// Bytes four at a time, the first the lowest.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word))
}

//! The formats of weights, one file each: how to pack a block of a file into a tile, and how to
//! unpack it again. The micro-kernels of every instruction set read the same tiles.

pub(super) mod floats;
pub(super) mod q2_k;
pub(super) mod q3_k;
pub(super) mod q4_0;
pub(super) mod q4_1;
pub(super) mod q4_k;
pub(super) mod q5_0;
pub(super) mod q5_1;
pub(super) mod q5_k;
pub(super) mod q6_k;
pub(super) mod q8_0;
pub(super) mod sub_scales;

use super::N_BLOCK;

/// One row's weights in 32 adjacent columns: `scales[half] × values[column] − mins[half]`, with
/// `half = column / 16`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnpackedBlock {
    /// The quants, or the weights themselves if the format is a float format.
    pub values: [f32; N_BLOCK],
    /// The scales of both halves.
    pub scales: [f32; 2],
    /// The minima of both halves, to be subtracted from each weight.
    pub mins: [f32; 2],
}

impl UnpackedBlock {
    pub const ZERO: Self = Self {
        values: [0.0; N_BLOCK],
        scales: [0.0; 2],
        mins: [0.0; 2],
    };

    /// Computes the weights.
    pub fn weights(&self) -> impl Iterator<Item = f32> {
        let halves = self.values.as_chunks::<{ N_BLOCK / 2 }>().0.iter();
        let halves = halves.zip(self.scales).zip(self.mins);
        halves.flat_map(|((values, scale), min)| values.map(|value| scale * value - min))
    }
}

/// Reads little-endian words.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_le_bytes(*word))
}

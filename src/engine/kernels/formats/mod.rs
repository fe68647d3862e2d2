//! The formats of weights, one file each: how a block of a file is packed into a tile, and how it is read
//! back. The kernels of an instruction set read the same tiles.

pub mod q8_0;

use super::N_BLOCK;

/// One row's weights in 32 neighbouring columns: `scales[column / 16] × values[column] − min`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockView {
    /// The whole numbers, or for formats of floating-point numbers the weights themselves.
    pub values: [f32; N_BLOCK],
    /// The scales of both halves.
    pub scales: [f32; 2],
    /// What is taken away from each.
    pub min: f32,
}

impl BlockView {
    /// The weights.
    pub fn weights(&self) -> impl Iterator<Item = f32> {
        let [low, high] = self.scales;
        self.values.iter().enumerate().map(move |(column, value)| {
            let scale = if column < N_BLOCK / 2 { low } else { high };
            scale * value - self.min
        })
    }
}

//! Keys and values quantized to 8 bits.

use std::ops::Range;

use super::keys_values::{CacheAddress, n_value_registers};
use super::{Heads, Lanes};
use crate::cache_line::CacheLine;
use crate::formats::q8_0;
use crate::input_block::{InputBlock, max_abs, padded, quantize_value};
use crate::matrix::Tiles;
use crate::{Format, N_BLOCK, N_LANES};

/// Cache lines of a cell: 16 dimensions of 16 positions.
pub(super) const N_CELL_LINES: usize = N_LANES * N_LANES / CacheLine::N_BYTES;

/// The largest quantized value.
const MAX_QUANT: f32 = 127.0;

/// The blocks of one head.
#[derive(Debug, Clone, Default)]
pub(super) struct ByteBlocks {
    /// A `Q8_0` matrix whose rows are positions: one tile per block.
    keys: Vec<CacheLine>,
    /// `[block][dim / 16][position / 4]`, each cache line `[dim][position % 4]` of signed bytes.
    values: Vec<CacheLine>,
    /// The scale of each position's values: `[block][lane]`.
    scales: Vec<Lanes>,
}

impl ByteBlocks {
    /// Memory per position of one head, in bytes.
    pub(super) const fn n_position_bytes(head_dim: usize) -> usize {
        let n_value_lines = N_CELL_LINES * n_value_registers(head_dim);
        let n_lines = n_key_lines(head_dim) + n_value_lines;
        (n_lines * CacheLine::N_BYTES + size_of::<Lanes>()) / N_LANES
    }

    /// Memory in use, in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        size_of_val(self.keys.as_slice())
            + size_of_val(self.values.as_slice())
            + size_of_val(self.scales.as_slice())
    }

    /// Quantizes the keys and values of one position and stores them.
    pub(super) fn write(&mut self, address: CacheAddress, keys: &[f32], values: &[f32]) {
        self.write_keys(address, keys);
        self.write_values(address, values);
    }

    fn write_keys(&mut self, address: CacheAddress, keys: &[f32]) {
        let n_lines = n_key_lines(address.head_dim);
        grow(
            &mut self.keys,
            (address.block + 1) * n_lines,
            CacheLine::ZERO,
        );
        let tile = self
            .keys
            .get_mut(address.block * n_lines..)
            .unwrap_or_default();
        for (block, keys) in keys.chunks(N_BLOCK).enumerate() {
            let rounded = InputBlock::quantize(&padded(keys));
            q8_0::write(tile, block, address.lane, &rounded);
        }
    }

    fn write_values(&mut self, address: CacheAddress, values: &[f32]) {
        let n_lines = N_CELL_LINES * n_value_registers(address.head_dim);
        grow(
            &mut self.values,
            (address.block + 1) * n_lines,
            CacheLine::ZERO,
        );
        grow(&mut self.scales, address.block + 1, Lanes::all(0.0));
        let largest = max_abs(values);
        let inverse_scale = if largest > 0.0 {
            MAX_QUANT / largest
        } else {
            0.0
        };
        let cells = self
            .values
            .get_mut(address.block * n_lines..)
            .unwrap_or_default();
        let lines = cells
            .iter_mut()
            .skip(address.lane / 4)
            .step_by(N_CELL_LINES);
        for (line, values) in lines.zip(values.chunks(N_LANES)) {
            for (dim, value) in values.iter().enumerate() {
                line.set(
                    4 * dim + address.lane % 4,
                    [quantize_value(*value, inverse_scale).cast_unsigned() as u8],
                );
            }
        }
        let scales = self.scales.get_mut(address.block);
        if let Some(scale) = scales.and_then(|scales| scales.0.get_mut(address.lane)) {
            *scale = largest / MAX_QUANT;
        }
    }

    /// The keys of adjacent blocks as matrix tiles, one row per position.
    pub(super) fn keys(&self, blocks: &Range<usize>, heads: Heads) -> Tiles<'_> {
        let n_lines = n_key_lines(heads.head_dim);
        let lines = self.keys.get(blocks.start * n_lines..blocks.end * n_lines);
        Tiles {
            format: Format::Q8_0,
            width: heads.head_dim,
            lines: lines.unwrap_or_default(),
        }
    }

    /// The values of adjacent blocks: `[block][dim / 16][position / 4]`.
    pub(super) fn values(&self, blocks: &Range<usize>, heads: Heads) -> &[CacheLine] {
        let n_lines = N_CELL_LINES * n_value_registers(heads.head_dim);
        let lines = blocks.start * n_lines..blocks.end * n_lines;
        self.values.get(lines).unwrap_or_default()
    }

    /// The scales of the values in adjacent blocks: `[block][lane]`.
    pub(super) fn scales(&self, blocks: &Range<usize>) -> &[Lanes] {
        self.scales.get(blocks.clone()).unwrap_or_default()
    }
}

const fn n_key_lines(head_dim: usize) -> usize {
    q8_0::LAYOUT.n_tile_lines(head_dim)
}

fn grow<T: Clone>(stored: &mut Vec<T>, n_min: usize, empty: T) {
    if stored.len() < n_min {
        stored.resize(n_min, empty);
    }
}

//! `Q8_0`: 32 signed bytes and one 16-bit scale.
//!
//! A step of a tile is two blocks: a cache line of scales, `[block][lane]`, and for each block
//! eight cache lines of bytes, `[column / 4][lane][column % 4]`, offset by 128 because the fastest
//! dot products take one unsigned operand.

use half::f16;

use super::UnpackedBlock;
use crate::cache_line::CacheLine;
use crate::format::Layout;
use crate::input_block::InputBlock;
use crate::{N_BLOCK, N_LANES};

/// Cache lines per block, without its scales.
pub(crate) const N_BLOCK_LINES: usize = N_BLOCK * N_LANES / CacheLine::N_BYTES;

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = 1 + 2 * N_BLOCK_LINES;

/// The offset that makes quants unsigned.
pub(crate) const OFFSET: i16 = 128;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 2 + N_BLOCK,
    n_step_values: 2 * N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    if let Some((scale, values)) = bytes.split_first_chunk() {
        let values = values.as_chunks().0.iter().copied();
        put(tile, block, lane, *scale, values);
    }
}

/// Packs a block that was quantized here rather than read from a file.
pub(crate) fn write(tile: &mut [CacheLine], block: usize, lane: usize, rounded: &InputBlock) {
    let scale = f16::from_f32(rounded.scale).to_le_bytes();
    let values = rounded.words.iter().map(|word| word.to_le_bytes());
    put(tile, block, lane, scale, values);
}

fn put(
    tile: &mut [CacheLine],
    block: usize,
    lane: usize,
    scale: [u8; 2],
    values: impl Iterator<Item = [u8; 4]>,
) {
    let step: Option<&mut [CacheLine; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block / 2);
    if let Some([scales, lines @ ..]) = step {
        scales.set::<2>(block % 2 * N_LANES + lane, scale);
        let lines = lines.iter_mut().skip(block % 2 * N_BLOCK_LINES);
        for (line, values) in lines.zip(values) {
            line.set(lane, values.map(|value| value.wrapping_add(OFFSET as u8)));
        }
    }
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let step: Option<&[CacheLine; N_STEP_LINES]> = tile.as_chunks().0.get(block / 2);
    if let Some([scales, lines @ ..]) = step {
        let scale = f16::from_le_bytes(scales.value(block % 2 * N_LANES + lane));
        unpacked.scales = [scale.to_f32(); 2];
        let lines = lines.iter().skip(block % 2 * N_BLOCK_LINES);
        for (values, line) in unpacked.values.as_chunks_mut::<4>().0.iter_mut().zip(lines) {
            *values = line
                .value(lane)
                .map(|byte| f32::from(i16::from(byte) - OFFSET));
        }
    }
    unpacked
}

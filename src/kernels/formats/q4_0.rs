//! `Q4_0`: 32 4-bit quants minus 8, and one 16-bit scale.
//!
//! A step of a tile is two blocks: a cache line of scales, `[block][lane]`, and for each block four
//! cache lines of `[column / 8][lane][column % 4]`, with the first four of eight columns in the low
//! nibbles.

use half::f16;

use super::q4_k::{N_BLOCK_LINES, unpack_nibbles};
use super::sub_scales::LOW_NIBBLES;
use super::{UnpackedBlock, words};
use crate::cache_line::CacheLine;
use crate::format::Layout;
use crate::{N_BLOCK, N_LANES};

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = 1 + 2 * N_BLOCK_LINES;

/// The offset that makes quants unsigned.
pub(crate) const OFFSET: i16 = 8;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 2 + N_BLOCK / 2,
    n_step_values: 2 * N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [CacheLine; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block / 2);
    if let (Some([scales, lines @ ..]), Some((scale, values))) = (step, bytes.split_first_chunk()) {
        scales.set::<2>(block % 2 * N_LANES + lane, *scale);
        if let Some(lines) = lines.as_chunks_mut().0.get_mut(block % 2) {
            pack_nibbles(lines, lane, values);
        }
    }
}

/// Packs 32 4-bit quants. The file has column `i` and column `16 + i` in one byte.
pub(crate) fn pack_nibbles(lines: &mut [CacheLine; N_BLOCK_LINES], lane: usize, values: &[u8]) {
    let first = words(values).map(|word| word & LOW_NIBBLES);
    let second = words(values).map(|word| word >> 4 & LOW_NIBBLES);
    let words: Vec<u32> = first.chain(second).collect();
    for (line, [low, high]) in lines.iter_mut().zip(words.as_chunks().0) {
        line.set(lane, (low | high << 4).to_le_bytes());
    }
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let step: Option<&[CacheLine; N_STEP_LINES]> = tile.as_chunks().0.get(block / 2);
    if let Some([scales, lines @ ..]) = step {
        let scale = f16::from_le_bytes(scales.value(block % 2 * N_LANES + lane));
        unpacked.scales = [scale.to_f32(); 2];
        let values = unpack_nibbles(lines, block % 2, lane);
        unpacked.values = values.map(|value| f32::from(i16::from(value) - OFFSET));
    }
    unpacked
}

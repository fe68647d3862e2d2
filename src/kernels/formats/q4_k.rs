//! `Q4_K`: 256 4-bit quants, with a scale and a minimum for every 32.
//!
//! A step of a tile is one block: the headers of its rows, and for every 32 columns four cache
//! lines of `[column / 8][lane][column % 4]`, with the first four of eight columns in the low
//! nibbles.

use super::sub_scales::{self, LOW_NIBBLES};
use super::{UnpackedBlock, words};
use crate::cache_line::CacheLine;
use crate::format::Layout;
use crate::{N_BLOCK, N_LANES};

/// Columns per block of the file.
pub(crate) const N_VALUES: usize = 256;

/// Cache lines per 32 columns.
pub(crate) const N_BLOCK_LINES: usize = N_BLOCK * N_LANES / 2 / CacheLine::N_BYTES;

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = sub_scales::N_LINES + N_VALUES / N_BLOCK * N_BLOCK_LINES;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_VALUES,
    n_file_bytes: sub_scales::N_FILE_BYTES + N_VALUES / 2,
    n_step_values: N_VALUES,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let step = tile.as_chunks_mut::<N_STEP_LINES>().0.get_mut(block);
    let Some((step, (header, values))) = step.zip(bytes.split_first_chunk()) else {
        return;
    };
    if let Some((headers, lines)) = step.split_first_chunk_mut() {
        sub_scales::pack(headers, lane, header);
        let pairs = lines.as_chunks_mut().0.as_chunks_mut().0.iter_mut();
        for ([low, high], values) in pairs.zip(values.as_chunks().0) {
            pack_nibbles([low, high], lane, values);
        }
    }
}

/// Packs the 4-bit quants of two blocks. The file has both in the same bytes, the first in the low
/// nibbles.
pub(crate) fn pack_nibbles(
    blocks: [&mut [CacheLine; N_BLOCK_LINES]; 2],
    lane: usize,
    values: &[u8; N_BLOCK],
) {
    let [low_block, high_block] = blocks;
    let words: Vec<u32> = words(values).collect();
    let lines = low_block.iter_mut().zip(high_block);
    for ((low_line, high_line), words) in lines.zip(words.as_chunks().0) {
        let [first, second] = *words;
        let low = first & LOW_NIBBLES | (second & LOW_NIBBLES) << 4;
        let high = first >> 4 & LOW_NIBBLES | second & !LOW_NIBBLES;
        low_line.set(lane, low.to_le_bytes());
        high_line.set(lane, high.to_le_bytes());
    }
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let n_blocks = N_VALUES / N_BLOCK;
    let step = tile.as_chunks::<N_STEP_LINES>().0.get(block / n_blocks);
    if let Some((headers, lines)) = step.and_then(|step| step.split_first_chunk()) {
        let (scale, min) = sub_scales::unpack(headers, block % n_blocks, lane);
        unpacked.scales = [scale; 2];
        unpacked.mins = [min; 2];
        unpacked.values = unpack_nibbles(lines, block % n_blocks, lane).map(f32::from);
    }
    unpacked
}

/// Unpacks the 4-bit quants of 32 columns.
pub(crate) fn unpack_nibbles(lines: &[CacheLine], block: usize, lane: usize) -> [u8; N_BLOCK] {
    let mut values = [0; N_BLOCK];
    let lines = lines.as_chunks::<N_BLOCK_LINES>().0.get(block);
    let words = lines.into_iter().flatten().flat_map(|line| {
        let word = u32::from_le_bytes(line.value(lane));
        [word & LOW_NIBBLES, word >> 4 & LOW_NIBBLES]
    });
    for (target, word) in values.as_chunks_mut().0.iter_mut().zip(words) {
        *target = word.to_le_bytes();
    }
    values
}

//! `Q5_K`: 256 5-bit quants, with a scale and a minimum for every 32.
//!
//! A step of a tile is one block: the headers of its rows, and for every 32 columns a cache line of
//! fifth bits and the lower four bits as in `Q4_K`. A cache line of fifth bits has a byte for
//! `[lane][column % 4]`, with bit `column / 4`.

use super::q4_k::{self, N_VALUES, pack_nibbles};
use super::q5_0::unpack_five_bits;
use super::{UnpackedBlock, sub_scales, words};
use crate::N_BLOCK;
use crate::cache_line::CacheLine;
use crate::format::Layout;

/// Blocks of 32 columns per step.
const N_BLOCKS: usize = N_VALUES / N_BLOCK;

/// Cache lines per 32 columns: one of fifth bits, then the lower four bits.
pub(crate) const N_BLOCK_LINES: usize = 1 + q4_k::N_BLOCK_LINES;

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = sub_scales::N_LINES + N_BLOCKS * N_BLOCK_LINES;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_VALUES,
    n_file_bytes: sub_scales::N_FILE_BYTES + N_VALUES / 8 + N_VALUES / 2,
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
    let lines = step.split_first_chunk_mut();
    let values = values.split_first_chunk::<N_BLOCK>();
    if let Some(((headers, lines), (fifth_bits, lower))) = lines.zip(values) {
        sub_scales::pack(headers, lane, header);
        let blocks = lines.as_chunks_mut::<N_BLOCK_LINES>().0;
        for (block, [line, ..]) in blocks.iter_mut().enumerate() {
            line.set(lane, gather_fifth_bits(fifth_bits, block).to_le_bytes());
        }
        let pairs = blocks.as_chunks_mut().0.iter_mut();
        for ([[_, low @ ..], [_, high @ ..]], values) in pairs.zip(lower.as_chunks().0) {
            pack_nibbles([low, high], lane, values);
        }
    }
}

/// Gathers the fifth bits of 32 columns. The file has them in byte `column % 32`, bit `column /
/// 32`.
fn gather_fifth_bits(fifth_bits: &[u8; N_BLOCK], block: usize) -> u32 {
    let bits = words(fifth_bits).map(|word| word >> block & 0x0101_0101);
    bits.enumerate().map(|(index, bits)| bits << index).sum()
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let step = tile.as_chunks::<N_STEP_LINES>().0.get(block / N_BLOCKS);
    if let Some((headers, lines)) = step.and_then(|step| step.split_first_chunk()) {
        let block = block % N_BLOCKS;
        let (scale, min) = sub_scales::unpack(headers, block, lane);
        unpacked.scales = [scale; 2];
        unpacked.mins = [min; 2];
        if let Some(lines) = lines.as_chunks().0.get(block) {
            unpacked.values = unpack_five_bits(lines, lane).map(f32::from);
        }
    }
    unpacked
}

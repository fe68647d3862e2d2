//! `Q5_0`: 32 5-bit quants minus 16, and one 16-bit scale.
//!
//! A step of a tile is two blocks: a cache line of scales, `[block][lane]`, and for each block a
//! cache line of fifth bits and four of low nibbles, both as in `Q5_K`.

use half::f16;

use super::UnpackedBlock;
use super::q4_0::pack_nibbles;
use super::q4_k::{self, unpack_nibbles};
use crate::cache_line::CacheLine;
use crate::format::Layout;
use crate::{N_BLOCK, N_LANES};

/// Cache lines per block: one of fifth bits, then the lower four bits.
pub(crate) const N_BLOCK_LINES: usize = 1 + q4_k::N_BLOCK_LINES;

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = 1 + 2 * N_BLOCK_LINES;

/// The offset that makes quants unsigned.
pub(crate) const OFFSET: i16 = 16;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 2 + N_BLOCK / 8 + N_BLOCK / 2,
    n_step_values: 2 * N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [CacheLine; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block / 2);
    let parts = bytes.split_first_chunk::<2>();
    let parts = parts.and_then(|(scale, rest)| Some((scale, rest.split_first_chunk::<4>()?)));
    if let (Some([scales, lines @ ..]), Some((scale, (fifth_bits, lower)))) = (step, parts) {
        scales.set(block % 2 * N_LANES + lane, *scale);
        let lines: Option<&mut [CacheLine; N_BLOCK_LINES]> =
            lines.as_chunks_mut().0.get_mut(block % 2);
        if let Some([fifth_bit_line, lower_lines @ ..]) = lines {
            fifth_bit_line.set(
                lane,
                gather_fifth_bits(u32::from_le_bytes(*fifth_bits)).to_le_bytes(),
            );
            pack_nibbles(lower_lines, lane, lower);
        }
    }
}

/// Moves the fifth bits to tile order. The file has that of a column at bit `column`, the tile at
/// bit `column / 4` of byte `column % 4`.
pub(crate) fn gather_fifth_bits(fifth_bits: u32) -> u32 {
    let columns = 0..u32::BITS;
    let bits = columns.map(|column| (fifth_bits >> column & 1) << (column % 4 * 8 + column / 4));
    bits.sum()
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let step: Option<&[CacheLine; N_STEP_LINES]> = tile.as_chunks().0.get(block / 2);
    if let Some([scales, lines @ ..]) = step {
        let scale = f16::from_le_bytes(scales.value(block % 2 * N_LANES + lane));
        unpacked.scales = [scale.to_f32(); 2];
        let lines: Option<&[CacheLine; N_BLOCK_LINES]> = lines.as_chunks().0.get(block % 2);
        if let Some(lines) = lines {
            let values = unpack_five_bits(lines, lane);
            unpacked.values = values.map(|value| f32::from(i16::from(value) - OFFSET));
        }
    }
    unpacked
}

/// Unpacks the 5-bit quants of 32 columns.
pub(crate) fn unpack_five_bits(
    [fifth_bits, lower @ ..]: &[CacheLine; N_BLOCK_LINES],
    lane: usize,
) -> [u8; N_BLOCK] {
    let fifth_bits: [u8; 4] = fifth_bits.value(lane);
    let mut values = unpack_nibbles(lower, 0, lane);
    for (index, values) in values.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        for (value, bits) in values.iter_mut().zip(fifth_bits) {
            *value |= (bits >> index & 1) << 4;
        }
    }
    values
}

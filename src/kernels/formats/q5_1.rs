//! `Q5_1`: 32 5-bit quants, a scale and a minimum of 16 bits each.
//!
//! A step of a tile is one block: a cache line with scales and minima as in `Q4_1`, a cache line of
//! fifth bits and four with the lower bits, both as in `Q5_K`.

use super::UnpackedBlock;
use super::q4_0::pack_nibbles;
use super::q4_1::{pack_scale_and_min, unpack_scale_and_min};
use super::q5_0::{N_BLOCK_LINES, gather_fifth_bits, unpack_five_bits};
use crate::N_BLOCK;
use crate::cache_line::CacheLine;
use crate::format::Layout;

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = 1 + N_BLOCK_LINES;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 4 + N_BLOCK / 8 + N_BLOCK / 2,
    n_step_values: N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [CacheLine; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block);
    let (header, lower) = bytes.split_at(bytes.len().min(8));
    if let (Some([factors, fifth_bit_line, lower_lines @ ..]), [header, fifth_bits]) =
        (step, header.as_chunks().0)
    {
        pack_scale_and_min(factors, lane, *header);
        fifth_bit_line.set(
            lane,
            gather_fifth_bits(u32::from_le_bytes(*fifth_bits)).to_le_bytes(),
        );
        pack_nibbles(lower_lines, lane, lower);
    }
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let step: Option<&[CacheLine; N_STEP_LINES]> = tile.as_chunks().0.get(block);
    if let Some((factors, lines)) = step.and_then(|step| step.split_first()) {
        let [scale, min] = unpack_scale_and_min(factors, lane);
        unpacked.scales = [scale; 2];
        // The file's minimum is added, not subtracted.
        unpacked.mins = [-min; 2];
        if let Some(lines) = lines.first_chunk() {
            unpacked.values = unpack_five_bits(lines, lane).map(f32::from);
        }
    }
    unpacked
}

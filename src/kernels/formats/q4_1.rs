//! `Q4_1`: 32 4-bit quants, a scale and a minimum of 16 bits each.
//!
//! A step of a tile is one block: a cache line with scales and minima, `[factor][lane]`, and four
//! cache lines of quants as in `Q4_0`.

use half::f16;

use super::UnpackedBlock;
use super::q4_0::pack_nibbles;
use super::q4_k::{N_BLOCK_LINES, unpack_nibbles};
use crate::cache_line::CacheLine;
use crate::format::Layout;
use crate::{N_BLOCK, N_LANES};

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = 1 + N_BLOCK_LINES;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 4 + N_BLOCK / 2,
    n_step_values: N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [CacheLine; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block);
    if let (Some([factors, lines @ ..]), Some((header, values))) = (step, bytes.split_first_chunk())
    {
        pack_scale_and_min(factors, lane, *header);
        pack_nibbles(lines, lane, values);
    }
}

/// Packs the scale and the minimum of one row.
pub(crate) fn pack_scale_and_min(
    line: &mut CacheLine,
    lane: usize,
    [low, high, low_min, high_min]: [u8; 4],
) {
    line.set(lane, [low, high]);
    line.set(N_LANES + lane, [low_min, high_min]);
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let step: Option<&[CacheLine; N_STEP_LINES]> = tile.as_chunks().0.get(block);
    if let Some([factors, lines @ ..]) = step {
        let [scale, min] = unpack_scale_and_min(factors, lane);
        unpacked.scales = [scale; 2];
        // The file's minimum is added, not subtracted.
        unpacked.mins = [-min; 2];
        unpacked.values = unpack_nibbles(lines, 0, lane).map(f32::from);
    }
    unpacked
}

/// Unpacks the scale and the minimum of one row.
pub(crate) fn unpack_scale_and_min(line: &CacheLine, lane: usize) -> [f32; 2] {
    [lane, N_LANES + lane].map(|index| f16::from_le_bytes(line.value(index)).to_f32())
}

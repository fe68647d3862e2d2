//! `Q2_K`: 256 2-bit quants, a 4-bit scale and a 4-bit minimum for every 16 of them, and two 16-bit
//! factors for all scales and all minima.
//!
//! A step of a tile is one block: a cache line with both factors, `[factor][lane]`, and four parts
//! of 64 columns. A part is a cache line of words, `[lane]`, with four scales and their minima in
//! the high nibbles, followed by one cache line of bytes per 16 columns, `[lane][column % 4]`,
//! which has the quant of column `c` from bit `c / 4 × 2` on.

use super::q4_1::{pack_scale_and_min, unpack_scale_and_min};
use super::{UnpackedBlock, words};
use crate::N_BLOCK;
use crate::cache_line::CacheLine;
use crate::format::Layout;

/// Columns per block of the file.
pub(crate) const N_VALUES: usize = 256;

/// Columns that share a scale.
pub(crate) const N_SCALED: usize = 16;

/// Parts of a step, and scales of each part.
const N_PARTS: usize = 4;

/// Cache lines per part.
pub(crate) const N_PART_LINES: usize = 1 + N_PARTS;

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = 1 + N_PARTS * N_PART_LINES;

/// The lowest two bits of each byte.
pub(crate) const TWO_BITS: u32 = 0x0303_0303;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_VALUES,
    n_file_bytes: N_VALUES / N_SCALED + N_VALUES / 4 + 4,
    n_step_values: N_VALUES,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [CacheLine; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block);
    let (scales, rest) = bytes.split_at(bytes.len().min(N_VALUES / N_SCALED));
    let (quants, header) = rest.split_at(rest.len().min(N_VALUES / 4));
    if let (Some([factors, parts @ ..]), [header]) = (step, header.as_chunks().0) {
        pack_scale_and_min(factors, lane, *header);
        let quants: Vec<u32> = quants_of_file(quants).collect();
        let quants = quants.as_chunks().0.as_chunks::<N_PARTS>().0;
        let parts = parts.as_chunks_mut::<N_PART_LINES>().0.iter_mut();
        for ((part, scales), quants) in parts.zip(words(scales)).zip(quants) {
            let [scale_line, lines @ ..] = part;
            scale_line.set(lane, swap_middle(scales).to_le_bytes());
            for (line, [a, b, c, d]) in lines.iter_mut().zip(quants) {
                line.set(lane, (a | b << 2 | c << 4 | d << 6).to_le_bytes());
            }
        }
    }
}

/// The lower two bits of each quant in column order, four in a word. The file has 128 columns in 32
/// bytes, the first 32 in the lowest bits.
pub(crate) fn quants_of_file(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let blocks = bytes.chunks_exact(N_BLOCK);
    let blocks = blocks.flat_map(|bytes| [0, 2, 4, 6].map(|shift| (bytes, shift)));
    blocks.flat_map(|(bytes, shift)| words(bytes).map(move |word| word >> shift & TWO_BITS))
}

/// Swaps the two middle bytes of four scales; its own inverse. The scales of the first 32 columns
/// are then the low bytes of both 16-bit halves, and those of the second 32 columns the high bytes.
pub(crate) const fn swap_middle(scales: u32) -> u32 {
    let [a, b, c, d] = scales.to_le_bytes();
    u32::from_le_bytes([a, c, b, d])
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let n_blocks = N_VALUES / N_BLOCK;
    let Some((factors, part)) = part_of(tile, block / n_blocks, block % n_blocks / 2) else {
        return unpacked;
    };
    let [scale_line, lines @ ..] = part;
    let scales = swap_middle(u32::from_le_bytes(scale_line.value(lane))).to_le_bytes();
    let halves = lines.iter().zip(scales).skip(block % 2 * 2);
    let halves = halves.zip(unpacked.values.as_chunks_mut().0);
    let [factor, min_factor] = unpack_scale_and_min(factors, lane);
    let factors = unpacked.scales.iter_mut().zip(&mut unpacked.mins);
    for (((line, both), targets), (scale, min)) in halves.zip(factors) {
        *scale = factor * f32::from(both & 0x0f);
        *min = min_factor * f32::from(both >> 4);
        *targets = unpack_two_bits(line, lane).map(f32::from);
    }
    unpacked
}

/// The cache line of factors and one part of a step.
fn part_of(
    tile: &[CacheLine],
    step: usize,
    part_index: usize,
) -> Option<(&CacheLine, &[CacheLine; N_PART_LINES])> {
    let [factors, parts @ ..] = tile.as_chunks::<N_STEP_LINES>().0.get(step)?;
    Some((factors, parts.as_chunks().0.get(part_index)?))
}

/// Unpacks the quants of 16 columns.
fn unpack_two_bits(line: &CacheLine, lane: usize) -> [u8; N_SCALED] {
    let word = u32::from_le_bytes(line.value(lane));
    let quants = [0, 2, 4, 6].map(|shift| (word >> shift & TWO_BITS).to_le_bytes());
    quants.as_flattened().try_into().unwrap_or_default()
}

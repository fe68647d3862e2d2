//! `Q3_K`: 256 3-bit quants minus 4, a 6-bit scale minus 32 for every 16 of them, and one 16-bit
//! factor for all scales.
//!
//! A step of a tile is one block: a cache line with the factors, `[lane]`, whose second half is
//! unused; three cache lines of scales, packed like the quants of 16 columns in `Q6_K`; and for
//! every 32 columns three cache lines of bytes, `[lane][column % 4]`. The lower six bits of each
//! byte are two quants. The upper two bits of the three bytes together are another two quants, the
//! lowest bits in the first cache line.

use half::f16;

use super::q2_k::{N_SCALED, N_VALUES, TWO_BITS, quants_of_file, swap_middle};
use super::q6_k::{pack_six_bits, unpack_six_bits};
use super::sub_scales::LOW_NIBBLES;
use super::{UnpackedBlock, words};
use crate::N_BLOCK;
use crate::cache_line::CacheLine;
use crate::format::Layout;

/// Blocks of 32 columns per step.
const N_BLOCKS: usize = N_VALUES / N_BLOCK;

/// Cache lines per 32 columns.
pub(crate) const N_BLOCK_LINES: usize = 3;

/// Cache lines of scales per step.
pub(crate) const N_SCALE_LINES: usize = 3;

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = 1 + N_SCALE_LINES + N_BLOCKS * N_BLOCK_LINES;

/// The offset that makes quants unsigned.
pub(crate) const OFFSET: i16 = 4;

/// The offset that makes scales unsigned.
pub(crate) const SCALE_OFFSET: i16 = 32;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_VALUES,
    n_file_bytes: N_VALUES / 8 + N_VALUES / 4 + N_VALUES / N_SCALED * 6 / 8 + 2,
    n_step_values: N_VALUES,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let step = tile.as_chunks_mut::<N_STEP_LINES>().0.get_mut(block);
    let (high_bits, rest) = bytes.split_at(bytes.len().min(N_BLOCK));
    let (lower, rest) = rest.split_at(rest.len().min(N_VALUES / 4));
    let Some(([factors, rest_of_step @ ..], (scales, factor))) = step.zip(rest.split_first_chunk())
    else {
        return;
    };
    factors.set(lane, factor.first_chunk().copied().unwrap_or([0; 2]));
    if let Some((scale_lines, lines)) = rest_of_step.split_first_chunk_mut() {
        pack_six_bits(scale_lines, lane, scales_of_file(scales).map(swap_middle));
        let quants = quants_of_file(lower).zip(high_bits_of_file(high_bits));
        let quants: Vec<u32> = quants.map(|(low, high)| low | high << 2).collect();
        let lines = lines.as_chunks_mut().0.iter_mut();
        for (lines, quants) in lines.zip(quants.as_chunks().0) {
            pack_quants(lines, lane, quants);
        }
    }
}

/// The high bit of each quant in column order, four in a word. The file has it in byte `column %
/// 32`, bit `column / 32`.
fn high_bits_of_file(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let blocks = 0..N_BLOCKS;
    blocks.flat_map(|block| words(bytes).map(move |word| word >> block & 0x0101_0101))
}

/// The scales, four in a word. The file has the lower four bits of eight scales in the low nibbles
/// and of eight in the high nibbles, then the upper two bits of all.
fn scales_of_file(bytes: &[u8; 12]) -> [u32; 4] {
    let mut words = words(bytes);
    let [a, b, upper] = [(); 3].map(|()| words.next().unwrap_or_default());
    let lower = [a, b, a >> 4, b >> 4].map(|word| word & LOW_NIBBLES);
    let mut scales = lower;
    for (scales, shift) in scales.iter_mut().zip([0, 2, 4, 6]) {
        *scales |= (upper >> shift & TWO_BITS) << 4;
    }
    scales
}

/// Packs the quants of 32 columns, four in a word.
fn pack_quants(lines: &mut [CacheLine; N_BLOCK_LINES], lane: usize, quants: &[u32; N_BLOCK / 4]) {
    let [pairs @ .., seventh, eighth] = quants;
    let both = seventh | eighth << 3;
    let pairs = pairs.as_chunks().0.iter().zip([0, 2, 4]);
    for (line, ([first, second], shift)) in lines.iter_mut().zip(pairs) {
        let word = first | second << 3 | (both >> shift & TWO_BITS) << 6;
        line.set(lane, word.to_le_bytes());
    }
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let step = tile.as_chunks::<N_STEP_LINES>().0.get(block / N_BLOCKS);
    let block = block % N_BLOCKS;
    let Some([factors, rest @ ..]) = step else {
        return unpacked;
    };
    if let Some((scale_lines, lines)) = rest.split_first_chunk() {
        let factor = f16::from_le_bytes(factors.value(lane)).to_f32();
        let scales = unpack_six_bits(scale_lines, lane).map(|word| swap_middle(word).to_le_bytes());
        let scales = scales.as_flattened().iter().skip(2 * block);
        for (target, scale) in unpacked.scales.iter_mut().zip(scales) {
            *target = factor * f32::from(i16::from(*scale) - SCALE_OFFSET);
        }
        if let Some(lines) = lines.as_chunks().0.get(block) {
            let targets = unpacked.values.as_chunks_mut().0.iter_mut();
            for (targets, quants) in targets.zip(unpack_quants(lines, lane)) {
                let quants = quants.to_le_bytes().map(i16::from);
                *targets = quants.map(|number| f32::from(number - OFFSET));
            }
        }
    }
    unpacked
}

/// Unpacks the quants of 32 columns, four in a word.
fn unpack_quants(lines: &[CacheLine; N_BLOCK_LINES], lane: usize) -> [u32; N_BLOCK / 4] {
    let [a, b, c, both] = unpack_six_bits(lines, lane);
    let pairs = [a, b, c, both].map(|word| [word & 0x0707_0707, word >> 3 & 0x0707_0707]);
    pairs.as_flattened().try_into().unwrap_or_default()
}

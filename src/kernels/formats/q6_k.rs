//! `Q6_K`: 256 6-bit quants, an 8-bit scale for every 16 of them, and one 16-bit factor for all
//! scales.
//!
//! A step of a tile is one block: a cache line with the factors, `[lane]`, whose second half is
//! unused, and four parts of 64 columns. A part is a cache line of scales, `[column / 16][lane]`,
//! and for every 16 columns three cache lines of bytes, `[lane][column % 4]`. The lower six bits of
//! these bytes are the quants of the first, second and third four columns. The upper two bits of
//! all three together are those of the fourth, the lowest bits in the first cache line. So three of
//! four quants are unpacked with a single "and".

use half::f16;

use super::{UnpackedBlock, words};
use crate::cache_line::CacheLine;
use crate::format::Layout;
use crate::{N_BLOCK, N_LANES};

/// Columns per block of the file.
const N_VALUES: usize = 256;

/// Columns that share an 8-bit scale.
const N_SCALED: usize = 16;

/// Parts of a step, and scales of each part.
const N_PARTS: usize = 4;

/// The offset that makes quants unsigned.
pub(crate) const OFFSET: i32 = 32;

/// Cache lines per 16 columns.
pub(crate) const N_SCALED_LINES: usize = 3;

/// Cache lines per part.
pub(crate) const N_PART_LINES: usize = 1 + N_PARTS * N_SCALED_LINES;

/// Cache lines per step.
pub(crate) const N_STEP_LINES: usize = 1 + N_PARTS * N_PART_LINES;

/// How tiles of this format are packed.
pub(crate) const LAYOUT: Layout = Layout {
    n_file_values: N_VALUES,
    n_file_bytes: N_VALUES / 2 + N_VALUES / 4 + N_VALUES / N_SCALED + 2,
    n_step_values: N_VALUES,
    n_step_lines: N_STEP_LINES,
    pack,
    unpack,
};

fn pack(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let step = tile.as_chunks_mut::<N_STEP_LINES>().0.get_mut(block);
    let (quants, scales) = bytes.split_at(bytes.len().min(N_VALUES / 2 + N_VALUES / 4));
    let Some((step, (scales, factor))) = step.zip(scales.split_first_chunk()) else {
        return;
    };
    let [factors, parts @ ..] = step;
    factors.set(lane, factor.first_chunk().copied().unwrap_or([0; 2]));
    let scales: &[u8; N_VALUES / N_SCALED] = scales;
    let parts = parts.as_chunks_mut::<N_PART_LINES>().0.iter_mut();
    let quants = quants_of_file(quants);
    let quants = quants.chunks_exact(N_VALUES / N_PARTS / 4);
    for ((part, scales), quants) in parts.zip(scales.as_chunks::<N_PARTS>().0).zip(quants) {
        let [scale_line, lines @ ..] = part;
        for (index, scale) in scales.iter().enumerate() {
            scale_line.set(index * N_LANES + lane, [*scale]);
        }
        let lines = lines.as_chunks_mut().0.iter_mut();
        for (lines, quants) in lines.zip(quants.as_chunks().0) {
            pack_six_bits(lines, lane, *quants);
        }
    }
}

/// The quants in column order, four in a word. The file has 128 columns in 64 bytes of lower bits,
/// twice 32 in the low nibbles and twice 32 in the high ones, and in 32 bytes of upper bits.
fn quants_of_file(bytes: &[u8]) -> Vec<u32> {
    let (low, high) = bytes.split_at(bytes.len().min(N_VALUES / 2));
    let halves = low.chunks_exact(64).zip(high.chunks_exact(N_BLOCK));
    let blocks = halves.flat_map(|(low, high)| {
        let [first, second] = [0, N_BLOCK].map(|start| low.get(start..).unwrap_or_default());
        [(first, 0), (second, 0), (first, 4), (second, 4)]
            .into_iter()
            .zip([0, 2, 4, 6])
            .map(move |((low, low_shift), high_shift)| (low, low_shift, high, high_shift))
    });
    let quants = blocks.flat_map(|(low, low_shift, high, high_shift)| {
        let pairs = words(low).zip(words(high));
        pairs.map(move |(low, high)| {
            low >> low_shift & 0x0f0f_0f0f | (high >> high_shift & 0x0303_0303) << 4
        })
    });
    quants.collect()
}

/// Packs the 6-bit quants of 16 columns, four in a word.
pub(crate) fn pack_six_bits(
    lines: &mut [CacheLine; N_SCALED_LINES],
    lane: usize,
    [quants @ .., fourth]: [u32; 4],
) {
    for ((line, number), shift) in lines.iter_mut().zip(quants).zip([0, 2, 4]) {
        let word = number | (fourth >> shift & 0x0303_0303) << 6;
        line.set(lane, word.to_le_bytes());
    }
}

fn unpack(tile: &[CacheLine], block: usize, lane: usize) -> UnpackedBlock {
    let mut unpacked = UnpackedBlock::ZERO;
    let n_blocks = N_VALUES / N_BLOCK;
    let Some(step) = tile.as_chunks::<N_STEP_LINES>().0.get(block / n_blocks) else {
        return unpacked;
    };
    let [factors, parts @ ..] = step;
    let factor = f16::from_le_bytes(factors.value(lane)).to_f32();
    let (part, half) = (block % n_blocks / 2, block % 2);
    let Some([scale_line, lines @ ..]) = parts.as_chunks::<N_PART_LINES>().0.get(part) else {
        return unpacked;
    };
    let lines = lines.as_chunks::<N_SCALED_LINES>().0.iter().skip(2 * half);
    let targets = unpacked.values.as_chunks_mut::<N_SCALED>().0;
    for (index, (targets, lines)) in targets.iter_mut().zip(lines).enumerate() {
        let [scale] = scale_line.value((2 * half + index) * N_LANES + lane);
        if let Some(target) = unpacked.scales.get_mut(index) {
            *target = factor * f32::from(scale.cast_signed());
        }
        for (targets, number) in targets
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .zip(unpack_six_bits(lines, lane))
        {
            let quants = number.to_le_bytes().map(f32::from);
            *targets = quants.map(|number| number - OFFSET as f32);
        }
    }
    unpacked
}

/// Unpacks the 6-bit quants of 16 columns, four in a word.
pub(crate) fn unpack_six_bits(lines: &[CacheLine; N_SCALED_LINES], lane: usize) -> [u32; 4] {
    let words = lines
        .each_ref()
        .map(|line| u32::from_le_bytes(line.value(lane)));
    let [first, second, third] = words.map(|word| word & 0x3f3f_3f3f);
    let [low, middle, high] = words.map(|word| word >> 6 & 0x0303_0303);
    [first, second, third, low | middle << 2 | high << 4]
}

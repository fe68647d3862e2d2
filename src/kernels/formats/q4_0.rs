//! `Q4_0`: 32 4-bit quants minus 8, and one 16-bit scale.
//!
//! A step of a tile is two blocks: a cache line of scales, `[block][lane]`, and for each block four
//! cache lines of `[column / 8][lane][column % 4]`, with the first four of eight columns in the low
//! nibbles.

use half::f16;

use super::q4_k::{N_BLOCK_LINES, view_halves};
use super::sub_scales::LOW;
use super::{BlockView, words};
use crate::kernels::format::Layout;
use crate::kernels::line::Line;
use crate::kernels::{N_BLOCK, N_LANES};

/// Cache lines per step.
pub const N_STEP_LINES: usize = 1 + 2 * N_BLOCK_LINES;

/// The offset that makes quants unsigned.
pub const OFFSET: i16 = 8;

/// How tiles of this format are packed.
pub const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 2 + N_BLOCK / 2,
    n_step_values: 2 * N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    view,
};

fn pack(tile: &mut [Line], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [Line; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block / 2);
    if let (Some([scales, lines @ ..]), Some((scale, values))) = (step, bytes.split_first_chunk()) {
        scales.put::<2>(block % 2 * N_LANES + lane, *scale);
        if let Some(lines) = lines.as_chunks_mut().0.get_mut(block % 2) {
            pack_halves(lines, lane, values);
        }
    }
}

/// Packs 32 4-bit quants. The file has column `i` and column `16 + i` in one byte.
pub fn pack_halves(lines: &mut [Line; N_BLOCK_LINES], lane: usize, values: &[u8]) {
    let first = words(values).map(|word| word & LOW);
    let second = words(values).map(|word| word >> 4 & LOW);
    let words: Vec<u32> = first.chain(second).collect();
    for (line, [low, high]) in lines.iter_mut().zip(words.as_chunks().0) {
        line.put(lane, (low | high << 4).to_le_bytes());
    }
}

fn view(tile: &[Line], block: usize, lane: usize) -> BlockView {
    let mut view = BlockView::ZERO;
    let step: Option<&[Line; N_STEP_LINES]> = tile.as_chunks().0.get(block / 2);
    if let Some([scales, lines @ ..]) = step {
        let scale = f16::from_le_bytes(scales.value(block % 2 * N_LANES + lane));
        view.scales = [scale.to_f32(); 2];
        let values = view_halves(lines, block % 2, lane);
        view.values = values.map(|value| f32::from(i16::from(value) - OFFSET));
    }
    view
}

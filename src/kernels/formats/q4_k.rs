//! `Q4_K`: 256 4-bit quants, with a scale and a minimum for every 32.
//!
//! A step of a tile is one block: the headers of its rows, and for every 32 columns four cache
//! lines of `[column / 8][lane][column % 4]`, with the first four of eight columns in the low
//! nibbles.

use super::sub_scales::{self, LOW};
use super::{BlockView, words};
use crate::kernels::format::Layout;
use crate::kernels::line::Line;
use crate::kernels::{N_BLOCK, N_LANES};

/// Columns per block of the file.
pub const N_VALUES: usize = 256;

/// Cache lines per 32 columns.
pub const N_BLOCK_LINES: usize = N_BLOCK * N_LANES / 2 / Line::N_BYTES;

/// Cache lines per step.
pub const N_STEP_LINES: usize = sub_scales::N_LINES + N_VALUES / N_BLOCK * N_BLOCK_LINES;

/// How tiles of this format are packed.
pub const LAYOUT: Layout = Layout {
    n_file_values: N_VALUES,
    n_file_bytes: sub_scales::N_FILE_BYTES + N_VALUES / 2,
    n_step_values: N_VALUES,
    n_step_lines: N_STEP_LINES,
    pack,
    view,
};

fn pack(tile: &mut [Line], block: usize, lane: usize, bytes: &[u8]) {
    let step = tile.as_chunks_mut::<N_STEP_LINES>().0.get_mut(block);
    let Some((step, (head, values))) = step.zip(bytes.split_first_chunk()) else {
        return;
    };
    if let Some((heads, lines)) = step.split_first_chunk_mut() {
        sub_scales::pack(heads, lane, head);
        let pairs = lines.as_chunks_mut().0.as_chunks_mut().0.iter_mut();
        for ([low, high], values) in pairs.zip(values.as_chunks().0) {
            pack_halves([low, high], lane, values);
        }
    }
}

/// Packs the 4-bit quants of two blocks. The file has both in the same bytes, the first in the low
/// nibbles.
pub fn pack_halves(blocks: [&mut [Line; N_BLOCK_LINES]; 2], lane: usize, values: &[u8; N_BLOCK]) {
    let [low_block, high_block] = blocks;
    let words: Vec<u32> = words(values).collect();
    let lines = low_block.iter_mut().zip(high_block);
    for ((low_line, high_line), words) in lines.zip(words.as_chunks().0) {
        let [first, second] = *words;
        let low = first & LOW | (second & LOW) << 4;
        let high = first >> 4 & LOW | second & !LOW;
        low_line.put(lane, low.to_le_bytes());
        high_line.put(lane, high.to_le_bytes());
    }
}

fn view(tile: &[Line], block: usize, lane: usize) -> BlockView {
    let mut view = BlockView::ZERO;
    let n_blocks = N_VALUES / N_BLOCK;
    let step = tile.as_chunks::<N_STEP_LINES>().0.get(block / n_blocks);
    if let Some((heads, lines)) = step.and_then(|step| step.split_first_chunk()) {
        let (scale, min) = sub_scales::view(heads, block % n_blocks, lane);
        view.scales = [scale; 2];
        view.mins = [min; 2];
        view.values = view_halves(lines, block % n_blocks, lane).map(f32::from);
    }
    view
}

/// Unpacks the 4-bit quants of 32 columns.
pub fn view_halves(lines: &[Line], block: usize, lane: usize) -> [u8; N_BLOCK] {
    let mut values = [0; N_BLOCK];
    let lines = lines.as_chunks::<N_BLOCK_LINES>().0.get(block);
    let words = lines.into_iter().flatten().flat_map(|line| {
        let word = u32::from_le_bytes(line.value(lane));
        [word & LOW, word >> 4 & LOW]
    });
    for (place, word) in values.as_chunks_mut().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    values
}

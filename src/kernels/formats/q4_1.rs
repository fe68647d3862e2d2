//! `Q4_1`: 32 4-bit quants, a scale and a minimum of 16 bits each.
//!
//! A step of a tile is one block: a cache line with scales and minima, `[factor][lane]`, and four
//! cache lines of quants as in `Q4_0`.

use half::f16;

use super::BlockView;
use super::q4_0::pack_halves;
use super::q4_k::{N_BLOCK_LINES, view_halves};
use crate::kernels::format::Layout;
use crate::kernels::line::Line;
use crate::kernels::{N_BLOCK, N_LANES};

/// Cache lines per step.
pub const N_STEP_LINES: usize = 1 + N_BLOCK_LINES;

/// How tiles of this format are packed.
pub const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 4 + N_BLOCK / 2,
    n_step_values: N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    view,
};

fn pack(tile: &mut [Line], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [Line; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block);
    if let (Some([factors, lines @ ..]), Some((head, values))) = (step, bytes.split_first_chunk()) {
        pack_factors(factors, lane, *head);
        pack_halves(lines, lane, values);
    }
}

/// Packs the scale and the minimum of one row.
pub fn pack_factors(line: &mut Line, lane: usize, [low, high, low_min, high_min]: [u8; 4]) {
    line.put(lane, [low, high]);
    line.put(N_LANES + lane, [low_min, high_min]);
}

fn view(tile: &[Line], block: usize, lane: usize) -> BlockView {
    let mut view = BlockView::ZERO;
    let step: Option<&[Line; N_STEP_LINES]> = tile.as_chunks().0.get(block);
    if let Some([factors, lines @ ..]) = step {
        let [scale, min] = view_factors(factors, lane);
        view.scales = [scale; 2];
        // The file's minimum is to be added.
        view.mins = [-min; 2];
        view.values = view_halves(lines, 0, lane).map(f32::from);
    }
    view
}

/// Unpacks the scale and the minimum of one row.
pub fn view_factors(line: &Line, lane: usize) -> [f32; 2] {
    [lane, N_LANES + lane].map(|index| f16::from_le_bytes(line.value(index)).to_f32())
}

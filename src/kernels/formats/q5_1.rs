//! `Q5_1`: 32 5-bit quants, a scale and a minimum of 16 bits each.
//!
//! A step of a tile is one block: a cache line with scales and minima as in `Q4_1`, a cache line of
//! fifth bits and four with the lower bits, both as in `Q5_K`.

use super::BlockView;
use super::q4_0::pack_halves;
use super::q4_1::{pack_factors, view_factors};
use super::q5_0::{N_BLOCK_LINES, gather, view_numbers};
use crate::kernels::N_BLOCK;
use crate::kernels::format::Layout;
use crate::kernels::line::Line;

/// Cache lines per step.
pub const N_STEP_LINES: usize = 1 + N_BLOCK_LINES;

/// How tiles of this format are packed.
pub const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 4 + N_BLOCK / 8 + N_BLOCK / 2,
    n_step_values: N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    view,
};

fn pack(tile: &mut [Line], block: usize, lane: usize, bytes: &[u8]) {
    let step: Option<&mut [Line; N_STEP_LINES]> = tile.as_chunks_mut().0.get_mut(block);
    let (head, lower) = bytes.split_at(bytes.len().min(8));
    if let (Some([factors, highest_line, lower_lines @ ..]), [head, highest]) =
        (step, head.as_chunks().0)
    {
        pack_factors(factors, lane, *head);
        highest_line.put(lane, gather(u32::from_le_bytes(*highest)).to_le_bytes());
        pack_halves(lower_lines, lane, lower);
    }
}

fn view(tile: &[Line], block: usize, lane: usize) -> BlockView {
    let mut view = BlockView::ZERO;
    let step: Option<&[Line; N_STEP_LINES]> = tile.as_chunks().0.get(block);
    if let Some((factors, lines)) = step.and_then(|step| step.split_first()) {
        let [scale, min] = view_factors(factors, lane);
        view.scales = [scale; 2];
        // The file's minimum is to be added.
        view.mins = [-min; 2];
        if let Some(lines) = lines.first_chunk() {
            view.values = view_numbers(lines, lane).map(f32::from);
        }
    }
    view
}

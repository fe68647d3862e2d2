//! `Q8_0`: 32 signed bytes and one 16-bit scale.
//!
//! A step of a tile is two blocks: a line of scales, `[block][lane]`, and for each block eight lines of
//! bytes, `[column / 4][lane][column % 4]`, with 128 added, because the quickest products take one
//! unsigned factor.

use half::f16;

use super::BlockView;
use crate::engine::kernels::format::Layout;
use crate::engine::kernels::line::Line;
use crate::engine::kernels::{N_BLOCK, N_LANES};

/// Lines of the bytes of one block.
pub const N_BLOCK_LINES: usize = N_BLOCK * N_LANES / Line::N_BYTES;

/// Lines of one step.
pub const N_STEP_LINES: usize = 1 + 2 * N_BLOCK_LINES;

/// How it is laid out.
pub const LAYOUT: Layout = Layout {
    n_file_values: N_BLOCK,
    n_file_bytes: 2 + N_BLOCK,
    n_step_values: 2 * N_BLOCK,
    n_step_lines: N_STEP_LINES,
    pack,
    view,
};

fn pack(tile: &mut [Line], block: usize, lane: usize, bytes: &[u8]) {
    let Some(([low, high], values)) = bytes.split_first_chunk() else {
        return;
    };
    let step = tile.iter_mut().skip(block / 2 * N_STEP_LINES);
    let mut step = step.take(N_STEP_LINES);
    if let Some(Line(scales)) = step.next() {
        let (scales, _) = scales.as_chunks_mut::<2>();
        if let Some(place) = scales.get_mut(block % 2 * N_LANES + lane) {
            *place = [*low, *high];
        }
    }
    let lines = step.skip(block % 2 * N_BLOCK_LINES);
    for (Line(line), values) in lines.zip(values.as_chunks::<4>().0) {
        if let Some(place) = line.as_chunks_mut::<4>().0.get_mut(lane) {
            *place = values.map(|value| value.wrapping_add(128));
        }
    }
}

fn view(tile: &[Line], block: usize, lane: usize) -> BlockView {
    let mut view = BlockView {
        values: [0.0; N_BLOCK],
        scales: [0.0; 2],
        min: 0.0,
    };
    let mut step = tile
        .iter()
        .skip(block / 2 * N_STEP_LINES)
        .take(N_STEP_LINES);
    if let Some(Line(scales)) = step.next() {
        let scale = scales.as_chunks::<2>().0.get(block % 2 * N_LANES + lane);
        view.scales = [scale.map_or(0.0, |scale| f16::from_le_bytes(*scale).to_f32()); 2];
    }
    let lines = step.skip(block % 2 * N_BLOCK_LINES);
    for (values, Line(line)) in view.values.as_chunks_mut::<4>().0.iter_mut().zip(lines) {
        if let Some(bytes) = line.as_chunks::<4>().0.get(lane) {
            *values = bytes.map(|byte| f32::from(byte) - 128.0);
        }
    }
    view
}

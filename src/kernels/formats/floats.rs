//! `F32`, `F16` and `BF16`: float weights, for rows of any width.
//!
//! A tile is `[column][lane]`, with two columns per step.

use half::{bf16, f16};

use super::UnpackedBlock;
use crate::cache_line::CacheLine;
use crate::format::Layout;
use crate::inputs::N_STEP_COLUMNS;
use crate::{N_BLOCK, N_LANES};

/// The layout of single-precision weights.
pub(crate) const F32: Layout = Layout {
    pack: pack::<4>,
    unpack: |tile, block, lane| unpack(tile, block, lane, f32::from_le_bytes),
    ..layout(4)
};

/// The layout of half-precision weights.
pub(crate) const F16: Layout = Layout {
    pack: pack::<2>,
    unpack: |tile, block, lane| {
        unpack(tile, block, lane, |bytes| {
            f16::from_le_bytes(bytes).to_f32()
        })
    },
    ..layout(2)
};

/// The layout of bfloat16 weights.
pub(crate) const BF16: Layout = Layout {
    unpack: |tile, block, lane| {
        unpack(tile, block, lane, |bytes| {
            bf16::from_le_bytes(bytes).to_f32()
        })
    },
    ..F16
};

const fn layout(n_bytes: usize) -> Layout {
    Layout {
        n_file_values: 1,
        n_file_bytes: n_bytes,
        n_step_values: N_STEP_COLUMNS,
        n_step_lines: N_STEP_COLUMNS * n_bytes * N_LANES / CacheLine::N_BYTES,
        pack: |_, _, _, _| {},
        unpack: |_, _, _| ZERO,
    }
}

const ZERO: UnpackedBlock = UnpackedBlock {
    values: [0.0; N_BLOCK],
    scales: [1.0; 2],
    mins: [0.0; 2],
};

/// Packs up to 32 numbers of `N` bytes.
fn pack<const N: usize>(tile: &mut [CacheLine], block: usize, lane: usize, bytes: &[u8]) {
    let lines = tile.iter_mut().skip(first_line::<N>(block));
    for (CacheLine(line), values) in lines.zip(bytes.chunks(CacheLine::N_BYTES / N_LANES)) {
        let targets = line.as_chunks_mut::<N>().0.iter_mut();
        let targets = targets.skip(lane).step_by(N_LANES);
        for (target, value) in targets.zip(values.as_chunks::<N>().0) {
            *target = *value;
        }
    }
}

fn unpack<const N: usize>(
    tile: &[CacheLine],
    block: usize,
    lane: usize,
    widen: impl Fn([u8; N]) -> f32,
) -> UnpackedBlock {
    let lines = tile.iter().skip(first_line::<N>(block));
    let values = lines.flat_map(|CacheLine(line)| {
        let values = line.as_chunks::<N>().0.iter();
        values.skip(lane).step_by(N_LANES)
    });
    let mut unpacked = ZERO;
    for (target, value) in unpacked.values.iter_mut().zip(values) {
        *target = widen(*value);
    }
    unpacked
}

const fn first_line<const N: usize>(block: usize) -> usize {
    block * N_BLOCK * N_LANES * N / CacheLine::N_BYTES
}

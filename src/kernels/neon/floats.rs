//! `F32`, `F16` and `BF16`: single-precision inputs and accumulators, one accumulator per row from
//! the first column to the last. With few rows of inputs, several tiles are multiplied together, so
//! that no sum has to wait for the one before it.

use std::arch::aarch64::{
    float32x4_t, vcvt_f32_f16, vfmaq_n_f32, vreinterpret_f16_u16, vreinterpretq_f32_u8,
    vreinterpretq_f32_u32, vshll_n_u16,
};

use super::memory::{Quarters, prefetched, zeros};
use crate::cache_line::CacheLine;
use crate::formats::floats::{BF16, F16, F32};
use crate::inputs::{N_STEP_COLUMNS, RowGroup};
use crate::product::ProductTask;
use crate::{Format, N_LANES};

/// The most tiles that are multiplied together.
const MAX_TILES: usize = 4;

/// A step of one quarter of a tile in single precision, `[column]`.
type Columns = [float32x4_t; N_STEP_COLUMNS];

/// The accumulators of one quarter of a tile for `N` rows of inputs.
type Sums<const N: usize> = [[float32x4_t; 1]; N];

/// Multiplies the tiles of a task, whose format must be one of the float formats.
#[target_feature(enable = "neon")]
pub fn multiply(task: ProductTask<'_>) {
    match task.tiles.format {
        Format::F32 => multiply_task::<{ F32.n_step_lines }, _>(task, |lines, quarter| {
            let [[first], [second]] = lines.map(|line| quarter.load(line));
            [vreinterpretq_f32_u8(first), vreinterpretq_f32_u8(second)]
        }),
        Format::BF16 => multiply_task::<{ BF16.n_step_lines }, _>(task, |[line], quarter| {
            let ([first], [second]) = (quarter.load_half::<0>(line), quarter.load_half::<1>(line));
            [
                vreinterpretq_f32_u32(vshll_n_u16::<16>(first)),
                vreinterpretq_f32_u32(vshll_n_u16::<16>(second)),
            ]
        }),
        _ => multiply_task::<{ F16.n_step_lines }, _>(task, |[line], quarter| {
            let ([first], [second]) = (quarter.load_half::<0>(line), quarter.load_half::<1>(line));
            [
                vcvt_f32_f16(vreinterpret_f16_u16(first)),
                vcvt_f32_f16(vreinterpret_f16_u16(second)),
            ]
        }),
    }
}

/// Multiplies tiles whose steps have `L` cache lines, which `widen` converts to single precision.
#[target_feature(enable = "neon")]
fn multiply_task<const L: usize, W>(mut task: ProductTask<'_>, widen: W)
where
    W: Fn([&CacheLine; L], Quarters<1>) -> Columns,
{
    let tiles: Vec<&[[CacheLine; L]]> = task.tiles.iter().map(|tile| tile.as_chunks().0).collect();
    for panel in task.inputs.panels() {
        for (index, tiles) in tiles.chunks(MAX_TILES).enumerate() {
            let first = index * MAX_TILES;
            for group in panel.groups() {
                let task = &mut task;
                match group.rows.len() {
                    1 => multiply_tiles::<L, 4, 4, 1, _>(task, first, tiles, &group, &widen),
                    2 => multiply_tiles::<L, 2, 4, 2, _>(task, first, tiles, &group, &widen),
                    3 => multiply_tiles::<L, 1, 4, 3, _>(task, first, tiles, &group, &widen),
                    4 => multiply_tiles::<L, 1, 4, 4, _>(task, first, tiles, &group, &widen),
                    5 => multiply_tiles::<L, 1, 2, 5, _>(task, first, tiles, &group, &widen),
                    6 => multiply_tiles::<L, 1, 2, 6, _>(task, first, tiles, &group, &widen),
                    7 => multiply_tiles::<L, 1, 2, 7, _>(task, first, tiles, &group, &widen),
                    _ => multiply_tiles::<L, 1, 2, 8, _>(task, first, tiles, &group, &widen),
                }
            }
        }
    }
}

/// Multiplies adjacent tiles, the first of which is number `first`, by a group of `N` rows, `T`
/// tiles and `Q` quarters of each at a time.
#[target_feature(enable = "neon")]
fn multiply_tiles<const L: usize, const T: usize, const Q: usize, const N: usize, W>(
    task: &mut ProductTask<'_>,
    first: usize,
    tiles: &[&[[CacheLine; L]]],
    group: &RowGroup<'_>,
    widen: &W,
) where
    W: Fn([&CacheLine; L], Quarters<1>) -> Columns,
{
    let row = group.rows.start;
    let inputs = group.floats.as_chunks::<N>().0.as_chunks().0;
    let (together, rest) = tiles.as_chunks::<T>();
    for (index, tiles) in together.iter().enumerate() {
        let all_sums = sums::<L, T, Q, N, W>(*tiles, inputs, widen);
        for (tile, sums) in all_sums.into_iter().enumerate() {
            task.write(first + index * T + tile, row, &sums);
        }
    }
    for (index, tile) in rest.iter().enumerate() {
        let [sums] = sums::<L, 1, Q, N, W>([*tile], inputs, widen);
        task.write(first + together.len() * T + index, row, &sums);
    }
}

/// The sums of `T` tiles with `N` rows of inputs, `[step][column][row]`.
#[inline]
#[target_feature(enable = "neon")]
fn sums<const L: usize, const T: usize, const Q: usize, const N: usize, W>(
    tiles: [&[[CacheLine; L]]; T],
    input_steps: &[[[f32; N]; N_STEP_COLUMNS]],
    widen: &W,
) -> [[[f32; N_LANES]; N]; T]
where
    W: Fn([&CacheLine; L], Quarters<1>) -> Columns,
{
    let mut stored = [[[0.0; N_LANES]; N]; T];
    for quarters in Quarters::<Q>::all() {
        let quarters = quarters.singles();
        let mut sums: [[Sums<N>; Q]; T] = [[zeros(); Q]; T];
        let mut tiles = tiles.map(<[_]>::iter);
        for inputs in input_steps {
            for (sums, tile) in sums.iter_mut().zip(&mut tiles) {
                let Some(lines) = tile.next() else {
                    continue;
                };
                let lines = lines.each_ref().map(prefetched);
                for (sums, quarter) in sums.iter_mut().zip(quarters) {
                    add_columns(widen(lines, quarter), inputs, sums);
                }
            }
        }
        for (stored, sums) in stored.iter_mut().zip(sums) {
            for (quarter, sums) in quarters.into_iter().zip(sums) {
                quarter.store(sums, stored);
            }
        }
    }
    stored
}

/// Adds the products of one step of one quarter to the accumulators of each row.
#[inline]
#[target_feature(enable = "neon")]
fn add_columns<const N: usize>(
    columns: Columns,
    inputs: &[[f32; N]; N_STEP_COLUMNS],
    sums: &mut Sums<N>,
) {
    for (weights, inputs) in columns.into_iter().zip(inputs) {
        for ([sum], input) in sums.iter_mut().zip(inputs) {
            *sum = vfmaq_n_f32(*sum, weights, *input);
        }
    }
}

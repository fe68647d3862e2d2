//! `F32`, `F16` and `BF16`: single-precision inputs and accumulators, one accumulator per row from
//! the first column to the last. With few rows of inputs, several tiles are multiplied together, so
//! that no sum has to wait for the one before it.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_castsi512_ps, _mm512_castsi512_si256, _mm512_cvtepu16_epi32,
    _mm512_extracti64x4_epi64, _mm512_fmadd_ps, _mm512_set1_ps, _mm512_slli_epi32,
};

use super::blocks::scales;
use super::memory::{load_all, store, zeros};
use crate::Format;
use crate::cache_line::CacheLine;
use crate::formats::floats::{BF16, F16, F32};
use crate::inputs::{N_STEP_COLUMNS, RowGroup};
use crate::product::ProductTask;

/// The most tiles that are multiplied together.
const MAX_TILES: usize = 4;

/// A step of one tile in single precision, `[column]`.
type Columns = [__m512; N_STEP_COLUMNS];

/// Multiplies the tiles of a task, whose format must be one of the float formats.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn multiply(task: ProductTask<'_>) {
    match task.tiles.format {
        Format::F32 => multiply_task::<{ F32.n_step_lines }, _>(task, |[first, second]| {
            [_mm512_castsi512_ps(first), _mm512_castsi512_ps(second)]
        }),
        Format::BF16 => multiply_task::<{ BF16.n_step_lines }, _>(task, |[line]| {
            let low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(line));
            let high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(line));
            [
                _mm512_castsi512_ps(_mm512_slli_epi32::<16>(low)),
                _mm512_castsi512_ps(_mm512_slli_epi32::<16>(high)),
            ]
        }),
        _ => multiply_task::<{ F16.n_step_lines }, _>(task, |[line]| scales(line)),
    }
}

/// Multiplies tiles whose steps have `L` cache lines, which `widen` converts to single precision.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn multiply_task<const L: usize, W: Fn([__m512i; L]) -> Columns>(
    mut task: ProductTask<'_>,
    widen: W,
) {
    let tiles: Vec<&[[CacheLine; L]]> = task.tiles.iter().map(|tile| tile.as_chunks().0).collect();
    for panel in task.inputs.panels() {
        for (index, tiles) in tiles.chunks(MAX_TILES).enumerate() {
            let first = index * MAX_TILES;
            for group in panel.groups() {
                let task = &mut task;
                match group.rows.len() {
                    1 => multiply_tiles::<L, 4, 1, _>(task, first, tiles, &group, &widen),
                    2 => multiply_tiles::<L, 4, 2, _>(task, first, tiles, &group, &widen),
                    3 => multiply_tiles::<L, 2, 3, _>(task, first, tiles, &group, &widen),
                    4 => multiply_tiles::<L, 2, 4, _>(task, first, tiles, &group, &widen),
                    5 => multiply_tiles::<L, 1, 5, _>(task, first, tiles, &group, &widen),
                    6 => multiply_tiles::<L, 1, 6, _>(task, first, tiles, &group, &widen),
                    7 => multiply_tiles::<L, 1, 7, _>(task, first, tiles, &group, &widen),
                    8 => multiply_tiles::<L, 1, 8, _>(task, first, tiles, &group, &widen),
                    9 => multiply_tiles::<L, 1, 9, _>(task, first, tiles, &group, &widen),
                    10 => multiply_tiles::<L, 1, 10, _>(task, first, tiles, &group, &widen),
                    11 => multiply_tiles::<L, 1, 11, _>(task, first, tiles, &group, &widen),
                    _ => multiply_tiles::<L, 1, 12, _>(task, first, tiles, &group, &widen),
                }
            }
        }
    }
}

/// Multiplies adjacent tiles, the first of which is number `first`, by a group of `N` rows, `T`
/// tiles at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn multiply_tiles<const L: usize, const T: usize, const N: usize, W>(
    task: &mut ProductTask<'_>,
    first: usize,
    tiles: &[&[[CacheLine; L]]],
    group: &RowGroup<'_>,
    widen: &W,
) where
    W: Fn([__m512i; L]) -> Columns,
{
    let row = group.rows.start;
    let inputs = group.floats.as_chunks::<N>().0.as_chunks().0;
    let (together, rest) = tiles.as_chunks::<T>();
    for (index, tiles) in together.iter().enumerate() {
        let all_sums = sums::<L, T, N, W>(*tiles, inputs, widen);
        for (tile, sums) in all_sums.into_iter().enumerate() {
            task.write(first + index * T + tile, row, &store(sums));
        }
    }
    for (index, tile) in rest.iter().enumerate() {
        let [sums] = sums::<L, 1, N, W>([*tile], inputs, widen);
        task.write(first + together.len() * T + index, row, &store(sums));
    }
}

/// The sums of `T` tiles with `N` rows of inputs, `[step][column][row]`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn sums<const L: usize, const T: usize, const N: usize, W: Fn([__m512i; L]) -> Columns>(
    tiles: [&[[CacheLine; L]]; T],
    input_steps: &[[[f32; N]; N_STEP_COLUMNS]],
    widen: &W,
) -> [[__m512; N]; T] {
    let mut sums = [zeros(); T];
    let mut tiles = tiles.map(<[_]>::iter);
    for inputs in input_steps {
        for (sums, tile) in sums.iter_mut().zip(&mut tiles) {
            let Some(lines) = tile.next() else {
                continue;
            };
            for (weights, inputs) in widen(load_all(lines)).into_iter().zip(inputs) {
                for (sum, input) in sums.iter_mut().zip(inputs) {
                    *sum = _mm512_fmadd_ps(weights, _mm512_set1_ps(*input), *sum);
                }
            }
        }
    }
    sums
}

//! `F32`, `F16` and `BF16`: single-precision inputs and accumulators, one accumulator per row from
//! the first column to the last. With few rows of inputs, several tiles are multiplied together, so
//! that no sum has to wait for the one before it.

use std::arch::x86_64::{
    __m256, __m256i, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cvtepu16_epi32,
    _mm256_cvtph_ps, _mm256_extracti128_si256, _mm256_fmadd_ps, _mm256_set1_ps, _mm256_slli_epi32,
};

use super::memory::{load, store, zeros};
use crate::Format;
use crate::cache_line::CacheLine;
use crate::formats::floats::{BF16, F16, F32};
use crate::inputs::{N_STEP_COLUMNS, RowGroup};
use crate::product::ProductTask;

/// The most tiles that are multiplied together.
const MAX_TILES: usize = 4;

/// A step of one tile in single precision, `[column][half]`.
type Columns = [[__m256; 2]; N_STEP_COLUMNS];

/// Multiplies the tiles of a task, whose format must be one of the float formats.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn multiply(task: ProductTask<'_>) {
    match task.tiles.format {
        Format::F32 => multiply_task::<{ F32.n_step_lines }, _>(task, |lines| f32_columns(lines)),
        Format::BF16 => multiply_task::<{ BF16.n_step_lines }, _>(task, |[line]| {
            [bf16_column(load::<0>(line)), bf16_column(load::<1>(line))]
        }),
        _ => multiply_task::<{ F16.n_step_lines }, _>(task, |[line]| {
            [f16_column(load::<0>(line)), f16_column(load::<1>(line))]
        }),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn f32_columns([first, second]: &[CacheLine; 2]) -> Columns {
    [
        [
            _mm256_castsi256_ps(load::<0>(first)),
            _mm256_castsi256_ps(load::<1>(first)),
        ],
        [
            _mm256_castsi256_ps(load::<0>(second)),
            _mm256_castsi256_ps(load::<1>(second)),
        ],
    ]
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn f16_column(column: __m256i) -> [__m256; 2] {
    [
        _mm256_cvtph_ps(_mm256_castsi256_si128(column)),
        _mm256_cvtph_ps(_mm256_extracti128_si256::<1>(column)),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn bf16_column(column: __m256i) -> [__m256; 2] {
    let low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(column));
    let high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256::<1>(column));
    [
        _mm256_castsi256_ps(_mm256_slli_epi32::<16>(low)),
        _mm256_castsi256_ps(_mm256_slli_epi32::<16>(high)),
    ]
}

/// Multiplies tiles whose steps have `L` cache lines, which `widen` converts to single precision.
#[target_feature(enable = "avx2,fma,f16c")]
fn multiply_task<const L: usize, W: Fn(&[CacheLine; L]) -> Columns>(
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
                    2 => multiply_tiles::<L, 2, 2, _>(task, first, tiles, &group, &widen),
                    3 => multiply_tiles::<L, 1, 3, _>(task, first, tiles, &group, &widen),
                    4 => multiply_tiles::<L, 1, 4, _>(task, first, tiles, &group, &widen),
                    5 => multiply_tiles::<L, 1, 5, _>(task, first, tiles, &group, &widen),
                    _ => multiply_tiles::<L, 1, 6, _>(task, first, tiles, &group, &widen),
                }
            }
        }
    }
}

/// Multiplies adjacent tiles, the first of which is number `first`, by a group of `N` rows, `T`
/// tiles at a time.
#[target_feature(enable = "avx2,fma,f16c")]
fn multiply_tiles<const L: usize, const T: usize, const N: usize, W>(
    task: &mut ProductTask<'_>,
    first: usize,
    tiles: &[&[[CacheLine; L]]],
    group: &RowGroup<'_>,
    widen: &W,
) where
    W: Fn(&[CacheLine; L]) -> Columns,
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

/// The sums of `T` tiles, `[tile][half][row]`, with `N` rows of inputs, `[step][column][row]`.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn sums<const L: usize, const T: usize, const N: usize, W: Fn(&[CacheLine; L]) -> Columns>(
    tiles: [&[[CacheLine; L]]; T],
    input_steps: &[[[f32; N]; N_STEP_COLUMNS]],
    widen: &W,
) -> [[[__m256; N]; 2]; T] {
    let mut sums = [[zeros(); 2]; T];
    let mut tiles = tiles.map(<[_]>::iter);
    for inputs in input_steps {
        for ([low, high], tile) in sums.iter_mut().zip(&mut tiles) {
            let Some(lines) = tile.next() else {
                continue;
            };
            for ([low_weights, high_weights], inputs) in widen(lines).into_iter().zip(inputs) {
                for ((low, high), input) in low.iter_mut().zip(&mut *high).zip(inputs) {
                    let input = _mm256_set1_ps(*input);
                    *low = _mm256_fmadd_ps(low_weights, input, *low);
                    *high = _mm256_fmadd_ps(high_weights, input, *high);
                }
            }
        }
    }
    sums
}

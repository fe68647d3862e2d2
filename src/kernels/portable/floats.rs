//! `F32`, `F16` and `BF16`: single-precision inputs and accumulators, one accumulator per row from
//! the first column to the last. With few rows of inputs, several tiles are multiplied together, so
//! that no sum has to wait for the one before it.

use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

use super::multiply_add;
use crate::N_LANES;
use crate::cache_line::CacheLine;
use crate::inputs::{N_STEP_COLUMNS, RowGroup};
use crate::product::ProductTask;

/// The most tiles that are multiplied together.
const MAX_TILES: usize = 4;

/// One number for each row of a tile.
type Column = [f32; N_LANES];

/// Converts weights of one format to single precision. A step of a tile has `L` cache lines.
pub(super) trait Widen<const L: usize> {
    /// Whether to multiply only one tile at a time. The compiler does not vectorize costly
    /// conversions for several tiles.
    const ONE_TILE_ONLY: bool;

    /// Converts the columns of one step.
    fn columns(lines: &[CacheLine; L]) -> [Column; N_STEP_COLUMNS];
}

/// Single precision.
pub(super) struct F32;

/// Half precision (binary16).
pub(super) struct F16;

/// bfloat16.
pub(super) struct BF16;

impl Widen<2> for F32 {
    const ONE_TILE_ONLY: bool = false;

    #[inline(always)]
    fn columns(lines: &[CacheLine; 2]) -> [Column; N_STEP_COLUMNS] {
        let mut columns = [[0.0; N_LANES]; N_STEP_COLUMNS];
        for (column, line) in columns.iter_mut().zip(lines) {
            for (value, bytes) in column.iter_mut().zip(line.0.as_chunks().0) {
                *value = f32::from_le_bytes(*bytes);
            }
        }
        columns
    }
}

impl Widen<1> for F16 {
    const ONE_TILE_ONLY: bool = true;

    #[inline(always)]
    fn columns([line]: &[CacheLine; 1]) -> [Column; N_STEP_COLUMNS] {
        narrow_columns(line, widen_f16)
    }
}

impl Widen<1> for BF16 {
    const ONE_TILE_ONLY: bool = false;

    #[inline(always)]
    fn columns([line]: &[CacheLine; 1]) -> [Column; N_STEP_COLUMNS] {
        narrow_columns(line, |bits| f32::from_bits(bits << 16))
    }
}

#[inline(always)]
fn narrow_columns(line: &CacheLine, widen: impl Fn(u32) -> f32) -> [Column; N_STEP_COLUMNS] {
    let mut columns = [[0.0; N_LANES]; N_STEP_COLUMNS];
    let halves = line.0.as_chunks::<{ 2 * N_LANES }>().0;
    for (column, bytes) in columns.iter_mut().zip(halves) {
        let mut bits = [0; N_LANES];
        for (bits, bytes) in bits.iter_mut().zip(bytes.as_chunks().0) {
            *bits = u32::from(u16::from_le_bytes(*bytes));
        }
        for (value, bits) in column.iter_mut().zip(bits) {
            *value = widen(bits);
        }
    }
    columns
}

/// Converts binary16 to single precision, exactly and without a branch. The multiplication changes
/// the exponent bias from 15 to 127; the highest exponent (infinity and NaN) is kept separately.
#[inline(always)]
fn widen_f16(bits: u32) -> f32 {
    const REBIASED: f32 = f32::from_bits((127 + 127 - 15) << 23);
    let sign = (bits & 0x8000) << 16;
    let magnitude = (bits & 0x7fff) << 13;
    // Only the highest exponent carries into bit 28.
    let highest = ((magnitude + (1 << 23)) >> 28) * (255 << 23);
    let widened = f32::from_bits(magnitude) * REBIASED;
    f32::from_bits(widened.to_bits() | highest | sign)
}

/// Multiplies a task by float inputs.
pub(super) struct FloatProduct<'a, W, const L: usize> {
    task: ProductTask<'a>,
    widen: PhantomData<W>,
}

impl<'a, W: Widen<L>, const L: usize> FloatProduct<'a, W, L> {
    /// Creates the product; `W` converts the weights.
    pub(super) const fn new(task: ProductTask<'a>) -> Self {
        Self {
            task,
            widen: PhantomData,
        }
    }
}

impl<W: Widen<L>, const L: usize> WithSimd for FloatProduct<'_, W, L> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut task = self.task;
        let tiles: Vec<&[[CacheLine; L]]> =
            task.tiles.iter().map(|tile| tile.as_chunks().0).collect();
        for panel in task.inputs.panels() {
            for (index, tiles) in tiles.chunks(MAX_TILES).enumerate() {
                let first = index * MAX_TILES;
                for group in panel.groups() {
                    let task = &mut task;
                    match group.rows.len() {
                        1 if W::ONE_TILE_ONLY => {
                            multiply_tiles::<S, W, L, 1, 1>(task, first, tiles, &group);
                        }
                        2 if W::ONE_TILE_ONLY => {
                            multiply_tiles::<S, W, L, 1, 2>(task, first, tiles, &group);
                        }
                        1 => multiply_tiles::<S, W, L, 4, 1>(task, first, tiles, &group),
                        2 => multiply_tiles::<S, W, L, 2, 2>(task, first, tiles, &group),
                        3 => multiply_tiles::<S, W, L, 1, 3>(task, first, tiles, &group),
                        _ => multiply_tiles::<S, W, L, 1, 4>(task, first, tiles, &group),
                    }
                }
            }
        }
    }
}

/// Multiplies adjacent tiles, the first of which is number `first`, by a group of `N` rows, `T`
/// tiles at a time.
#[inline(always)]
fn multiply_tiles<S: Simd, W: Widen<L>, const L: usize, const T: usize, const N: usize>(
    task: &mut ProductTask<'_>,
    first: usize,
    tiles: &[&[[CacheLine; L]]],
    group: &RowGroup<'_>,
) {
    let row = group.rows.start;
    let inputs = group.floats.as_chunks::<N>().0.as_chunks().0;
    let (together, rest) = tiles.as_chunks::<T>();
    for (index, tiles) in together.iter().enumerate() {
        let all_sums = sums::<S, W, L, T, N>(*tiles, inputs);
        for (tile, sums) in all_sums.into_iter().enumerate() {
            task.write(first + index * T + tile, row, &sums);
        }
    }
    for (index, tile) in rest.iter().enumerate() {
        let [sums] = sums::<S, W, L, 1, N>([*tile], inputs);
        task.write(first + together.len() * T + index, row, &sums);
    }
}

/// The sums of `T` tiles, `[tile][row]`, with `N` rows of inputs, `[step][column][row]`.
#[inline(always)]
fn sums<S: Simd, W: Widen<L>, const L: usize, const T: usize, const N: usize>(
    tiles: [&[[CacheLine; L]]; T],
    input_steps: &[[[f32; N]; N_STEP_COLUMNS]],
) -> [[Column; N]; T] {
    let mut sums = [[[0.0; N_LANES]; N]; T];
    let mut tiles = tiles.map(<[_]>::iter);
    for inputs in input_steps {
        for (sums, tile) in sums.iter_mut().zip(&mut tiles) {
            let Some(lines) = tile.next() else {
                continue;
            };
            for (weights, inputs) in W::columns(lines).iter().zip(inputs) {
                for (sums, input) in sums.iter_mut().zip(inputs) {
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum = multiply_add::<S>(*weight, *input, *sum);
                    }
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::widen_f16;

    #[test]
    fn every_half_precision_number_is_widened_exactly() {
        for bits in 0..=u16::MAX {
            let (found, expected) = (widen_f16(u32::from(bits)), f16::from_bits(bits).to_f32());
            let same = found.to_bits() == expected.to_bits();
            assert!(
                same || found.is_nan() && expected.is_nan(),
                "{bits:#x}: {found}"
            );
        }
    }
}

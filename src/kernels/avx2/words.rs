//! `Q8_0` with 16-bit inputs: the bytes are widened once for all rows of inputs.

use std::arch::x86_64::{__m256, _mm256_add_epi32, _mm256_setzero_si256};

use super::blocks::{scaled, scales};
use super::dot::{Dot, add_words};
use super::memory::{load, store, zeros};
use crate::cache_line::CacheLine;
use crate::formats::q8_0::{N_BLOCK_LINES, N_STEP_LINES};
use crate::input_words::InputWords;
use crate::inputs::RowGroup;
use crate::product::ProductTask;

/// Multiplies the tiles of a task, whose format must be `Q8_0`.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn multiply<D: Dot>(mut task: ProductTask<'_>) {
    let tiles = task.tiles;
    for panel in task.inputs.panels() {
        for (index, tile) in tiles.iter().enumerate() {
            for group in panel.groups() {
                match group.rows.len() {
                    1 => multiply_group::<D, 1>(&mut task, index, tile, &group),
                    2 => multiply_group::<D, 2>(&mut task, index, tile, &group),
                    3 => multiply_group::<D, 3>(&mut task, index, tile, &group),
                    4 => multiply_group::<D, 4>(&mut task, index, tile, &group),
                    5 => multiply_group::<D, 5>(&mut task, index, tile, &group),
                    _ => multiply_group::<D, 6>(&mut task, index, tile, &group),
                }
            }
        }
    }
}

/// Multiplies tile number `index` by a group of `N` rows.
#[target_feature(enable = "avx2,fma,f16c")]
fn multiply_group<D: Dot, const N: usize>(
    task: &mut ProductTask<'_>,
    index: usize,
    tile: &[CacheLine],
    group: &RowGroup<'_>,
) {
    let mut sums = [zeros::<N>(); 2];
    let [low, high] = &mut sums;
    let steps = tile.as_chunks::<N_STEP_LINES>().0;
    let inputs = group.words.as_chunks::<N>().0.as_chunks().0;
    for (step, inputs) in steps.iter().zip(inputs) {
        add_step::<D, 0, N>(step, inputs, low);
        add_step::<D, 1, N>(step, inputs, high);
    }
    task.write(index, group.rows.start, &store(sums));
}

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn add_step<D: Dot, const HALF: usize, const N: usize>(
    [first, lines @ ..]: &[CacheLine; N_STEP_LINES],
    inputs: &[[InputWords; N]; 2],
    sums: &mut [__m256; N],
) {
    let blocks = lines.as_chunks::<N_BLOCK_LINES>().0;
    for ((lines, scales), inputs) in blocks.iter().zip(scales::<HALF>(first)).zip(inputs) {
        let mut products = [[_mm256_setzero_si256(); 2]; N];
        for (index, line) in lines.iter().enumerate() {
            add_words::<D, N>(&mut products, load::<HALF>(line), inputs, index);
        }
        for ((&[even, odd], input), sum) in products.iter().zip(inputs).zip(&mut *sums) {
            *sum = scaled(_mm256_add_epi32(even, odd), scales, input.scale, *sum);
        }
    }
}

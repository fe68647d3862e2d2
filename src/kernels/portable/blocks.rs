//! `Q4_0`, `Q5_0` and `Q8_0`: blocks of 32 columns with one scale per row.

use std::array;

use pulp::Simd;

use super::bytes::{IntLanes, add_fifth_bits, add_large, add_small, floats, unpack_nibbles};
use super::floats::{F16, Widen};
use super::wide_block::WideBlock;
use super::{Kernel, Lanes, N_LANES, add_product};
use crate::cache_line::CacheLine;
use crate::formats::{q4_0, q4_k, q5_0, q8_0};
use crate::input_block::DIGIT_BASE;

/// Unpacks both nibbles of each byte.
pub(super) struct Q4_0;

/// Unpacks both nibbles of each byte and adds the fifth bits.
pub(super) struct Q5_0;

/// Uses the bytes of the cache lines directly.
pub(super) struct Q8_0;

/// The same with 16-bit inputs, in pairs of planes. The sums are those of the high digits; those of
/// the low digits are zero.
pub(super) struct Q8_0Digits;

impl Kernel for Q4_0 {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q4_0::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([scales, lines @ ..], step_inputs) in steps.iter().zip(all_inputs.as_chunks::<2>().0) {
            let blocks = lines.as_chunks::<{ q4_k::N_BLOCK_LINES }>().0;
            let blocks = blocks.iter().zip(load_scales(scales));
            for ((lines, scales), inputs) in blocks.zip(step_inputs) {
                let weights = unpack_nibbles(lines);
                let mut dots = without_offset(q4_0::OFFSET, inputs);
                add_small::<4, N>(&weights, 0, inputs, &mut dots);
                add_scaled::<S, N>(&dots, &scales, inputs, &mut sums);
            }
        }
        sums
    }
}

impl Kernel for Q5_0 {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q5_0::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([scales, lines @ ..], step_inputs) in steps.iter().zip(all_inputs.as_chunks::<2>().0) {
            let blocks = lines.as_chunks::<{ q5_0::N_BLOCK_LINES }>().0;
            let blocks = blocks.iter().zip(load_scales(scales));
            for (([fifth_bits, lower @ ..], scales), inputs) in blocks.zip(step_inputs) {
                let mut weights = unpack_nibbles(lower);
                add_fifth_bits(&mut weights, fifth_bits);
                let mut dots = without_offset(q5_0::OFFSET, inputs);
                add_small::<2, N>(&weights, 0, inputs, &mut dots);
                add_scaled::<S, N>(&dots, &scales, inputs, &mut sums);
            }
        }
        sums
    }
}

impl Kernel for Q8_0 {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(tile: &[CacheLine], inputs: &[[WideBlock; N]]) -> [Lanes; N] {
        q8_0_sums(tile, inputs, |dots, scales, inputs, sums| {
            add_scaled::<S, N>(&dots, scales, inputs, sums);
        })
    }
}

impl Kernel for Q8_0Digits {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(tile: &[CacheLine], inputs: &[[WideBlock; N]]) -> [Lanes; N] {
        q8_0_sums(tile, inputs, |dots, scales, inputs, sums| {
            let rows = dots.as_chunks().0.iter().zip(inputs.as_chunks().0);
            for (([high, low], [_, input]), [sum, _]) in rows.zip(sums.as_chunks_mut().0) {
                let mut dots = *low;
                for (dots, high) in dots.iter_mut().zip(high) {
                    *dots += DIGIT_BASE * high;
                }
                add_scaled::<S, 1>(&[dots], scales, &[*input], array::from_mut(sum));
            }
        })
    }
}

/// Multiplies a tile by N rows of inputs. `add` adds the dot products of a block to the
/// accumulators.
#[inline(always)]
fn q8_0_sums<const N: usize>(
    tile: &[CacheLine],
    all_inputs: &[[WideBlock; N]],
    add: impl Fn([IntLanes; N], &Lanes, &[WideBlock; N], &mut [Lanes; N]),
) -> [Lanes; N] {
    let steps = tile.as_chunks::<{ q8_0::N_STEP_LINES }>().0;
    let mut sums = [[0.0; N_LANES]; N];
    for ([scales, lines @ ..], step_inputs) in steps.iter().zip(all_inputs.as_chunks::<2>().0) {
        let blocks = lines.as_chunks::<{ q8_0::N_BLOCK_LINES }>().0;
        let blocks = blocks.iter().zip(load_scales(scales));
        for ((lines, scales), inputs) in blocks.zip(step_inputs) {
            let mut dots = without_offset(q8_0::OFFSET, inputs);
            add_large(lines, inputs, &mut dots);
            add(dots, &scales, inputs, &mut sums);
        }
    }
    sums
}

/// The scales of two blocks from a cache line of half floats, `[block][lane]`.
#[inline(always)]
pub(super) fn load_scales(line: &CacheLine) -> [Lanes; 2] {
    F16::columns(std::array::from_ref(line))
}

/// The initial accumulators for weights with an offset.
#[inline(always)]
fn without_offset<const N: usize>(offset: i16, inputs: &[WideBlock; N]) -> [IntLanes; N] {
    inputs.each_ref().map(|input| {
        let [low, high] = input.half_sums;
        [-i32::from(offset) * (low + high); N_LANES]
    })
}

/// Adds integer dot products, multiplied by the scales of the weights and of the inputs.
#[inline(always)]
pub(super) fn add_scaled<S: Simd, const N: usize>(
    dots: &[IntLanes; N],
    scales: &Lanes,
    inputs: &[WideBlock; N],
    sums: &mut [Lanes; N],
) {
    for ((sum, dots), input) in sums.iter_mut().zip(dots).zip(inputs) {
        let scales = scales.map(|scale| scale * input.scale);
        add_product::<S>(&floats(dots), &scales, sum);
    }
}

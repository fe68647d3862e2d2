//! `Q6_K`: three cache lines hold the 6-bit quants of 16 columns, which share a scale.

use pulp::Simd;

use super::blocks::load_scales;
use super::bytes::{Bytes, add_small, floats, load};
use super::wide_block::WideBlock;
use super::{Kernel, Lanes, N_LANES, add_product};
use crate::cache_line::CacheLine;
use crate::formats::q6_k::{N_PART_LINES, N_SCALED_LINES, N_STEP_LINES, OFFSET};

/// Unpacks 16 columns from three cache lines.
pub(super) struct Q6K;

impl Kernel for Q6K {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<N_STEP_LINES>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([factors, lines @ ..], step_inputs) in steps.iter().zip(all_inputs.as_chunks::<8>().0)
        {
            let [factors, _] = load_scales(factors);
            let mut step_sums = [[0.0; N_LANES]; N];
            let parts = lines.as_chunks::<N_PART_LINES>().0;
            for ([scales, lines @ ..], part_inputs) in
                parts.iter().zip(step_inputs.as_chunks::<2>().0)
            {
                let lines = lines.as_chunks::<N_SCALED_LINES>().0.as_chunks::<2>().0;
                let scales = load_int8_scales(scales);
                for ((lines, scales), inputs) in lines.iter().zip(scales).zip(part_inputs) {
                    add_block::<S, N>(lines, &scales, inputs, &mut step_sums);
                }
            }
            for (sum, step_sum) in sums.iter_mut().zip(&step_sums) {
                add_product::<S>(&factors, step_sum, sum);
            }
        }
        sums
    }
}

/// The scales of a part, `[block][half of a block]`, from a cache line of bytes, `[column /
/// 16][lane]`.
#[inline(always)]
fn load_int8_scales(line: &CacheLine) -> [[Lanes; 2]; 2] {
    let mut scales = [[[0.0; N_LANES]; 2]; 2];
    let bytes = line.0.as_chunks::<N_LANES>().0;
    for (scales, bytes) in scales.as_flattened_mut().iter_mut().zip(bytes) {
        *scales = bytes.map(|byte| f32::from(byte.cast_signed()));
    }
    scales
}

/// Adds the dot products of 32 columns to the accumulators of each row.
#[inline(always)]
fn add_block<S: Simd, const N: usize>(
    lines: &[[CacheLine; N_SCALED_LINES]; 2],
    scales: &[Lanes; 2],
    inputs: &[WideBlock; N],
    sums: &mut [Lanes; N],
) {
    let mut scaled = [[0.0; N_LANES]; N];
    for (half, (lines, scales)) in lines.iter().zip(scales).enumerate() {
        let weights = weights(lines);
        let mut dots = inputs.each_ref().map(|input| {
            let sum = input.half_sums.get(half).copied().unwrap_or_default();
            [-OFFSET * sum; N_LANES]
        });
        add_small::<1, N>(&weights, 4 * half, inputs, &mut dots);
        for (scaled, dots) in scaled.iter_mut().zip(&dots) {
            add_product::<S>(&floats(dots), scales, scaled);
        }
    }
    for ((sum, scaled), input) in sums.iter_mut().zip(&scaled).zip(inputs) {
        add_product::<S>(scaled, &[input.scale; N_LANES], sum);
    }
}

/// Unpacks the quants of 16 columns, four columns at a time.
#[inline(always)]
pub(super) fn weights(lines: &[CacheLine; N_SCALED_LINES]) -> [Bytes; 4] {
    let [a, b, c] = lines.each_ref().map(load);
    let mut fourth = [0; N_LANES];
    for (target, ((a, b), c)) in fourth.iter_mut().zip(a.iter().zip(b).zip(c)) {
        *target = a >> 6 & 0x0303_0303 | b >> 4 & 0x0c0c_0c0c | c >> 2 & 0x3030_3030;
    }
    let six = |bytes: Bytes| bytes.map(|bytes| bytes & 0x3f3f_3f3f);
    [six(a), six(b), six(c), fourth]
}

//! `Q2_K` and `Q3_K`: an integer scale for every 16 columns.

use pulp::Simd;

use super::blocks::load_scales;
use super::bytes::{Bytes, IntLanes, Weights, add_small, floats, load};
use super::wide_block::WideBlock;
use super::{Kernel, Lanes, N_LANES, add_product, q6_k};
use crate::N_BLOCK;
use crate::cache_line::CacheLine;
use crate::formats::q2_k::{self, TWO_BITS};
use crate::formats::q3_k::{self, OFFSET, SCALE_OFFSET};

/// Unpacks 16 columns from one cache line, with a scale and a minimum.
pub(super) struct Q2K;

/// Unpacks 32 columns from three cache lines, with a scale for each half.
pub(super) struct Q3K;

impl Kernel for Q2K {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q2_k::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([factors, lines @ ..], step_inputs) in steps.iter().zip(all_inputs.as_chunks::<8>().0)
        {
            let [factors, min_factors] = load_scales(factors);
            let minus_factors = min_factors.map(|factor| -factor);
            let mut step_sums = [[0.0; N_LANES]; N];
            let mut step_mins = [[0.0; N_LANES]; N];
            let parts = lines.as_chunks::<{ q2_k::N_PART_LINES }>().0;
            for ([both, lines @ ..], part_inputs) in
                parts.iter().zip(step_inputs.as_chunks::<2>().0)
            {
                let both = load(both);
                let blocks = lines.as_chunks().0.iter().zip(part_inputs).enumerate();
                for (block, (lines, inputs)) in blocks {
                    let scales = pair::<0x0f>(&both, 8 * block);
                    let dots = scaled_products(&two_bits(lines), &scales, inputs);
                    add_rows::<S, N>(&dots, inputs, &mut step_sums);
                    let mut dots = [[0; N_LANES]; N];
                    add_inputs(&pair::<0x0f>(&both, 8 * block + 4), inputs, &mut dots);
                    add_rows::<S, N>(&dots, inputs, &mut step_mins);
                }
            }
            for ((sum, step_sum), step_min) in sums.iter_mut().zip(&step_sums).zip(&step_mins) {
                add_product::<S>(&factors, step_sum, sum);
                add_product::<S>(&minus_factors, step_min, sum);
            }
        }
        sums
    }
}

impl Kernel for Q3K {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q3_k::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([factors, rest @ ..], step_inputs) in steps.iter().zip(all_inputs.as_chunks::<8>().0) {
            let Some((scale_lines, lines)) = rest.split_first_chunk() else {
                continue;
            };
            let [factors, _] = load_scales(factors);
            let mut step_sums = [[0.0; N_LANES]; N];
            let lines = lines.as_chunks::<{ q3_k::N_BLOCK_LINES }>().0;
            let parts = lines.as_chunks::<2>().0.iter();
            let parts = parts.zip(step_inputs.as_chunks::<2>().0);
            for (bytes, (lines, inputs)) in q6_k::weights(scale_lines).iter().zip(parts) {
                for (block, (lines, inputs)) in lines.iter().zip(inputs).enumerate() {
                    let scales = pair::<0x3f>(bytes, 8 * block);
                    let scales = scales.map(|scales| scales.map(|s| s - i32::from(SCALE_OFFSET)));
                    let offsets = scales.map(|scales| scales.map(|s| s * -i32::from(OFFSET)));
                    let mut dots = scaled_products(&three_bits(lines), &scales, inputs);
                    add_inputs(&offsets, inputs, &mut dots);
                    add_rows::<S, N>(&dots, inputs, &mut step_sums);
                }
            }
            for (sum, step_sum) in sums.iter_mut().zip(&step_sums) {
                add_product::<S>(&factors, step_sum, sum);
            }
        }
        sums
    }
}

/// Extracts the factors of both halves of a block: the bits from bit `shift` on, and 16 bits
/// further up.
#[inline(always)]
fn pair<const MASK: u32>(bytes: &Bytes, shift: usize) -> [IntLanes; 2] {
    [shift, shift + 16].map(|shift| bytes.map(|bytes| (bytes >> shift & MASK).cast_signed()))
}

/// The dot products of one block, whose weights are below 16, multiplied by the scales of both
/// halves: exact.
#[inline(always)]
fn scaled_products<const N: usize>(
    weights: &Weights,
    scales: &[IntLanes; 2],
    inputs: &[WideBlock; N],
) -> [IntLanes; N] {
    let mut scaled = [[0; N_LANES]; N];
    let halves = weights.as_chunks::<{ N_BLOCK / 8 }>().0.iter().zip(scales);
    for (half, (weights, scales)) in halves.enumerate() {
        let mut sums = [[0; N_LANES]; N];
        add_small::<4, N>(weights, N_BLOCK / 8 * half, inputs, &mut sums);
        for (scaled, sums) in scaled.iter_mut().zip(&sums) {
            for ((scaled, sum), scale) in scaled.iter_mut().zip(sums).zip(scales) {
                *scaled += sum * scale;
            }
        }
    }
    scaled
}

/// Adds the input sums of both halves, each multiplied by an integer: exact.
#[inline(always)]
fn add_inputs<const N: usize>(
    scales: &[IntLanes; 2],
    inputs: &[WideBlock; N],
    sums: &mut [IntLanes; N],
) {
    for (sums, input) in sums.iter_mut().zip(inputs) {
        for (scales, half_sum) in scales.iter().zip(input.half_sums) {
            for (sum, scale) in sums.iter_mut().zip(scales) {
                *sum += scale * half_sum;
            }
        }
    }
}

/// Adds integer sums, multiplied by the scales of the inputs.
#[inline(always)]
fn add_rows<S: Simd, const N: usize>(
    dots: &[IntLanes; N],
    inputs: &[WideBlock; N],
    sums: &mut [Lanes; N],
) {
    for ((sum, dots), input) in sums.iter_mut().zip(dots).zip(inputs) {
        add_product::<S>(&floats(dots), &[input.scale; N_LANES], sum);
    }
}

/// Unpacks the quants of 32 columns, 16 per cache line.
#[inline(always)]
fn two_bits(lines: &[CacheLine; 2]) -> Weights {
    let mut weights = [[0; N_LANES]; N_BLOCK / 4];
    for (weights, line) in weights.as_chunks_mut::<4>().0.iter_mut().zip(lines) {
        let bytes = load(line);
        for (index, weights) in weights.iter_mut().enumerate() {
            *weights = bytes.map(|bytes| bytes >> (2 * index) & TWO_BITS);
        }
    }
    weights
}

/// Unpacks the quants of 32 columns from pairs stored as 6-bit numbers.
#[inline(always)]
fn three_bits(lines: &[CacheLine; q3_k::N_BLOCK_LINES]) -> Weights {
    let mut weights = [[0; N_LANES]; N_BLOCK / 4];
    let pairs = q6_k::weights(lines);
    for ([first, second], pairs) in weights.as_chunks_mut().0.iter_mut().zip(pairs) {
        *first = pairs.map(|bytes| bytes & 0x0707_0707);
        *second = pairs.map(|bytes| bytes >> 3 & 0x0707_0707);
    }
    weights
}

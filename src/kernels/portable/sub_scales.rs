//! `Q4_K` and `Q5_K`: a scale and a minimum for every 32 columns.

use pulp::Simd;

use super::blocks::{add_scaled, load_scales};
use super::bytes::{Bytes, IntLanes, add_fifth_bits, add_small, load, unpack_nibbles};
use super::mins::add_mins;
use super::wide_block::WideBlock;
use super::{Kernel, Lanes, N_LANES, add_product};
use crate::cache_line::CacheLine;
use crate::formats::sub_scales::{LOW_NIBBLES, N_LINES};
use crate::formats::{q4_k, q5_k};

/// The lower six bits of each byte.
const SIX_BITS: u32 = 0x3f3f_3f3f;

/// Unpacks both nibbles of each byte.
pub(super) struct Q4K;

/// Unpacks both nibbles of each byte and adds the fifth bits.
pub(super) struct Q5K;

impl Kernel for Q4K {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q4_k::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for (step, step_inputs) in steps.iter().zip(all_inputs.as_chunks::<8>().0) {
            let Some((header, lines)) = step.split_first_chunk() else {
                continue;
            };
            let header = BlockHeader::load(header);
            let mut step_sums = StepSums::<N>::new();
            let blocks = lines.as_chunks().0.iter().zip(step_inputs);
            for (block, (lines, inputs)) in blocks.enumerate() {
                let mut dots = [[0; N_LANES]; N];
                add_small::<4, N>(&unpack_nibbles(lines), 0, inputs, &mut dots);
                step_sums.add::<S>(&dots, &header.block(block), inputs);
            }
            step_sums.add_to::<S>(&header, &mut sums);
        }
        sums
    }
}

impl Kernel for Q5K {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q5_k::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for (step, step_inputs) in steps.iter().zip(all_inputs.as_chunks::<8>().0) {
            let Some((header, lines)) = step.split_first_chunk() else {
                continue;
            };
            let header = BlockHeader::load(header);
            let mut step_sums = StepSums::<N>::new();
            let blocks = lines.as_chunks::<{ q5_k::N_BLOCK_LINES }>().0;
            let blocks = blocks.iter().zip(step_inputs).enumerate();
            for (block, ([fifth_bits, lower @ ..], inputs)) in blocks {
                let mut weights = unpack_nibbles(lower);
                add_fifth_bits(&mut weights, fifth_bits);
                let mut dots = [[0; N_LANES]; N];
                add_small::<2, N>(&weights, 0, inputs, &mut dots);
                step_sums.add::<S>(&dots, &header.block(block), inputs);
            }
            step_sums.add_to::<S>(&header, &mut sums);
        }
        sums
    }
}

/// The scales and minima of a step.
struct BlockHeader {
    /// The super-block's scale and minimum factor, which apply to the entire step.
    factors: [Lanes; 2],
    /// The integers, `[scale or minimum][block / 4]`, four in the bytes of each row.
    integers: [[Bytes; 2]; 2],
}

impl BlockHeader {
    /// Loads the header from the first cache lines of a step.
    #[inline(always)]
    fn load([factors, lines @ ..]: &[CacheLine; N_LINES]) -> Self {
        let [scales, mins, rest] = lines.each_ref().map(load);
        let rest_of_mins = rest.map(|rest| rest >> 4);
        Self {
            factors: load_scales(factors),
            integers: [
                [
                    scales.map(|word| word & SIX_BITS),
                    high_words(&rest, &scales),
                ],
                [
                    mins.map(|word| word & SIX_BITS),
                    high_words(&rest_of_mins, &mins),
                ],
            ],
        }
    }

    /// The scale and the minimum of a block.
    #[inline(always)]
    fn block(&self, block: usize) -> [Lanes; 2] {
        self.integers.each_ref().map(|words| {
            let words = words.get(block / 4).copied().unwrap_or([0; N_LANES]);
            words.map(|word| (word >> (block % 4 * 8) & 0xff).cast_signed() as f32)
        })
    }
}

/// Combines the lower four bits from `low` and the upper two from `high` in each byte.
#[inline(always)]
fn high_words(low: &Bytes, high: &Bytes) -> Bytes {
    let mut words = [0; N_LANES];
    for (word, (low, high)) in words.iter_mut().zip(low.iter().zip(high)) {
        *word = low & LOW_NIBBLES | high >> 2 & 0x3030_3030;
    }
    words
}

/// The sums of one step for each row of inputs. The factors that all its columns share are applied
/// once, at its end.
struct StepSums<const N: usize> {
    scaled: [Lanes; N],
    mins: [Lanes; N],
}

impl<const N: usize> StepSums<N> {
    /// Accumulators at zero.
    const fn new() -> Self {
        Self {
            scaled: [[0.0; N_LANES]; N],
            mins: [[0.0; N_LANES]; N],
        }
    }

    /// Adds the dot products of one block.
    #[inline(always)]
    fn add<S: Simd>(
        &mut self,
        dots: &[IntLanes; N],
        [scales, mins]: &[Lanes; 2],
        inputs: &[WideBlock; N],
    ) {
        add_scaled::<S, N>(dots, scales, inputs, &mut self.scaled);
        add_mins::<S, N>(mins, inputs, &mut self.mins);
    }

    /// Ends the step: applies the shared factors and adds the result to the accumulators.
    #[inline(always)]
    fn add_to<S: Simd>(&self, header: &BlockHeader, sums: &mut [Lanes; N]) {
        let [scales, mins] = &header.factors;
        let minus_mins = mins.map(|min| -min);
        for ((sum, scaled), mins) in sums.iter_mut().zip(&self.scaled).zip(&self.mins) {
            add_product::<S>(scales, scaled, sum);
            add_product::<S>(&minus_mins, mins, sum);
        }
    }
}

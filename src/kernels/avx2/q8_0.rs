//! `Q8_0`: the cache lines of a tile are already the unsigned operands.

use std::arch::x86_64::__m256;

use super::blocks::{scaled, scales};
use super::dot::{Dot, add_biased, biased_starts};
use super::memory::load;
use crate::cache_line::CacheLine;
use crate::formats::q8_0::{N_BLOCK_LINES, N_STEP_LINES};
use crate::input_block::InputBlock;

/// Adds the dot products of one half of a step to the accumulators of each row.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_step<D: Dot, const HALF: usize, const N: usize>(
    [first, lines @ ..]: &[CacheLine; N_STEP_LINES],
    inputs: &[[InputBlock; N]; 2],
    sums: &mut [__m256; N],
) {
    let blocks = lines.as_chunks::<N_BLOCK_LINES>().0;
    for ((lines, scales), inputs) in blocks.iter().zip(scales::<HALF>(first)).zip(inputs) {
        let mut products = biased_starts::<D, N>(inputs);
        for (word_index, line) in lines.iter().enumerate() {
            add_biased::<D, N>(&mut products, load::<HALF>(line), inputs, word_index);
        }
        for ((dots, input), sum) in products.iter().zip(inputs).zip(&mut *sums) {
            *sum = scaled(*dots, scales, input.scale, *sum);
        }
    }
}

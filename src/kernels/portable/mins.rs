//! `Q4_1` and `Q5_1`: blocks of 32 columns with a scale and a minimum per row.

use pulp::Simd;

use super::blocks::{add_scaled, load_scales};
use super::bytes::{add_fifth_bits, add_small, unpack_nibbles};
use super::wide_block::WideBlock;
use super::{Kernel, Lanes, N_LANES, add_product};
use crate::cache_line::CacheLine;
use crate::formats::{q4_1, q5_1};

/// Unpacks both nibbles of each byte.
pub(super) struct Q4_1;

/// Unpacks both nibbles of each byte and adds the fifth bits.
pub(super) struct Q5_1;

impl Kernel for Q4_1 {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q4_1::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([factors, lines @ ..], inputs) in steps.iter().zip(all_inputs) {
            let [scales, mins] = load_scales(factors);
            let mut dots = [[0; N_LANES]; N];
            add_small::<4, N>(&unpack_nibbles(lines), 0, inputs, &mut dots);
            add_scaled::<S, N>(&dots, &scales, inputs, &mut sums);
            add_mins::<S, N>(&mins, inputs, &mut sums);
        }
        sums
    }
}

impl Kernel for Q5_1 {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(
        tile: &[CacheLine],
        all_inputs: &[[WideBlock; N]],
    ) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q5_1::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([factors, fifth_bits, lower @ ..], inputs) in steps.iter().zip(all_inputs) {
            let [scales, mins] = load_scales(factors);
            let mut weights = unpack_nibbles(lower);
            add_fifth_bits(&mut weights, fifth_bits);
            let mut dots = [[0; N_LANES]; N];
            add_small::<2, N>(&weights, 0, inputs, &mut dots);
            add_scaled::<S, N>(&dots, &scales, inputs, &mut sums);
            add_mins::<S, N>(&mins, inputs, &mut sums);
        }
        sums
    }
}

/// Adds the minima of one block, times the sums of the inputs, to the accumulators of each row.
#[inline(always)]
pub(super) fn add_mins<S: Simd, const N: usize>(
    mins: &Lanes,
    inputs: &[WideBlock; N],
    sums: &mut [Lanes; N],
) {
    for (sum, input) in sums.iter_mut().zip(inputs) {
        add_product::<S>(mins, &[input.scaled_sum; N_LANES], sum);
    }
}

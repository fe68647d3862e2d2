//! `Q4_1` and `Q5_1`: blocks of 32 columns with a scale and a minimum per row.

use pulp::Simd;

use super::blocks::{add_scaled, load_scales};
use super::bytes::{add_fifth_bits, add_small, widen_halves};
use super::wide_block::WideBlock;
use super::{Kernel, Lanes, N_LANES, add_product};
use crate::kernels::formats::{q4_1, q5_1};
use crate::kernels::line::Line;

/// Unpacks both nibbles of each byte.
pub struct Q4_1;

/// Unpacks both nibbles of each byte and adds the fifth bits.
pub struct Q5_1;

impl Kernel for Q4_1 {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(tile: &[Line], inputs: &[[WideBlock; N]]) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q4_1::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([factors, lines @ ..], inputs) in steps.iter().zip(inputs) {
            let [scales, mins] = load_scales(factors);
            let mut whole = [[0; N_LANES]; N];
            add_small::<4, N>(&widen_halves(lines), 0, inputs, &mut whole);
            add_scaled::<S, N>(&whole, &scales, inputs, &mut sums);
            add_mins::<S, N>(&mins, inputs, &mut sums);
        }
        sums
    }
}

impl Kernel for Q5_1 {
    #[inline(always)]
    fn sums<S: Simd, const N: usize>(tile: &[Line], inputs: &[[WideBlock; N]]) -> [Lanes; N] {
        let steps = tile.as_chunks::<{ q5_1::N_STEP_LINES }>().0;
        let mut sums = [[0.0; N_LANES]; N];
        for ([factors, highest, lower @ ..], inputs) in steps.iter().zip(inputs) {
            let [scales, mins] = load_scales(factors);
            let mut weights = widen_halves(lower);
            add_fifth_bits(&mut weights, highest);
            let mut whole = [[0; N_LANES]; N];
            add_small::<2, N>(&weights, 0, inputs, &mut whole);
            add_scaled::<S, N>(&whole, &scales, inputs, &mut sums);
            add_mins::<S, N>(&mins, inputs, &mut sums);
        }
        sums
    }
}

/// Adds the minima of one block, times the sums of the inputs, to the accumulators of each row.
#[inline(always)]
pub fn add_mins<S: Simd, const N: usize>(
    mins: &Lanes,
    inputs: &[WideBlock; N],
    sums: &mut [Lanes; N],
) {
    for (sum, input) in sums.iter_mut().zip(inputs) {
        add_product::<S>(mins, &[input.scaled_sum; N_LANES], sum);
    }
}

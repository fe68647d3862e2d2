//! Weighted sums of 8-bit values, in loops that the compiler vectorizes.

use pulp::{Arch, NullaryFnOnce};

use super::bytes::load;
use crate::kernels::N_LANES;
use crate::kernels::attention::{ByteValues, Whole};
use crate::kernels::line::Line;

/// Adds the weighted values of all blocks to the accumulators of each query.
pub fn add<const N: usize>(arch: Arch, values: &ByteValues<'_, N>, sums: &mut [Whole]) {
    arch.dispatch(Adding { values, sums });
}

struct Adding<'a, const N: usize> {
    values: &'a ByteValues<'a, N>,
    sums: &'a mut [Whole],
}

impl<const N: usize> NullaryFnOnce for Adding<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for start in 0..self.values.n_registers {
            let mut found = [[0_i32; N_LANES]; N];
            for ([cell], probs) in self.values.blocks::<1>(start) {
                for (quad, line) in cell.iter().enumerate() {
                    let bytes = widen(line);
                    for (found, probs) in found.iter_mut().zip(probs) {
                        let probs = probs.quad(quad);
                        for (values, prob) in bytes.iter().zip(probs) {
                            for (sum, value) in found.iter_mut().zip(values) {
                                *sum += value * prob;
                            }
                        }
                    }
                }
            }
            for (found, place) in found.iter().zip(self.values.places) {
                if let Some(sum) = self.sums.get_mut(place + start) {
                    for (sum, found) in sum.0.iter_mut().zip(found) {
                        *sum += found;
                    }
                }
            }
        }
    }
}

/// Widens the bytes of a cache line: `[position % 4][dim]`.
#[inline(always)]
fn widen(line: &Line) -> [[i32; N_LANES]; 4] {
    let words = load(line);
    let mut values = [[0; N_LANES]; 4];
    for (values, n_above) in values.iter_mut().zip([24, 16, 8, 0]) {
        for (value, word) in values.iter_mut().zip(words) {
            *value = (word << n_above).cast_signed() >> 24;
        }
    }
    values
}

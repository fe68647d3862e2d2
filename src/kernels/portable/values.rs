//! Weighted sums of 8-bit values, in loops that the compiler vectorizes.

use pulp::{Arch, NullaryFnOnce};

use super::bytes::load;
use crate::N_LANES;
use crate::attention::{ByteValues, IntLanes};
use crate::cache_line::CacheLine;

/// Adds the weighted values of all blocks to the accumulators of each query.
pub(crate) fn add<const N: usize>(arch: Arch, values: &ByteValues<'_, N>, sums: &mut [IntLanes]) {
    arch.dispatch(AddValues { values, sums });
}

struct AddValues<'a, const N: usize> {
    values: &'a ByteValues<'a, N>,
    sums: &'a mut [IntLanes],
}

impl<const N: usize> NullaryFnOnce for AddValues<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for start in 0..self.values.n_registers {
            let mut products = [[0_i32; N_LANES]; N];
            for ([cell], probs) in self.values.blocks::<1>(start) {
                for (word_index, line) in cell.iter().enumerate() {
                    let bytes = widen(line);
                    for (products, probs) in products.iter_mut().zip(probs) {
                        let probs = probs.values(word_index);
                        for (values, prob) in bytes.iter().zip(probs) {
                            for (sum, value) in products.iter_mut().zip(values) {
                                *sum += value * prob;
                            }
                        }
                    }
                }
            }
            for (products, offset) in products.iter().zip(self.values.offsets) {
                if let Some(sum) = self.sums.get_mut(offset + start) {
                    for (sum, product) in sum.0.iter_mut().zip(products) {
                        *sum += product;
                    }
                }
            }
        }
    }
}

/// Widens the bytes of a cache line: `[position % 4][dim]`.
#[inline(always)]
fn widen(line: &CacheLine) -> [[i32; N_LANES]; 4] {
    let words = load(line);
    let mut values = [[0; N_LANES]; 4];
    for (values, n_above) in values.iter_mut().zip([24, 16, 8, 0]) {
        for (value, word) in values.iter_mut().zip(words) {
            *value = (word << n_above).cast_signed() >> 24;
        }
    }
    values
}

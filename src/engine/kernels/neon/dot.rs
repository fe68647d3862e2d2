//! Products of bytes, exact: four neighbouring columns of four rows at a time.

#![expect(
    unsafe_code,
    reason = "the compiler has no stable name yet for the instruction"
)]

use std::arch::aarch64::{int8x16_t, int32x4_t, uint8x16_t, vdupq_n_s8};
use std::arch::asm;

use super::memory::load_inputs;
use crate::engine::kernels::N_BLOCK;
use crate::engine::kernels::input_block::InputBlock;

/// The weights of 16 columns as signed bytes: four columns in each register, `[column / 4][quarter]`.
pub type Columns<const Q: usize> = [[uint8x16_t; Q]; N_BLOCK / 2 / 4];

/// Adds the products of one half of a block to the sums of each row. Its inputs stand in one register, whose
/// words the instruction picks.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn add_columns<const HALF: usize, const Q: usize, const N: usize>(
    [first, second, third, fourth]: &Columns<Q>,
    inputs: &[InputBlock; N],
    sums: &mut [[int32x4_t; Q]; N],
) {
    let mut loaded = [vdupq_n_s8(0); N];
    for (loaded, input) in loaded.iter_mut().zip(inputs) {
        *loaded = load_inputs::<HALF>(input);
    }
    add_words::<0, Q, N>(first, &loaded, sums);
    add_words::<1, Q, N>(second, &loaded, sums);
    add_words::<2, Q, N>(third, &loaded, sums);
    add_words::<3, Q, N>(fourth, &loaded, sums);
}

/// Adds the products of four columns to the sums of each row.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn add_words<const WORD: usize, const Q: usize, const N: usize>(
    weights: &[uint8x16_t; Q],
    inputs: &[int8x16_t; N],
    sums: &mut [[int32x4_t; Q]; N],
) {
    for (sums, inputs) in sums.iter_mut().zip(inputs) {
        for (sum, weights) in sums.iter_mut().zip(weights) {
            *sum = dot::<WORD>(*sum, *weights, *inputs);
        }
    }
}

/// Adds the products of four rows with a word of inputs to their sums.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn dot<const WORD: usize>(mut sum: int32x4_t, weights: uint8x16_t, inputs: int8x16_t) -> int32x4_t {
    const { assert!(WORD < 4, "a register has four words") }
    // SAFETY: this function is compiled for the instruction, which reads and writes the registers named
    // here, and no memory.
    unsafe {
        asm!(
            "sdot {sum:v}.4s, {weights:v}.16b, {inputs:v}.4b[{word}]",
            sum = inout(vreg) sum,
            weights = in(vreg) weights,
            inputs = in(vreg) inputs,
            word = const WORD,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sum
}

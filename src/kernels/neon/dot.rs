//! Exact dot products of bytes: four adjacent columns of four rows at a time, or eight columns of
//! two rows with two rows of inputs.

#![expect(
    unsafe_code,
    reason = "the intrinsics of these instructions are not stable yet"
)]

use std::arch::aarch64::{
    int8x16_t, int32x4_t, uint8x16_t, vcombine_s32, vdup_n_s32, vdupq_n_s8, vdupq_n_s32,
    vdupq_n_u8, vreinterpretq_s32_s64, vreinterpretq_s64_s32, vreinterpretq_u8_u32,
    vreinterpretq_u32_u8, vzip1q_s64, vzip1q_u32, vzip2q_s64, vzip2q_u32,
};
use std::arch::asm;

use super::memory::{int_zeros, load_inputs};
use crate::N_BLOCK;
use crate::input_block::InputBlock;

/// The weights of 16 columns as signed bytes, four columns per register: `[column / 4][quarter]`.
pub type Columns<const Q: usize> = [[uint8x16_t; Q]; N_BLOCK / 2 / 4];

/// How weights are multiplied by inputs. Only code that has detected the instructions may name an
/// implementation; [`super::multiply`] requires that.
pub trait Dot {
    /// Whether the CPU has I8MM. Inputs with an even number of rows are then interleaved by
    /// [`InputBlock::interleave`].
    const HAS_I8MM: bool;
}

/// Dot products with one row of inputs at a time.
pub struct SdotDot;

impl Dot for SdotDot {
    const HAS_I8MM: bool = false;
}

/// I8MM: two rows of inputs by two rows of weights.
pub struct SmmlaDot;

impl Dot for SmmlaDot {
    const HAS_I8MM: bool = true;
}

/// The dot products of adjacent halves of a block, from half `FIRST` on, with each row of inputs.
/// The accumulators begin at `starts`.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn sums<D: Dot, const FIRST: usize, const H: usize, const Q: usize, const N: usize>(
    halves: &[Columns<Q>; H],
    inputs: &[InputBlock; N],
    starts: [i32; N],
) -> [[int32x4_t; Q]; N] {
    const { assert!(FIRST + H <= 2, "a block has two halves") }
    let mut sums = int_zeros();
    if D::HAS_I8MM && N.is_multiple_of(2) {
        let pairs = sums.as_chunks_mut().0;
        for (pair, [first, second]) in pairs.iter_mut().zip(starts.as_chunks().0) {
            *pair = [[vcombine_s32(vdup_n_s32(*first), vdup_n_s32(*second)); Q]; 2];
        }
        for (half, columns) in (FIRST..).zip(halves) {
            // SAFETY: `D` asserts that the CPU has I8MM.
            unsafe { add_pairs(half, columns, inputs, pairs) };
        }
        for [first, second] in pairs {
            deinterleave(first, second);
        }
    } else {
        for (sums, start) in sums.iter_mut().zip(starts) {
            *sums = [vdupq_n_s32(start); Q];
        }
        for (half, columns) in (FIRST..).zip(halves) {
            add_rows(half, columns, inputs, &mut sums);
        }
    }
    sums
}

/// Adds the dot products of one half of a block to the accumulators of each row. Its inputs fit
/// into one register, and the instruction selects a word of it.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn add_rows<const Q: usize, const N: usize>(
    half: usize,
    [first, second, third, fourth]: &Columns<Q>,
    inputs: &[InputBlock; N],
    sums: &mut [[int32x4_t; Q]; N],
) {
    let mut loaded = [vdupq_n_s8(0); N];
    for (loaded, input) in loaded.iter_mut().zip(inputs) {
        *loaded = load_inputs(input, half);
    }
    add_words::<0, Q, N>(first, &loaded, sums);
    add_words::<1, Q, N>(second, &loaded, sums);
    add_words::<2, Q, N>(third, &loaded, sums);
    add_words::<3, Q, N>(fourth, &loaded, sums);
}

/// Adds the dot products of four columns to the accumulators of each row.
#[inline]
#[target_feature(enable = "neon,dotprod")]
fn add_words<const WORD: usize, const Q: usize, const N: usize>(
    weights: &[uint8x16_t; Q],
    inputs: &[int8x16_t; N],
    sums: &mut [[int32x4_t; Q]; N],
) {
    for (sums, inputs) in sums.iter_mut().zip(inputs) {
        for (sum, weights) in sums.iter_mut().zip(weights) {
            *sum = sdot::<WORD>(*sum, *weights, *inputs);
        }
    }
}

/// Adds the dot products of one half of a block to the accumulators of each pair of rows: those of
/// the first two rows of each quarter, then those of the other two.
///
/// # Safety
/// The CPU must have I8MM.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn add_pairs<const Q: usize, const N: usize>(
    half: usize,
    columns: &Columns<Q>,
    inputs: &[InputBlock; N],
    sums: &mut [[[int32x4_t; Q]; 2]],
) {
    for (pair_index, [left, right]) in columns.as_chunks().0.iter().enumerate() {
        let mut weights = [[vdupq_n_u8(0); Q]; 2];
        let [upper, lower] = &mut weights;
        let targets = upper.iter_mut().zip(lower).zip(left.iter().zip(right));
        for ((upper, lower), (left, right)) in targets {
            let (left, right) = (vreinterpretq_u32_u8(*left), vreinterpretq_u32_u8(*right));
            *upper = vreinterpretq_u8_u32(vzip1q_u32(left, right));
            *lower = vreinterpretq_u8_u32(vzip2q_u32(left, right));
        }
        // The first of two interleaved blocks has the first 16 columns of both rows.
        let blocks = inputs.iter().skip(half).step_by(2);
        for (input, sums) in blocks.zip(&mut *sums) {
            let input = load_inputs(input, pair_index);
            let sums = sums.as_flattened_mut().iter_mut();
            for (sum, weights) in sums.zip(weights.as_flattened()) {
                // SAFETY: this function has the same requirement.
                *sum = unsafe { smmla(*sum, input, *weights) };
            }
        }
    }
}

/// Separates the accumulators of two rows of inputs, `[quarter / 2][row][quarter % 2]`.
#[inline]
#[target_feature(enable = "neon")]
fn deinterleave<const Q: usize>(first: &mut [int32x4_t; Q], second: &mut [int32x4_t; Q]) {
    for (first, second) in first.iter_mut().zip(second) {
        let upper = vreinterpretq_s64_s32(*first);
        let lower = vreinterpretq_s64_s32(*second);
        *first = vreinterpretq_s32_s64(vzip1q_s64(upper, lower));
        *second = vreinterpretq_s32_s64(vzip2q_s64(upper, lower));
    }
}

/// Adds the dot products of four rows with one word of inputs.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub fn sdot<const WORD: usize>(
    mut sum: int32x4_t,
    weights: uint8x16_t,
    inputs: int8x16_t,
) -> int32x4_t {
    const { assert!(WORD < 4, "a register has four words") }
    // SAFETY: this function is compiled for the instruction, which accesses only the registers
    // named here and no memory.
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

/// Adds the products of two rows of inputs and two rows of weights over eight columns: `[row of
/// inputs][row of weights]`. The callers are not compiled for the instruction, so the assembler
/// enables it here.
///
/// # Safety
/// The CPU must have I8MM.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn smmla(mut sum: int32x4_t, inputs: int8x16_t, weights: uint8x16_t) -> int32x4_t {
    // SAFETY: the CPU has the instruction, which accesses only the registers named here and no
    // memory.
    unsafe {
        asm!(
            ".arch_extension i8mm",
            "smmla {sum:v}.4s, {inputs:v}.16b, {weights:v}.16b",
            sum = inout(vreg) sum,
            inputs = in(vreg) inputs,
            weights = in(vreg) weights,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sum
}

//! Loads, stores and prefetches.

#![expect(
    unsafe_code,
    reason = "loads and stores take raw pointers, made from references here"
)]

use std::arch::aarch64::{
    float32x4_t, int8x16_t, int32x4_t, uint8x16_t, uint16x4_t, vaddq_s32, vcreate_s8, vdup_n_u16,
    vdupq_n_f32, vdupq_n_s32, vdupq_n_u8, vget_low_s16, vld1_u16, vld1q_s32, vld1q_u8, vmovl_s8,
    vmovl_s16, vreinterpretq_s8_s32, vst1q_f32, vst1q_s32,
};
use std::arch::asm;

use crate::N_LANES;
use crate::attention::IntLanes;
use crate::cache_line::CacheLine;
use crate::input_block::InputBlock;

/// Registers for one number per row of a tile.
const N_QUARTERS: usize = 4;

/// The prefetch distance: far enough for memory to answer, and near enough that the data is still
/// in the L1 cache when it is used.
const PREFETCH_BYTES: usize = 4096;

/// `Q` adjacent quarters of the 16 rows of a tile, one register each.
#[derive(Debug, Clone, Copy)]
pub struct Quarters<const Q: usize> {
    /// The first quarter; `first + Q` is at most four.
    first: usize,
}

impl<const Q: usize> Quarters<Q> {
    /// Iterates over all rows of a tile, `Q` quarters at a time.
    pub fn all() -> impl Iterator<Item = Self> {
        const { assert!(N_QUARTERS.is_multiple_of(Q), "the quarters divide evenly") }
        (0..N_QUARTERS).step_by(Q).map(|first| Self { first })
    }

    /// Splits into single quarters.
    #[inline]
    pub fn singles(self) -> [Quarters<1>; Q] {
        std::array::from_fn(|index| Quarters {
            first: self.first + index,
        })
    }

    /// Loads the bytes of four columns. Prefetches if it loads the full cache line; with more rows
    /// of inputs, the hardware prefetcher keeps up.
    #[inline]
    #[target_feature(enable = "neon")]
    pub fn load(self, line: &CacheLine) -> [uint8x16_t; Q] {
        let line = if Q == N_QUARTERS {
            prefetched(line)
        } else {
            line
        };
        let mut loaded = [vdupq_n_u8(0); Q];
        for (quarter, loaded) in (self.first..).zip(&mut loaded) {
            // SAFETY: the reference is valid for 64 bytes, of which this is a quarter.
            *loaded = unsafe { vld1q_u8(line.0.as_ptr().add(16 * quarter)) };
        }
        loaded
    }

    /// Loads 16-bit numbers, `[half][lane]`.
    #[inline]
    #[target_feature(enable = "neon")]
    pub fn load_half<const HALF: usize>(self, line: &CacheLine) -> [uint16x4_t; Q] {
        const { assert!(HALF < 2, "a line has two halves") }
        let mut loaded = [vdup_n_u16(0); Q];
        for (quarter, loaded) in (self.first..).zip(&mut loaded) {
            let start = std::ptr::from_ref(line).cast::<u16>();
            // SAFETY: the reference is valid for 32 numbers, of which these are four.
            *loaded = unsafe { vld1_u16(start.add(HALF * N_LANES + 4 * quarter)) };
        }
        loaded
    }

    /// Loads signed bytes, `[scale][lane]`, and widens them to 32 bits.
    #[inline]
    #[target_feature(enable = "neon")]
    pub fn load_signed<const SCALE: usize>(self, line: &CacheLine) -> [int32x4_t; Q] {
        const { assert!(SCALE < 4, "a line has a byte for four scales of each row") }
        let mut loaded = [vdupq_n_s32(0); Q];
        for (quarter, loaded) in (self.first..).zip(&mut loaded) {
            let start = std::ptr::from_ref(line).cast::<u32>();
            // SAFETY: the reference is valid for 16 words, of which this is one, and the type
            // aligns it to 64.
            let bytes = unsafe { start.add(4 * SCALE + quarter).read() };
            let bytes = vmovl_s8(vcreate_s8(u64::from(bytes)));
            *loaded = vmovl_s16(vget_low_s16(bytes));
        }
        loaded
    }

    /// Stores accumulators in arrays of all rows.
    #[inline]
    #[target_feature(enable = "neon")]
    pub fn store<const N: usize>(
        self,
        sums: [[float32x4_t; Q]; N],
        stored: &mut [[f32; N_LANES]; N],
    ) {
        for (stored, sums) in stored.iter_mut().zip(sums) {
            for (quarter, sum) in (self.first..).zip(sums) {
                // SAFETY: the reference is valid for 16 floats, of which these are four.
                unsafe { vst1q_f32(stored.as_mut_ptr().add(4 * quarter), sum) };
            }
        }
    }

    /// Adds to the integer accumulators of some dimensions.
    #[inline]
    #[target_feature(enable = "neon")]
    pub fn add_ints(self, sums: &mut IntLanes, added: [int32x4_t; Q]) {
        for (quarter, added) in (self.first..).zip(added) {
            // SAFETY: the reference is valid for 16 numbers, of which these are four.
            unsafe {
                let start = sums.0.as_mut_ptr().add(4 * quarter);
                vst1q_s32(start, vaddq_s32(vld1q_s32(start), added));
            }
        }
    }
}

/// Loads one half of a block of inputs.
#[inline]
#[target_feature(enable = "neon")]
pub fn load_inputs(input: &InputBlock, half: usize) -> int8x16_t {
    let mut loaded = vdupq_n_s32(0);
    if let Some(words) = input.words.as_chunks::<4>().0.get(half) {
        // SAFETY: the reference is valid for four words.
        loaded = unsafe { vld1q_s32(words.as_ptr()) };
    }
    vreinterpretq_s8_s32(loaded)
}

/// Prefetches a later cache line and returns this one. The pointer passes through the instruction,
/// so that the compiler may move it like any other but not remove it.
#[inline]
#[expect(
    clippy::pointers_in_nomem_asm_block,
    reason = "the instruction returns no value from memory"
)]
pub fn prefetched(line: &CacheLine) -> &CacheLine {
    let mut start = std::ptr::from_ref(line);
    // SAFETY: the instruction never faults, whatever the address, and has no visible effect. The
    // pointer is unchanged, so it is still valid for the lifetime of the reference.
    unsafe {
        asm!(
            "prfm pldl1keep, [{start}, #{distance}]",
            start = inout(reg) start,
            distance = const PREFETCH_BYTES,
            options(pure, nomem, nostack, preserves_flags),
        );
        &*start
    }
}

/// Accumulators at zero.
#[inline]
#[target_feature(enable = "neon")]
pub fn zeros<const Q: usize, const N: usize>() -> [[float32x4_t; Q]; N] {
    [[vdupq_n_f32(0.0); Q]; N]
}

/// Integer accumulators at zero.
#[inline]
#[target_feature(enable = "neon")]
pub fn int_zeros<const Q: usize, const N: usize>() -> [[int32x4_t; Q]; N] {
    [[vdupq_n_s32(0); Q]; N]
}

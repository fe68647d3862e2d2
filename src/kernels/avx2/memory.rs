//! Loads, stores and prefetches.

#![expect(
    unsafe_code,
    reason = "loads and stores take raw pointers, made from references here"
)]

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _MM_HINT_T0, _mm_load_si128, _mm_prefetch, _mm256_load_si256,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_store_si256, _mm256_storeu_ps,
};

use crate::N_LANES;
use crate::attention::IntLanes;
use crate::cache_line::CacheLine;

/// The prefetch distance: far enough for memory to answer, and near enough that the data is still
/// in the L1 cache when it is used.
const PREFETCH_BYTES: usize = 4096;

/// Loads one half of a cache line of weights. Loading the first half also prefetches.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load<const HALF: usize>(line: &CacheLine) -> __m256i {
    const { assert!(HALF < 2, "a line has two halves") }
    let start = std::ptr::from_ref(line);
    if HALF == 0 {
        // A prefetch never faults, whatever the address.
        _mm_prefetch::<_MM_HINT_T0>(start.wrapping_byte_add(PREFETCH_BYTES).cast());
    }
    // SAFETY: the reference is valid for 64 bytes, of which this is one half, and the type aligns
    // it to 64.
    unsafe { _mm256_load_si256(start.cast::<__m256i>().add(HALF)) }
}

/// Loads one half of each of several cache lines.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_all<const HALF: usize, const N: usize>(lines: &[CacheLine; N]) -> [__m256i; N] {
    let mut loaded = [_mm256_setzero_si256(); N];
    for (loaded, line) in loaded.iter_mut().zip(lines) {
        *loaded = load::<HALF>(line);
    }
    loaded
}

/// Loads a cache line in quarters.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn quarters(line: &CacheLine) -> [__m128i; 4] {
    let start: *const __m128i = std::ptr::from_ref(line).cast();
    // SAFETY: the reference is valid for 64 bytes, of which these are the quarters, and the type
    // aligns it to 64.
    let load = |index| unsafe { _mm_load_si128(start.wrapping_add(index)) };
    [load(0), load(1), load(2), load(3)]
}

/// Stores accumulators, `[half][row]`, as arrays.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store<const N: usize>([low, high]: [[__m256; N]; 2]) -> [[f32; N_LANES]; N] {
    let mut stored = [[0.0; N_LANES]; N];
    for ((stored, low), high) in stored.iter_mut().zip(low).zip(high) {
        let start = stored.as_mut_ptr();
        // SAFETY: the reference is valid for 16 floats, and the stores have no alignment
        // requirement.
        unsafe {
            _mm256_storeu_ps(start, low);
            _mm256_storeu_ps(start.add(N_LANES / 2), high);
        }
    }
    stored
}

/// Loads one half of the integer accumulators.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_ints<const HALF: usize>(sums: &IntLanes) -> __m256i {
    const { assert!(HALF < 2, "there are two halves") }
    // SAFETY: the reference is valid for 64 bytes, of which this is one half, and the type aligns
    // it to 64.
    unsafe { _mm256_load_si256(std::ptr::from_ref(sums).cast::<__m256i>().add(HALF)) }
}

/// Stores one half of the integer accumulators.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_ints<const HALF: usize>(target: &mut IntLanes, sums: __m256i) {
    const { assert!(HALF < 2, "there are two halves") }
    // SAFETY: the reference is valid for 64 bytes, of which this is one half, and the type aligns
    // it to 64.
    unsafe { _mm256_store_si256(std::ptr::from_mut(target).cast::<__m256i>().add(HALF), sums) };
}

/// Accumulators at zero.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn zeros<const N: usize>() -> [__m256; N] {
    [_mm256_setzero_ps(); N]
}

//! Loads, stores and prefetches.

#![expect(
    unsafe_code,
    reason = "loads and stores take raw pointers, made from references here"
)]

use std::arch::x86_64::{
    __m512, __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_load_si512, _mm512_setzero_ps,
    _mm512_setzero_si512, _mm512_store_si512, _mm512_storeu_ps,
};

use crate::N_LANES;
use crate::attention::IntLanes;
use crate::cache_line::CacheLine;

/// The prefetch distance: far enough for memory to answer, and near enough that the data is still
/// in the L1 cache when it is used.
const PREFETCH_BYTES: usize = 4096;

/// Loads a cache line of weights and prefetches a later one.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(line: &CacheLine) -> __m512i {
    let start: *const u8 = line.0.as_ptr();
    // A prefetch never faults, whatever the address.
    _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(PREFETCH_BYTES).cast());
    // SAFETY: the reference is valid for 64 bytes, and the type aligns it to 64.
    unsafe { _mm512_load_si512(start.cast()) }
}

/// Loads adjacent cache lines of weights.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_all<const N: usize>(lines: &[CacheLine; N]) -> [__m512i; N] {
    let mut loaded = [_mm512_setzero_si512(); N];
    for (loaded, line) in loaded.iter_mut().zip(lines) {
        *loaded = load(line);
    }
    loaded
}

/// Stores accumulators as arrays.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store<const N: usize>(sums: [__m512; N]) -> [[f32; N_LANES]; N] {
    let mut stored = [[0.0; N_LANES]; N];
    for (stored, sum) in stored.iter_mut().zip(sums) {
        // SAFETY: the reference is valid for 16 floats, and the store has no alignment requirement.
        unsafe { _mm512_storeu_ps(stored.as_mut_ptr(), sum) };
    }
    stored
}

/// Loads integer accumulators.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_ints(sums: &IntLanes) -> __m512i {
    // SAFETY: the reference is valid for 64 bytes, and the type aligns it to 64.
    unsafe { _mm512_load_si512(sums.0.as_ptr().cast()) }
}

/// Stores integer accumulators.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store_ints(target: &mut IntLanes, sums: __m512i) {
    // SAFETY: the reference is valid for 64 bytes, and the type aligns it to 64.
    unsafe { _mm512_store_si512(target.0.as_mut_ptr().cast(), sums) };
}

/// Accumulators at zero.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn zeros<const N: usize>() -> [__m512; N] {
    [_mm512_setzero_ps(); N]
}

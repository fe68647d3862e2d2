//! Software prefetch for keys and values.

#![expect(
    unsafe_code,
    reason = "the compiler counts the one instruction for it as unsafe"
)]

/// The prefetch distance: two blocks of 64 dimensions. The data goes to the L2 cache, because the
/// L1 cache can only track a few outstanding misses.
const PREFETCH_BYTES: usize = 8192;

/// Prefetches the memory [`PREFETCH_BYTES`] past this value.
#[inline(always)]
pub(super) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let start: *const T = value;
        // SAFETY: the instruction belongs to SSE, which every x86-64 CPU has. It never faults and
        // has no visible effect, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_byte_add(PREFETCH_BYTES).cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        let start: *const T = value;
        // SAFETY: the instruction never faults and has no visible effect, whatever the address.
        unsafe {
            std::arch::asm!(
                "prfm pldl2keep, [{start}, #{distance}]",
                start = in(reg) start,
                distance = const PREFETCH_BYTES,
                options(readonly, nostack, preserves_flags),
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _: &T = value;
}

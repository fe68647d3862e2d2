//! Asks for memory before it is needed.

#![expect(
    unsafe_code,
    reason = "the compiler counts the one instruction for it as unsafe"
)]

/// How far ahead: two blocks of 64 dimensions. It goes to the second cache, because the first can only wait for few
/// lines at a time.
const N_BYTES: usize = 8192;

/// Asks for the memory that is needed some time after this value.
#[inline(always)]
pub fn fetch_ahead<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let start: *const T = value;
        // SAFETY: the instruction belongs to SSE, which every x86-64 processor has. It never faults and
        // changes nothing that a program sees, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_byte_add(N_BYTES).cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        let start: *const T = value;
        // SAFETY: the instruction never faults and changes nothing that a program sees, wherever it points.
        unsafe {
            std::arch::asm!(
                "prfm pldl2keep, [{start}, #{ahead}]",
                start = in(reg) start,
                ahead = const N_BYTES,
                options(readonly, nostack, preserves_flags),
            );
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _: &T = value;
}

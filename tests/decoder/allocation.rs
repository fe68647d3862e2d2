//! Measures a test's memory use, to show that sizes claimed by a header are not trusted.

#![expect(
    unsafe_code,
    reason = "a counting allocator must implement `GlobalAlloc`; it only forwards calls"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTING: Counting = Counting;

struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(n_bytes: isize) {
    // A terminating thread may allocate after its counters have been destroyed.
    LIVE.try_with(|live| {
        live.set(live.get() + n_bytes);
        PEAK.try_with(|peak| peak.set(peak.get().max(live.get())))
            .ok();
    })
    .ok();
}

// SAFETY: all calls are forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `f` and returns its result with the peak of this thread's additional memory use in bytes.
pub(crate) fn peak_of<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = f();
    (result, (PEAK.get() - before).cast_unsigned())
}

#[test]
fn the_peak_includes_memory_that_has_been_freed() {
    let (_, peak) = peak_of(|| {
        drop(vec![0_u8; 3000]);
        vec![0_u8; 2000]
    });
    assert_eq!(peak, 3000);
}

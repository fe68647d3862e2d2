//! Counts the memory that a test takes, so that a header's promises can be shown not to be believed.

#![expect(
    unsafe_code,
    reason = "an allocator that counts is one, and only passes on"
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
    // A thread that ends may allocate when its counters are gone.
    LIVE.try_with(|live| {
        live.set(live.get() + n_bytes);
        PEAK.try_with(|peak| peak.set(peak.get().max(live.get())))
            .ok();
    })
    .ok();
}

// SAFETY: all calls are passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What `f` gives, and how many bytes this thread held at most meanwhile, beyond those from before.
pub fn peak_of<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.get();
    PEAK.set(before);
    let result = f();
    (result, (PEAK.get() - before).cast_unsigned())
}

#[test]
fn memory_is_counted_while_it_is_held() {
    let (_, peak) = peak_of(|| {
        drop(vec![0_u8; 3000]);
        vec![0_u8; 2000]
    });
    assert_eq!(peak, 3000);
}

//! Returns freed memory to the operating system.

#![allow(unsafe_code, reason = "the allocator’s function has no safe interface")]

/// Returns freed memory to the system when it is dropped. The last field of a structure is dropped
/// after the others.
///
/// glibc keeps up to 64 MiB per thread, and whatever lies below a block in use, for later
/// allocations, so the weights of a closed model would stay in memory.
#[derive(Debug, Default)]
pub struct ReturnedMemory(());

impl Drop for ReturnedMemory {
    fn drop(&mut self) {
        trim();
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> i32;
    }
    // SAFETY: glibc defines the function with this signature; it may be called at any time, from any
    // thread, and touches only memory that is free.
    unsafe {
        malloc_trim(0);
    }
}

/// Other allocators return large blocks by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const fn trim() {}

//! Memory for packed weights, straight from the operating system.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

use super::cache_line::CacheLine;

/// The size of a huge page on x86-64, and on ARM with pages of 4 KiB.
const N_HUGE_BYTES: usize = 2 << 20;

/// Zeroed cache lines, which return to the operating system when they are dropped.
///
/// On Linux they lie in huge pages if the system has some to spare: a load then faults 512 times less
/// often, and a forward pass misses the TLB less often.
#[derive(Debug)]
pub(super) struct Lines {
    memory: MmapMut,
    n_bytes: usize,
}

impl Lines {
    /// Allocates zeroed lines. Returns `None` if there is not enough memory.
    pub(super) fn zeroed(n_lines: usize) -> Option<Self> {
        let n_bytes = n_lines.checked_mul(CacheLine::N_BYTES)?;
        let n_in_huge_pages = n_bytes - n_bytes % N_HUGE_BYTES;
        // Linux aligns whole huge pages. What is not used of the last one takes no memory.
        let n_mapped_bytes = if n_in_huge_pages == 0 {
            n_bytes
        } else {
            n_bytes.checked_next_multiple_of(N_HUGE_BYTES)?
        };
        let memory = MmapMut::map_anon(n_mapped_bytes).ok()?;
        // Only advice: a system without huge pages uses small ones.
        #[cfg(target_os = "linux")]
        if n_in_huge_pages > 0 {
            let huge = memmap2::Advice::HugePage;
            memory.advise_range(huge, 0, n_in_huge_pages).ok();
        }
        Some(Self { memory, n_bytes })
    }
}

// Mapped memory starts at a page boundary, and a page consists of whole cache lines, so these casts
// can't fail.

impl Deref for Lines {
    type Target = [CacheLine];

    fn deref(&self) -> &[CacheLine] {
        let bytes = self.memory.get(..self.n_bytes).unwrap_or_default();
        bytemuck::try_cast_slice(bytes).unwrap_or_default()
    }
}

impl DerefMut for Lines {
    fn deref_mut(&mut self) -> &mut [CacheLine] {
        let bytes = self.memory.get_mut(..self.n_bytes).unwrap_or_default();
        bytemuck::try_cast_slice_mut(bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{CacheLine, Lines};

    #[test]
    fn lines_are_zeroed_and_aligned() {
        for n_lines in [0, 1, 63, 32_768, 100_000] {
            let mut lines = Lines::zeroed(n_lines).unwrap();
            assert_eq!(lines.len(), n_lines);
            assert!(lines.as_ptr().is_aligned());
            assert!(lines.iter().all(|line| line.0 == [0; CacheLine::N_BYTES]));
            for line in lines.iter_mut() {
                line.0.fill(7);
            }
            assert!(lines.iter().all(|line| line.0 == [7; CacheLine::N_BYTES]));
        }
    }

    #[test]
    fn more_than_the_address_space_is_refused() {
        assert!(Lines::zeroed(usize::MAX).is_none());
        assert!(Lines::zeroed(usize::MAX / CacheLine::N_BYTES).is_none());
    }
}

//! A pool of read buffers. Fresh pages come zeroed from the system, which costs more than reading
//! into them, so each tensor reuses the memory of an earlier one.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

/// How many spare buffers to keep: for two matrices, and for both concatenated.
const N_MAX_SPARE: usize = 3;

/// A pool of byte buffers. Clones share the same buffers.
#[derive(Debug, Clone)]
pub(super) struct BufferPool(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Larger buffers are freed instead of kept.
    n_max_kept_bytes: usize,
    /// At most [`N_MAX_SPARE`] buffers, the largest first.
    spare: RefCell<Vec<Vec<u8>>>,
}

/// The bytes of a tensor. Dropping it returns the memory to its pool.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    pool: Option<BufferPool>,
}

impl BufferPool {
    /// Creates an empty pool that keeps no buffer above the given size.
    pub(super) fn new(n_max_kept_bytes: usize) -> Self {
        Self(Rc::new(Inner {
            n_max_kept_bytes,
            spare: RefCell::default(),
        }))
    }

    /// Returns an empty buffer with the given capacity, or `None` if there is not enough memory.
    pub(super) fn take(&self, n_bytes: usize) -> Option<Buffer> {
        let mut bytes = self.spare(n_bytes);
        bytes.clear();
        bytes.try_reserve_exact(n_bytes).ok()?;
        Some(Buffer {
            bytes,
            pool: Some(self.clone()),
        })
    }

    /// Removes the smallest spare buffer that is large enough, or returns a new one.
    fn spare(&self, n_bytes: usize) -> Vec<u8> {
        let mut spare = self.0.spare.borrow_mut();
        let sizes = spare.iter().map(Vec::capacity).enumerate();
        let fitting = sizes.filter(|(_, capacity)| *capacity >= n_bytes);
        match fitting.min_by_key(|(_, capacity)| *capacity) {
            Some((index, _)) => spare.swap_remove(index),
            None => Vec::new(),
        }
    }

    fn keep(&self, bytes: Vec<u8>) {
        if bytes.capacity() > self.0.n_max_kept_bytes {
            return;
        }
        let mut spare = self.0.spare.borrow_mut();
        spare.push(bytes);
        spare.sort_by_key(|bytes| std::cmp::Reverse(bytes.capacity()));
        spare.truncate(N_MAX_SPARE);
    }
}

impl Buffer {
    /// Returns the bytes for appending.
    pub(super) const fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.keep(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, BufferPool};

    fn filled(pool: &BufferPool, n_bytes: usize) -> Buffer {
        let mut buffer = pool.take(n_bytes).unwrap();
        buffer.bytes_mut().resize(n_bytes, 7);
        buffer
    }

    #[test]
    fn a_buffer_that_is_large_enough_is_reused() {
        let pool = BufferPool::new(1000);
        let first = filled(&pool, 1000);
        let address = first.as_ptr();
        drop(first);
        let second = filled(&pool, 900);
        assert_eq!((second.as_ptr(), second.len()), (address, 900));
        // A buffer in use is not handed out again.
        assert_ne!(filled(&pool, 900).as_ptr(), address);
    }

    #[test]
    fn only_a_few_small_buffers_are_kept() {
        let pool = BufferPool::new(1000);
        drop([1001, 10, 20, 30, 40].map(|n_bytes| filled(&pool, n_bytes)));
        let sizes: Vec<_> = pool.0.spare.borrow().iter().map(Vec::capacity).collect();
        assert_eq!(sizes, [40, 30, 20]);
        assert!(pool.take(usize::MAX).is_none());
    }
}

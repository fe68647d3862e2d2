//! Reuses the memory of read buffers. Fresh pages come zeroed from the system, which costs more
//! than reading into them.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps the memory of the last buffer for the next one. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct BufferPool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Larger buffers are freed instead of kept.
    n_max_kept_bytes: usize,
    spare: Mutex<Vec<u8>>,
}

/// The bytes of a tensor. Dropping it returns the memory to its pool.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    pool: Option<BufferPool>,
}

impl BufferPool {
    /// Creates an empty pool that keeps no buffer larger than the given size.
    pub(super) fn new(n_max_kept_bytes: usize) -> Self {
        Self(Arc::new(Inner {
            n_max_kept_bytes,
            spare: Mutex::default(),
        }))
    }

    /// Returns an empty buffer with the given capacity, or `None` if there is not enough memory.
    pub(super) fn take(&self, n_bytes: usize) -> Option<Buffer> {
        let mut bytes = self.replace_spare(Vec::new());
        bytes.clear();
        bytes.try_reserve_exact(n_bytes).ok()?;
        Some(Buffer {
            bytes,
            pool: Some(self.clone()),
        })
    }

    fn keep(&self, bytes: Vec<u8>) {
        if bytes.capacity() <= self.0.n_max_kept_bytes {
            self.replace_spare(bytes);
        }
    }

    fn replace_spare(&self, bytes: Vec<u8>) -> Vec<u8> {
        let spare = self.0.spare.lock();
        let mut spare = spare.unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *spare, bytes)
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
    fn a_large_buffer_is_not_kept() {
        let pool = BufferPool::new(1000);
        drop(filled(&pool, 1001));
        assert_eq!(pool.replace_spare(Vec::new()).capacity(), 0);
        assert!(pool.take(usize::MAX).is_none());
    }
}

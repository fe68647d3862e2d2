//! Memory that one tensor leaves to the next: fresh pages, which the system hands out zeroed, cost more
//! than reading into them.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

/// How many buffers wait to be used again: for two matrices, and for both side by side.
const N_MAX_SPARE: usize = 3;

/// Buffers that are used again.
#[derive(Debug, Clone)]
pub struct Buffers(Rc<Pool>);

#[derive(Debug)]
struct Pool {
    n_max_kept_bytes: usize,
    spare: RefCell<Vec<Vec<u8>>>,
}

/// Bytes of a tensor. What is left of them goes back to where it came from.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    home: Option<Buffers>,
}

impl Buffers {
    /// Buffers of which none above a size is kept.
    pub fn new(n_max_kept_bytes: usize) -> Self {
        Self(Rc::new(Pool {
            n_max_kept_bytes,
            spare: RefCell::default(),
        }))
    }

    /// An empty buffer with room for so many bytes; none where there is not enough memory.
    pub fn take(&self, n_bytes: usize) -> Option<Buffer> {
        let mut bytes = self.spare(n_bytes);
        bytes.clear();
        bytes.try_reserve_exact(n_bytes).ok()?;
        Some(Buffer {
            bytes,
            home: Some(self.clone()),
        })
    }

    /// The smallest spare buffer that suffices.
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
    /// The bytes, to add some.
    pub const fn bytes_mut(&mut self) -> &mut Vec<u8> {
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
        if let Some(home) = &self.home {
            home.keep(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, Buffers};

    fn filled(buffers: &Buffers, n_bytes: usize) -> Buffer {
        let mut buffer = buffers.take(n_bytes).unwrap();
        buffer.bytes_mut().resize(n_bytes, 7);
        buffer
    }

    #[test]
    fn a_buffer_is_used_again_where_it_suffices() {
        let buffers = Buffers::new(1000);
        let first = filled(&buffers, 1000);
        let place = first.as_ptr();
        drop(first);
        let second = filled(&buffers, 900);
        assert_eq!((second.as_ptr(), second.len()), (place, 900));
        // While it is in use there is none for another.
        assert_ne!(filled(&buffers, 900).as_ptr(), place);
    }

    #[test]
    fn neither_many_nor_large_buffers_are_kept() {
        let buffers = Buffers::new(1000);
        drop([1001, 10, 20, 30, 40].map(|n_bytes| filled(&buffers, n_bytes)));
        let sizes: Vec<_> = buffers.0.spare.borrow().iter().map(Vec::capacity).collect();
        assert_eq!(sizes, [40, 30, 20]);
        assert!(buffers.take(usize::MAX).is_none());
    }
}

//! Memory in units of cache lines.

use bytemuck::{Pod, Zeroable};

/// An aligned cache line of raw bytes.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct CacheLine(pub [u8; CacheLine::N_BYTES]);

impl CacheLine {
    /// The size in bytes.
    pub const N_BYTES: usize = 64;

    pub const ZERO: Self = Self([0; Self::N_BYTES]);

    /// Reads the value at this index of an array of `N`-byte values, or zeros if it is out of
    /// bounds.
    pub fn value<const N: usize>(&self, index: usize) -> [u8; N] {
        let value = self.0.as_chunks().0.get(index);
        value.copied().unwrap_or([0; N])
    }

    /// Writes the value at this index of an array of `N`-byte values. Does nothing if it is out of
    /// bounds.
    pub fn set<const N: usize>(&mut self, index: usize, value: [u8; N]) {
        if let Some(target) = self.0.as_chunks_mut().0.get_mut(index) {
            *target = value;
        }
    }
}

//! Memory in cache lines.

/// As many bytes as a cache line has, at its place.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Line(pub [u8; Self::N_BYTES]);

impl Line {
    /// The size of a line.
    pub const N_BYTES: usize = 64;

    /// A line of zeros.
    pub const ZERO: Self = Self([0; Self::N_BYTES]);

    /// The value at this index, of a line of values of `N` bytes each; zeros past its end.
    pub fn value<const N: usize>(&self, index: usize) -> [u8; N] {
        let value = self.0.as_chunks().0.get(index);
        value.copied().unwrap_or([0; N])
    }

    /// Puts a value of `N` bytes at its index; nothing past the end.
    pub fn put<const N: usize>(&mut self, index: usize, value: [u8; N]) {
        if let Some(place) = self.0.as_chunks_mut().0.get_mut(index) {
            *place = value;
        }
    }
}
